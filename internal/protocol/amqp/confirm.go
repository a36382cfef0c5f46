package amqp

import (
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// confirms tracks the publishes of one channel in confirm mode and answers them in order: one ack
// for all publishes before the first unconfirmed one, and a nack for each refused one.
//
// The order is our choice; the protocol allows any. Some clients take an ack with multiple as the
// answer to every earlier publish, even to one that was nacked out of order and is lost. Answering
// in order avoids this.
//
// All fields but ch are guarded by conn.confirmMu.
type confirms struct {
	ch *channel

	low    uint64 // the first publish that has no answer from the engine, or is in slots
	told   uint64 // the client has been answered up to here; told < low
	slots  []slot // of low, low+1, … as a ring indexed by the number; length is 0 or a power of two
	held   int    // slots that are not zero
	queued bool   // in conn.confirming
	acked  uint64 // publishes that the client was told are confirmed
	closed bool   // the channel is closed: confirms are dropped
}

// slot is the state of one publish: the number of parts, beyond one, that have not answered, and
// flags.
type slot uint16

const (
	slotDone    slot = 1 << 15
	slotRefused slot = 1 << 14
	slotParts   slot = slotRefused - 1
)

// firstSlots is the first size of the ring.
const firstSlots = 64

func newConfirms(ch *channel) *confirms { return &confirms{ch: ch, low: 1} }

// expect records that publish seq has several parts, each of which will be answered. Without this
// call a publish has one.
func (cf *confirms) expect(seq uint64, parts int) {
	mu := &cf.ch.c.confirmMu
	mu.Lock()
	defer mu.Unlock()
	s := cf.slot(seq)
	*s = slot(min(parts-1, int(slotParts)))
	cf.held++
}

// Confirmed implements shardlog.Confirmer, on any goroutine of the engine.
func (cf *confirms) Confirmed(from, to uint64, ok bool) {
	c := cf.ch.c
	c.confirmMu.Lock()
	if cf.closed {
		c.confirmMu.Unlock()
		return
	}
	wake := cf.note(from, to, ok) && !cf.queued
	if wake {
		cf.queued = true
		c.confirming = append(c.confirming, cf)
	}
	c.confirmMu.Unlock()
	if wake && !c.out.telling.Load() {
		c.out.signal()
	}
}

// note records an answer and reports whether there is news for the client.
func (cf *confirms) note(from, to uint64, ok bool) bool {
	if ok && from == cf.low && cf.held == 0 {
		cf.low = to + 1
		return true
	}
	for seq := from; seq <= to; seq++ {
		s := cf.slot(seq)
		if *s == 0 {
			cf.held++
		}
		if !ok {
			*s |= slotRefused
		}
		if *s&slotParts > 0 {
			if *s--; *s == 0 {
				cf.held--
			}
			continue
		}
		*s |= slotDone
	}
	return len(cf.slots) > 0 && *cf.slot(cf.low)&slotDone != 0
}

// slot returns the slot of seq, and makes room for it.
func (cf *confirms) slot(seq uint64) *slot {
	if n := seq - cf.low; n >= uint64(len(cf.slots)) {
		size := max(firstSlots, len(cf.slots))
		for uint64(size) <= n {
			size *= 2
		}
		slots := make([]slot, size)
		for i := range uint64(len(cf.slots)) {
			at := cf.low + i
			slots[at&uint64(size-1)] = cf.slots[at&uint64(len(cf.slots)-1)]
		}
		cf.slots = slots
	}
	return &cf.slots[seq&uint64(len(cf.slots)-1)]
}

// take appends the frames with the news for the client.
func (cf *confirms) take(dst []byte) []byte {
	for cf.held > 0 {
		s := cf.slot(cf.low)
		if *s&slotDone == 0 {
			break
		}
		refused := *s&slotRefused != 0
		*s = 0
		cf.held--
		if refused {
			dst = cf.ack(dst)
			dst = amqpwire.AppendNack(dst, cf.ch.id, cf.low, false, false)
			cf.told = cf.low
		}
		cf.low++
	}
	if cf.held == 0 && len(cf.slots) > firstSlots {
		cf.slots = nil
	}
	return cf.ack(dst)
}

// ack appends the ack for what is below low and has not been sent yet.
func (cf *confirms) ack(dst []byte) []byte {
	last := cf.low - 1
	if last == cf.told {
		return dst
	}
	dst = amqpwire.AppendAck(dst, cf.ch.id, last, last > cf.told+1)
	cf.acked += last - cf.told
	cf.told = last
	return dst
}

// tellConfirms appends the news of all channels to the out buffer. The writer calls it before it
// writes.
func (c *conn) tellConfirms() {
	c.confirmMu.Lock()
	defer c.confirmMu.Unlock()
	if len(c.confirming) == 0 {
		return
	}
	c.out.add(func(dst []byte) []byte {
		for _, cf := range c.confirming {
			cf.queued = false
			if !cf.closed {
				dst = cf.take(dst)
			}
		}
		return dst
	})
	clear(c.confirming)
	c.confirming = c.confirming[:0]
	if c.confirmed != nil {
		select {
		case c.confirmed <- struct{}{}:
		default:
		}
	}
}

// endConfirms sends the last confirms of the channel; later ones are dropped.
func (ch *channel) endConfirms() {
	if ch.confirms == nil {
		return
	}
	ch.c.confirmMu.Lock()
	defer ch.c.confirmMu.Unlock()
	ch.c.out.add(ch.confirms.take)
	ch.confirms.closed = true
}

// unconfirmed reports whether a publish of the connection waits for its answer.
func (c *conn) unconfirmed() bool {
	c.confirmMu.Lock()
	defer c.confirmMu.Unlock()
	for _, ch := range c.channels {
		if ch.confirms != nil && !ch.confirms.closed && ch.confirms.told < ch.published {
			return true
		}
	}
	return false
}
