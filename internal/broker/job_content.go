package broker

import (
	"strconv"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/storage/store"
)

func (c *JobContent) find(s *Session) (*Queue, error) {
	return s.asJobs(s.readableList(c.Queue, false))
}

// A cursor is "m" and the handle of the next message, or "d" and the number of the next remembered id.
func (c *JobContent) run(sh *shard, q *Queue) error {
	clear(c.Jobs)
	c.Jobs, c.Next = c.Jobs[:0], ""
	kind, place := byte('m'), uint64(0)
	if c.Cursor != "" {
		n, err := strconv.ParseUint(c.Cursor[1:], 10, 64)
		if kind, place = c.Cursor[0], n; err != nil || kind != 'm' && kind != 'd' {
			return &Error{Err: ErrInvalidParameter, Kind: "cursor", Name: c.Cursor}
		}
	}
	sh.catchUp(q)
	n := min(max(c.Max, 1), pageMessages)
	if kind == 'm' {
		if !c.messages(sh, q, queue.Handle(place), n) {
			return nil
		}
		place = 0
	}
	c.remembered(sh, q, place, n)
	return nil
}

// messages lists jobs that have a message, and tells whether that was all of them and there is room for more.
func (c *JobContent) messages(sh *shard, q *Queue, from queue.Handle, n int) (all bool) {
	var items []queue.Item
	var next queue.Handle
	looks := 0
	q.state.Each(from, func(it *queue.Item, status queue.Status) bool {
		if looks++; looks > pageLooks || len(items) == n {
			next = it.Handle
			return false
		}
		if status != queue.Scheduled || it.Due != dueBehind {
			items = append(items, *it)
		}
		return true
	})
	var reader *store.Reader
	for i := range items {
		it := &items[i]
		if !q.aliveJob(it.Handle) {
			continue
		}
		env := it.Env
		if env == nil && it.Flags&queue.Scratch == 0 && reader == nil {
			reader = sh.b.store.NewReader(sh.id)
		}
		if env == nil {
			var err error
			if env, err = sh.loadBy(reader, q, it); err != nil {
				continue // its delivery will tell
			}
		}
		c.Jobs = append(c.Jobs, sh.describeMessage(q, it.Handle, env))
	}
	switch {
	case next != 0:
		c.Next = "m" + strconv.FormatUint(uint64(next), 10)
	case len(c.Jobs) == n:
		c.Next = "d0"
	}
	return c.Next == ""
}

func (sh *shard) describeMessage(q *Queue, h queue.Handle, env message.Envelope) JobInfo {
	k := knownJob{id: q.jobID(messageID(env), h), h: h, found: true, status: q.state.Status(h)}
	k.key = q.jobs.keys.Of(k.id)
	k.behind, _ = q.jobBehind(k.key)
	k.done = q.jobs.book.Remembered(k.id)
	return sh.describeJob(q, &k, env)
}

// remembered lists ids without a message.
func (c *JobContent) remembered(sh *shard, q *Queue, from uint64, n int) {
	n -= len(c.Jobs)
	list := q.jobs.book.DoneFrom(from, n+1)
	for i, d := range list {
		if i == n {
			c.Next = "d" + strconv.FormatUint(d.Number, 10)
			return
		}
		if k := q.knowJob([]byte(d.ID)); !k.found {
			c.Jobs = append(c.Jobs, sh.describeJob(q, &k, nil))
		}
	}
}
