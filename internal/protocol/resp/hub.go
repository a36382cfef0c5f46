package resp

import (
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// hub keeps the subscriptions to channels. Publishing takes its lock for reading, subscribing for
// writing; under it only the outputs' locks are taken.
type hub struct {
	mu       sync.RWMutex
	channels map[topic]subscribers
	patterns map[topic]subscribers
	shards   map[topic]subscribers
}

// subscribers maps each subscribed connection to the session in which it subscribed.
type subscribers map[*conn]*broker.Session

// topic is a channel or a pattern of a virtual host.
type topic struct{ vhost, name string }

func (h *hub) init() {
	h.channels, h.patterns, h.shards = map[topic]subscribers{}, map[topic]subscribers{}, map[topic]subscribers{}
}

// add makes c a subscriber in table, one of the tables of h, and sends text, the confirmation, to
// the client before any message.
func (h *hub) add(table map[topic]subscribers, t topic, c *conn, text []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if table[t] == nil {
		table[t] = subscribers{}
	}
	table[t][c] = c.session
	c.out.confirm(text)
}

func (h *hub) remove(table map[topic]subscribers, t topic, c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(table[t], c)
	if len(table[t]) == 0 {
		delete(table, t)
	}
}

// form is a message encoded for one protocol version, on first use.
type form struct{ w respwire.Writer }

func (f *form) text(parts ...string) []byte {
	if len(f.w.Buf) == 0 {
		f.w.Push(len(parts))
		for _, p := range parts {
			f.w.BulkString(p)
		}
	}
	return f.w.Buf
}

// forms holds a message in both protocol versions.
type forms [2]form

// of returns the encoding for c. All calls must pass the same parts.
func (f *forms) of(c *conn, parts ...string) []byte {
	if c.resp3.Load() {
		f[1].w.RESP3 = true
		return f[1].text(parts...)
	}
	return f[0].text(parts...)
}

// publish sends a message to the subscribers of a channel and of the patterns that match it. It
// returns the number of recipients.
func (h *hub) publish(vhost, channel, body string) (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n = h.toChannel(vhost, channel, body)
	for t, to := range h.patterns {
		if t.vhost != vhost || !glob.Match(t.name, channel) {
			continue
		}
		var f forms
		for c, session := range to {
			if session.MayListen(channel) != nil { // permissions depend on the channel, not on the pattern
				continue
			}
			c.out.push(f.of(c, "pmessage", t.name, channel, body))
			n++
		}
	}
	return n
}

// publishToShard sends a message to the subscribers of a shard channel and returns their number.
func (h *hub) publishToShard(vhost, channel, body string) (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return tell(h.shards[topic{vhost, channel}], "smessage", channel, body)
}

// toChannel sends a message to the subscribers of the channel itself. The caller holds mu.
func (h *hub) toChannel(vhost, channel, body string) int {
	return tell(h.channels[topic{vhost, channel}], "message", channel, body)
}

// tell sends a message to all subscribers in to and returns their number. The caller holds the
// hub's mu.
func tell(to subscribers, what, channel, body string) int {
	var f forms
	for c := range to {
		c.out.push(f.of(c, what, channel, body))
	}
	return len(to)
}

// listed returns the channels of a virtual host that have subscribers and match a pattern.
func (h *hub) listed(l *listening, vhost, pattern string) (names []string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for t := range l.in(h) {
		if t.vhost == vhost && glob.Match(pattern, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// count counts the subscribers of a channel.
func (h *hub) count(l *listening, vhost, channel string) int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(l.in(h)[topic{vhost, channel}])
}

// patternCount counts the patterns of a virtual host.
func (h *hub) patternCount(vhost string) (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for t := range h.patterns {
		if t.vhost == vhost {
			n++
		}
	}
	return n
}
