package jobs

import (
	"strconv"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Find implements broker.Command.
func (c *Content) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, c.Queue, false) }

// Run implements broker.Command. A cursor is "m" and the handle of the next message, or "d" and the
// number of the next remembered id.
func (c *Content) Run(at shard.Context) error {
	q := jobsAt(at)
	clear(c.Jobs)
	c.Jobs, c.Next = c.Jobs[:0], ""
	kind, place := byte('m'), uint64(0)
	if c.Cursor != "" {
		n, err := strconv.ParseUint(c.Cursor[1:], 10, 64)
		if kind, place = c.Cursor[0], n; err != nil || kind != 'm' && kind != 'd' {
			return &failure.Error{Err: failure.ErrInvalidParameter, Kind: "cursor", Name: c.Cursor}
		}
	}
	q.CatchUp()
	most, looks := shard.PageMessages, shard.PageLooks
	n := min(max(c.Max, 1), most)
	if kind == 'm' {
		if !c.messages(q, queue.Handle(place), n, looks) {
			return nil
		}
		place = 0
	}
	c.remembered(q, place, n)
	return nil
}

// messages lists jobs that have a message. all reports whether it has listed all of them and has
// room for more.
func (c *Content) messages(q jobQueue, from queue.Handle, n, looks int) (all bool) {
	var items []queue.Item
	var next queue.Handle
	q.Deliveries().Each(from, func(it *queue.Item, status queue.Status) bool {
		if looks--; looks < 0 || len(items) == n {
			next = it.Handle
			return false
		}
		if status != queue.Scheduled || it.Due != shard.HeldBack {
			items = append(items, *it)
		}
		return true
	})
	reader := q.Bodies().NewReader()
	for i := range items {
		it := &items[i]
		if !q.alive(it.Handle) {
			continue
		}
		env, err := q.Bodies().Load(reader, it)
		if err != nil {
			continue // its delivery reports the error
		}
		c.Jobs = append(c.Jobs, q.describeMessage(it.Handle, env))
	}
	switch {
	case next != 0:
		c.Next = "m" + strconv.FormatUint(uint64(next), 10)
	case len(c.Jobs) == n:
		c.Next = "d0"
	}
	return c.Next == ""
}

func (q jobQueue) describeMessage(h queue.Handle, env message.Envelope) Info {
	k := known{id: q.idOf(messageID(env), h), h: h, found: true, status: q.Deliveries().Status(h)}
	k.key = q.keys.Of(k.id)
	k.behind, _ = q.messageBehind(k.key)
	k.done = q.ledger.Remembered(k.id)
	info := q.describe(&k, env)
	info.Error = firstPart(info.Error, listedError)
	return info
}

// remembered lists ids without a message.
func (c *Content) remembered(q jobQueue, from uint64, n int) {
	n -= len(c.Jobs)
	list := q.ledger.DoneFrom(from, n+1)
	for i, d := range list {
		if i == n {
			c.Next = "d" + strconv.FormatUint(d.Number, 10)
			return
		}
		if k := q.know([]byte(d.ID)); !k.found {
			c.Jobs = append(c.Jobs, q.describe(&k, nil))
		}
	}
}
