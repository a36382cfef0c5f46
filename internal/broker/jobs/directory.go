package jobs

import (
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// directory is the additional state of a queue that is used for jobs or whose messages are leased.
// It implements shard.Feature.
//
// Invariant: behind holds the messages that wait behind others, and fronts the messages they wait
// for, both by key. An entry is dropped when its message is found to be gone. All other messages
// with an id are in index, which may also have some that are gone.
type directory struct {
	ledger *job.Ledger
	keys   job.Keys
	index  *idindex.Index
	behind map[job.Key]queue.Handle
	fronts map[queue.Handle]job.Key

	opening sync.Mutex  // held while existing messages are read
	known   atomic.Bool // all existing messages have been read
}

func newDirectory(ledger *job.Ledger) *directory {
	return &directory{
		ledger: ledger, keys: job.NewKeys(), index: idindex.New(),
		behind: map[job.Key]queue.Handle{}, fronts: map[queue.Handle]job.Key{},
	}
}

// directoryOf returns the directory of a queue, or nil if it has none.
func directoryOf(q *shard.Queue) *directory {
	d, _ := q.Feature().(*directory)
	return d
}

// jobQueue is a queue of jobs at its shard.
type jobQueue struct {
	shard.Context
	*directory
}

func jobsAt(at shard.Context) jobQueue { return jobQueue{at, directoryOf(at.Queue())} }

// messageID returns the message-id of a message, or nil if it has none.
func messageID(env message.Envelope) []byte {
	id, ok := message.FindProperty(env.Properties(), message.HasMessageID)
	if !ok || len(id) == 0 {
		return nil
	}
	return id
}

// cleanEach is how many buckets of the index are cleaned for each message that arrives.
const cleanEach = 2

// OnPublish implements shard.Feature.
func (d *directory) OnPublish(at shard.Context, h queue.Handle, env message.Envelope, due int64) {
	id := messageID(env)
	if id == nil {
		return
	}
	key := d.keys.Of(id)
	if due == shard.HeldBack {
		d.behind[key] = h
		return
	}
	d.index.Add(idindex.Sum(key), 0, h)
	d.index.Clean(cleanEach, goneFrom(at))
}

// goneFrom reports whether the message of an entry is gone.
func goneFrom(at shard.Context) func(*idindex.Entry) bool {
	st := at.Deliveries()
	return func(e *idindex.Entry) bool { return st.Status(e.Handle) == queue.Gone }
}

// OnSettle implements shard.Feature: a message that waited behind a settled one becomes ready.
func (d *directory) OnSettle(at shard.Context, h queue.Handle, n int) {
	queue.EachIn(d.fronts, h, n, func(h queue.Handle) {
		key := d.fronts[h]
		delete(d.fronts, h)
		jobQueue{at, d}.comeForward(key, at.Now())
	})
}

// OnRest implements shard.Feature: it keeps the index small when messages go and none arrive.
func (d *directory) OnRest(at shard.Context) (more bool) {
	st := at.Deliveries()
	live := st.Ready() + st.Unacked() + st.Scheduled() + st.Blocked()
	return d.index.Tidy(live, goneFrom(at))
}

// Hidden implements shard.Feature.
func (d *directory) Hidden(at shard.Context) (n int) {
	q := jobQueue{at, d}
	for key := range d.behind {
		if _, ok := q.messageBehind(key); ok {
			n++
		}
	}
	return n
}

// first returns the message that owns the id of a key: the first one in queue order that has the id
// and does not wait behind another.
func (q jobQueue) first(key job.Key) (h queue.Handle, ok bool) {
	for e := q.index.First(idindex.Sum(key)); e != 0; e = q.index.Next(e) {
		if at := q.index.Entry(e).Handle; (!ok || at.Before(h)) && q.alive(at) {
			h, ok = at, true
		}
	}
	return h, ok
}

// alive reports whether a message exists and is not being dead-lettered.
func (q jobQueue) alive(h queue.Handle) bool {
	switch q.Deliveries().Status(h) {
	case queue.Gone:
		return false
	case queue.Unacked:
		if l := q.ledger.Leased(h); l != nil {
			return !l.Ended
		}
		it, _ := q.Deliveries().Get(h)
		return !q.Dead(it)
	}
	return true
}

// messageBehind returns the message that waits behind the one of a key.
func (q jobQueue) messageBehind(key job.Key) (h queue.Handle, ok bool) {
	h, ok = q.behind[key]
	if ok && !q.waitsBehind(h) {
		delete(q.behind, key)
		return 0, false
	}
	return h, ok
}

func (q jobQueue) waitsBehind(h queue.Handle) bool {
	if q.Deliveries().Status(h) != queue.Scheduled {
		return false
	}
	it, _ := q.Deliveries().Get(h)
	return it.Due == shard.HeldBack
}

// comeForward makes the message that waits behind a key the owner of its id, ready at a time (unix
// ms).
func (q jobQueue) comeForward(key job.Key, at int64) {
	h, ok := q.messageBehind(key)
	if !ok {
		return
	}
	delete(q.behind, key)
	q.index.Add(idindex.Sum(key), 0, h)
	it, _ := q.Deliveries().Get(h)
	expires := it.Expires
	if expires != 0 {
		expires += at - it.Due
	}
	env, err := q.Load(it)
	if err == nil {
		env, err = withHeader(env, firstHeader, at)
	}
	if err == nil {
		q.Replace(h, env, expires, at)
	} else {
		q.Facts().Reschedule(q.Content(), h, at) // its delivery reports the error
	}
	q.Deliveries().Due(q.Now())
	q.Changed()
}
