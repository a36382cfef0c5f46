package amqp

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// delivery is one unsettled delivery of a channel.
type delivery struct {
	tag      uint64
	handle   queue.Handle
	queue    *shard.Queue // nil: already settled
	consumer *shard.Consumer
	at       uint32 // tick of the delivery, in 32 bits
}

// unacked holds the unsettled deliveries of a channel in the order of their tags.
//
// Invariant: from head on the tags ascend and the first is not settled; live counts those that are
// not settled. A delivery settled out of order stays as a gap until it reaches the head, or until
// gaps are more than half.
type unacked struct {
	list []delivery
	head int
	live int

	shortest int64 // no live delivery is late at a lower age, in ticks
}

// idleUnacked is how many entries an empty list may keep room for.
const idleUnacked = 256

// push adds a delivery whose tag is above all others.
func (u *unacked) push(d delivery) {
	if len(u.list) == cap(u.list) && u.head > len(u.list)/2 {
		u.list = slices.Delete(u.list, 0, u.head)
		u.head = 0
	}
	u.list = append(u.list, d)
	u.live++
}

// find returns the index of tag. A channel that always acks has tags without gaps, so the first
// guess is usually right.
func (u *unacked) find(tag uint64) (int, bool) {
	if u.head == len(u.list) || tag < u.list[u.head].tag {
		return 0, false
	}
	if d := tag - u.list[u.head].tag; d < uint64(len(u.list)-u.head) {
		if at := u.head + int(d); u.list[at].tag == tag {
			return at, u.list[at].queue != nil
		}
	}
	at, ok := slices.BinarySearchFunc(u.list[u.head:], tag, func(d delivery, tag uint64) int {
		switch {
		case d.tag < tag:
			return -1
		case d.tag > tag:
			return 1
		}
		return 0
	})
	at += u.head
	return at, ok && u.list[at].queue != nil
}

// take removes the delivery called tag.
func (u *unacked) take(tag uint64) (delivery, bool) {
	at, ok := u.find(tag)
	if !ok {
		return delivery{}, false
	}
	d := u.list[at]
	u.list[at].queue, u.list[at].consumer = nil, nil
	u.live--
	u.trim()
	return d, true
}

// takeTo removes all deliveries up to tag, which must be among them, and appends them to dst. Tag 0
// means all, which may be none.
func (u *unacked) takeTo(dst []delivery, tag uint64) ([]delivery, bool) {
	end := len(u.list)
	if tag != 0 {
		at, ok := u.find(tag)
		if !ok {
			return dst, false
		}
		end = at + 1
	}
	return u.takeFirst(dst, end), true
}

// takeBelow is takeTo for a tag that may be missing.
func (u *unacked) takeBelow(dst []delivery, tag uint64) []delivery {
	end := u.head
	for end < len(u.list) && u.list[end].tag <= tag {
		end++
	}
	return u.takeFirst(dst, end)
}

// takeFirst removes the deliveries before an index in the list.
func (u *unacked) takeFirst(dst []delivery, end int) []delivery {
	for i := u.head; i < end; i++ {
		if u.list[i].queue != nil {
			dst = append(dst, u.list[i])
			u.live--
		}
	}
	clear(u.list[u.head:end])
	u.head = end
	u.trim()
	return dst
}

// takeLate removes the deliveries whose age at the tick now has reached their limit, and appends
// them to dst.
func (u *unacked) takeLate(dst []delivery, now uint32, limit func(*delivery) int64) []delivery {
	for i := u.head; i < len(u.list); i++ {
		d := &u.list[i]
		if d.queue == nil {
			continue
		}
		age := int64(now - d.at)
		if age < u.shortest {
			break // later deliveries are younger
		}
		if age >= limit(d) {
			dst = append(dst, *d)
			d.queue, d.consumer = nil, nil
			u.live--
		}
	}
	u.trim()
	return dst
}

// untilLate returns the number of ticks after now until a delivery is late, never if none can be.
func (u *unacked) untilLate(now uint32, limit func(*delivery) int64) int64 {
	first := int64(never)
	for i := u.head; i < len(u.list); i++ {
		d := &u.list[i]
		if d.queue == nil {
			continue
		}
		age := int64(now - d.at)
		if u.shortest-age >= first {
			break // later deliveries become late no earlier
		}
		l := limit(d)
		u.shortest = min(u.shortest, l) // a policy may have lowered it
		first = min(first, l-age)
	}
	return first
}

// putBack puts deliveries back that take or takeTo returned.
func (u *unacked) putBack(ds []delivery) {
	all := append(slices.Clone(ds), u.list[u.head:]...)
	all = slices.DeleteFunc(all, func(d delivery) bool { return d.queue == nil })
	slices.SortFunc(all, func(a, b delivery) int {
		if a.tag < b.tag {
			return -1
		}
		return 1
	})
	u.list, u.head, u.live = all, 0, len(all)
	u.shortest = 0 // their limits are unknown
}

// trim restores the invariants after something was settled.
func (u *unacked) trim() {
	if u.live == 0 {
		u.head = 0
		if cap(u.list) > idleUnacked {
			u.list = nil
		}
		u.list = u.list[:0]
		return
	}
	for u.list[u.head].queue == nil {
		u.head++
	}
	if n := len(u.list) - u.head; n > idleUnacked && u.live < n/2 {
		u.list = slices.DeleteFunc(u.list[u.head:], func(d delivery) bool { return d.queue == nil })
		u.head = 0
	}
}
