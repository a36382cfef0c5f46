package main

import "encoding/binary"

// readConfirms reads a publisher's connection until it ends. It calls each, which may be nil, with
// each newly confirmed tag, and pause with the number of all confirmed messages after each read.
func readConfirms(k *conn, each func(tag uint64), pause func(total int64)) error {
	count := confirmCounter{each: each}
	return k.walk(func(typ byte, payload []byte) error {
		if typ != frameMethod {
			return nil
		}
		if methodOf(payload) == basicAck {
			count.ack(binary.BigEndian.Uint64(payload[4:]), payload[12]&1 == 1)
		}
		return refusal(payload)
	}, func() error {
		pause(count.total())
		return nil
	})
}

// confirmCounter counts confirmed messages. Single confirms may overtake each other before a
// multiple one covers them.
type confirmCounter struct {
	each   func(tag uint64)
	floor  uint64              // all tags up to here are confirmed
	beyond map[uint64]struct{} // confirmed singly; Invariant: all above floor+1
}

func (c *confirmCounter) total() int64 { return int64(c.floor) + int64(len(c.beyond)) }

func (c *confirmCounter) ack(tag uint64, multiple bool) {
	switch {
	case tag <= c.floor:
		return
	case multiple || tag == c.floor+1:
		c.raise(tag)
	default:
		if c.beyond == nil {
			c.beyond = map[uint64]struct{}{}
		}
		if _, known := c.beyond[tag]; !known {
			c.beyond[tag] = struct{}{}
			c.tell(tag)
		}
	}
}

// raise confirms everything up to tag, and the tags that follow without a gap.
func (c *confirmCounter) raise(tag uint64) {
	if c.each == nil && len(c.beyond) == 0 {
		c.floor = tag
		return
	}
	for {
		next := c.floor + 1
		_, known := c.beyond[next]
		if next > tag && !known {
			return
		}
		delete(c.beyond, next)
		c.floor = next
		if !known {
			c.tell(next)
		}
	}
}

func (c *confirmCounter) tell(tag uint64) {
	if c.each != nil {
		c.each(tag)
	}
}
