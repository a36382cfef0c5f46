package duel

import (
	"fmt"
	"strings"
	"time"
)

// say sends a step followed by a PING, and returns all replies before the PONG or before the end of
// the connection. They include messages for the connection that were published earlier.
func (p *peer) say(s Step) (replies []string) {
	p.t.Helper()
	p.marks++
	mark := fmt.Sprint("mark ", p.marks)
	c := p.conn(s.Conn)
	p.send(c, s, encode("PING", mark))
	for {
		reply := p.next(c)
		switch {
		case reply == end:
			p.drop(s.Conn)
			return append(replies, end)
		case strings.Contains(reply, mark):
			return replies
		}
		replies = append(replies, reply)
	}
}

// begin sends a step with one command, unless its connection waits for the reply to another.
func (p *peer) begin(s Step) {
	p.t.Helper()
	if c := p.conn(s.Conn); !c.waits {
		p.send(c, s, "")
		c.waits = true
		p.silent++
	}
}

// settle collects replies until at most this many commands, all of them blocked, are unanswered,
// and returns the replies by connection. The broker serves an unblocked client slightly later than
// Redis, which does everything at once, so settle waits for as many answers as Redis gave. Replies
// that do not come are missing in the comparison.
func (p *peer) settle(unanswered int) map[string][]string {
	p.t.Helper()
	got := map[string][]string{}
	for late := time.Now().Add(patience); ; {
		if p.gather(got) {
			continue
		}
		if p.silent == 0 || p.silent <= unanswered && p.blocked() == p.silent && !p.arrived() {
			return got
		}
		if time.Now().After(late) {
			if p.silent <= unanswered {
				p.t.Fatalf("%s neither answers nor waits: %d commands", p.name, p.silent)
			}
			return got
		}
	}
}

// gather collects the replies that have arrived, and reports whether there were any.
func (p *peer) gather(got map[string][]string) (some bool) {
	for name, c := range p.conns {
		select {
		case reply, ok := <-c.replies:
			if !ok {
				reply = end
				p.drop(name)
			}
			got[name] = append(got[name], reply)
			if c.waits {
				c.waits = false
				p.silent--
			}
			some = true
		default:
		}
	}
	return some
}

// arrived reports whether there is an unread reply.
func (p *peer) arrived() bool {
	for _, c := range p.conns {
		if len(c.replies) > 0 {
			return true
		}
	}
	return false
}

// subscribed reports whether there is a subscription of any kind.
func (p *peer) subscribed() bool {
	return p.ask("PUBSUB", "CHANNELS") != "*[]" || p.ask("PUBSUB", "SHARDCHANNELS") != "*[]" || p.ask("PUBSUB", "NUMPAT") != ":0"
}

// clean closes all connections of a sequence, waits until the server has noticed, and deletes all
// keys.
func (p *peer) clean() {
	p.t.Helper()
	for _, c := range p.conns {
		c.hangUp()
	}
	p.conns, p.silent = map[string]*conn{}, 0
	for late := time.Now().Add(patience); p.blocked() > 0 || p.subscribed(); {
		if time.Now().After(late) {
			p.t.Fatalf("%s: what closed connections waited for or subscribed to stays", p.name)
		}
	}
	if keys := bulks(p.ask("KEYS", "*")); len(keys) > 0 {
		p.ask(append([]string{"DEL"}, keys...)...)
	}
}
