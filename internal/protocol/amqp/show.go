package amqp

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
)

// roster is the open channels of a connection, for goroutines other than its reader.
type roster struct {
	mu   sync.Mutex
	open map[*channel]struct{}
}

func (r *roster) enter(ch *channel) {
	ch.c.client.ChannelOpened()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[*channel]struct{}{}
	}
	r.open[ch] = struct{}{}
}

// leave removes a channel and keeps its counts.
func (r *roster) leave(ch *channel) {
	ch.show()
	s := ch.look()
	r.mu.Lock() // also over ChannelClosed: the counts are in one of the two places for all that look
	defer r.mu.Unlock()
	delete(r.open, ch)
	ch.c.client.ChannelClosed(&s.Counts)
}

func (r *roster) list() []*channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.open))
}

// shown is the state of a channel when the reader last called show.
type shown struct {
	mu       sync.Mutex
	state    protocol.Channel
	last     uint64 // number of the last publish in confirm mode
	confirms *confirms
}

// show publishes the channel's state for other goroutines. The reader calls it when it turns to
// another channel and at the end of a read, so that counting a message costs only an addition.
func (ch *channel) show() {
	if ch == nil {
		return
	}
	s := &ch.shown
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Counts = ch.counts
	s.state.Prefetch, s.state.GlobalPrefetch = ch.prefetch, ch.limit.Max()
	s.state.Confirms, s.state.Transactional = ch.confirms != nil, ch.tx != nil
	s.state.Uncommitted, s.state.UncommittedMessages = 0, 0
	if ch.tx != nil {
		s.state.Uncommitted, s.state.UncommittedMessages = len(ch.tx.settled), ch.tx.messages
	}
	s.last, s.confirms = ch.published, ch.confirms
}

// look returns the channel's state at the last show, with the current values of what other
// goroutines count. Any goroutine may call it.
func (ch *channel) look() protocol.Channel {
	ch.shown.mu.Lock()
	s, last, confirms := ch.shown.state, ch.shown.last, ch.shown.confirms
	ch.shown.mu.Unlock()
	s.Number = int(ch.id)
	c := ch.c
	c.out.mu.Lock()
	s.Consumers, s.Unacked = len(ch.consumers), ch.unacked.live
	h := ch.handedOut
	c.out.mu.Unlock()
	s.Counts.Delivered, s.Counts.DeliveredNoAck = h.acked, h.noAck
	s.Counts.Redelivered += h.again
	if confirms != nil {
		c.confirmMu.Lock()
		s.Counts.Confirmed, s.Unconfirmed = confirms.acked, int(max(last, confirms.told)-confirms.told)
		c.confirmMu.Unlock()
	}
	return s
}

// handedOut counts the deliveries of a channel's consumers.
type handedOut struct{ acked, noAck, again uint64 }

func (h *handedOut) count(noAck, again bool) {
	if noAck {
		h.noAck++
	} else {
		h.acked++
	}
	if again {
		h.again++
	}
}

// countGot counts an answer to basic.get.
func (ch *channel) countGot(d *shard.Delivery, noAck bool) {
	if noAck {
		ch.counts.GotNoAck++
	} else {
		ch.counts.Got++
	}
	if d.Redelivered {
		ch.counts.Redelivered++
	}
}

// Channels implements protocol.Channeled.
func (c *conn) Channels() []protocol.Channel {
	open := c.roster.list()
	all := make([]protocol.Channel, len(open))
	for i, ch := range open {
		all[i] = ch.look()
	}
	slices.SortFunc(all, func(a, b protocol.Channel) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// End implements protocol.Part: it closes the connection with 320 and the reason.
func (c *conn) End(reason string) {
	c.evicted.CompareAndSwap(nil, &fault{code: amqpcode.ConnectionForced, text: reason})
	c.Drain()
}
