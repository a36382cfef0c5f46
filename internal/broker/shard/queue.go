package shard

import (
	"slices"
	"strings"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker/backpressure"
	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/dependency"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/list"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/throttle"
)

// Queue is a declared queue. Its first fields never change. The others belong to its shard.
type Queue struct {
	catalog.Queue // its definition
	vhost         *VHost
	shard         *Shard
	buffer        *catalog.Buffer   // nil unless the queue belongs to an exchange
	pace          backpressure.Pace // apart from rate: sessions read both while the shard writes below
	rate          throttle.Limit    // for messages that sessions publish
	Created       uint64            // index of the topology entry that declared it
	ExplicitAt    atomic.Uint64     // index of the topology entry that made it explicit; 0: none

	ruling  atomic.Pointer[catalog.Ruling] // nil: the declaration applies; replaced by the shard, read by all
	promise store.Wait                     // what a publisher confirm waits for

	content     *shardstate.Queue // the durable state; only the shard's recorder changes it
	state       *queue.Deliveries // of content.State
	consumers   dispatch.Consumers
	selective   *dispatch.Selective // nil: any consumer may get any message
	selection   selection           // the source of selective
	after       *dependency.Member  // nil: no message waits for another
	reader      bodies.Reader
	early       *dispatch.Early          // messages at positions that they requested; nil: none
	loanWaiters LoanWaiters              // nil: no request waits for a lent message
	waiting     list.List[Turn, *Turn]   // calls of Session.Await
	waking      bool                     // the calls must be served
	wakeAll     bool                     // even if nothing is ready
	feature     atomic.Pointer[attached] // stored by the shard, read by all; nil: none
	gone        bool
	removed     bool  // it was idle
	seen        look  // of an implicit queue
	watched     int64 // unix ms of the last Look
	once        bool  // it accepts one message per key; exchange buffers check that elsewhere
	marked      bool
	timer       int   // position in the shard's timers + 1; 0: none
	wakeAt      int64 // unix ms
	lastUsed    int64 // unix ms, for Policy.Expires
	expiring    bool  // it is being deleted because it is unused
	shrinking   bool  // it exceeds its limit, and stopped dropping for a while
	overfull    bool  // it may exceed its limit, and nothing was dropped yet
	hot         int64 // memory held, as last counted
	packing     queue.Packing

	dead *deadletter.Backlog // nil: no dead letter waits here

	serverEntry uint64 // newest entry with a persistent message of the server; 0: none

	memory *dedup.Memory // keys that are not in the log; nil: none

	counts  queue.Counts
	probe   queue.Probe
	active  int64  // unix ms of the last use, or of when it was declared or read from the log
	changes uint64 // how often it was marked, plus what expired; together with HandedOut, the version of its content
}

// VHost returns the name of the queue's virtual host.
func (q *Queue) VHost() string { return q.vhost.Name }

// Home returns the shard that owns the queue.
func (q *Queue) Home() *Shard { return q.shard }

// At runs fn at the shard of the queue and returns after fn has returned. Errors: ErrClosed.
func (q *Queue) At(fn func(Context)) error {
	return q.shard.Call(func() { fn(ContextOf(q)) })
}

// Send hands an op about the queue to its shard. It returns false if the shard has stopped.
func (q *Queue) Send(o Op) bool { return q.shard.Send(o) }

// Rate returns the limit for messages that sessions publish to the queue.
func (q *Queue) Rate() *throttle.Limit { return &q.rate }

// Hold returns how long a publisher waits after each read, in ns, because consumers are behind.
func (q *Queue) Hold() int64 { return q.pace.Hold() }

// Fail returns an engine error about the queue.
func (q *Queue) Fail(err error) error {
	return &failure.Error{Err: err, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// used restarts the time after which an unused queue is deleted.
func (q *Queue) used(now int64) { q.lastUsed = now }

// setContent gives the queue its durable state.
func (q *Queue) setContent(c *shardstate.Queue) { q.content, q.state = c, &c.State.Deliveries }

// Register registers the queue with its shard, before any op that is sent to the queue later.
func (q *Queue) Register() { q.shard.Post(func() { q.shard.Register(q) }) }

// Register registers the queue with the shard.
func (sh *Shard) Register(q *Queue) {
	sh.Follow(q)
	sh.enter(q)
}

// Follow registers the queue's durable state with the shard.
func (sh *Shard) Follow(q *Queue) {
	sh.queues[q.ID] = q
	if q.Durable {
		if q.Declared.Deduplicate {
			q.content.RememberKeys(newMemory(q.Declared))
		}
		sh.machine.Add(q.content)
	}
}

// Unfollow drops a queue that Follow registered and whose deletion is durable.
func (sh *Shard) Unfollow(q *Queue) {
	sh.set.Store.ReleaseRuns(sh.ID, q.references())
	delete(sh.queues, q.ID)
	sh.machine.Drop(q.ID)
	q.setContent(shardstate.NewQueue(q.ID, q.Durable))
}

// references returns the queue's references to bodies in the log.
func (q *Queue) references() (all []store.Run) {
	q.state.RefsByIndex(func(index uint64, n int) { all = append(all, store.Run{Index: index, N: n}) })
	return all
}

// enter makes the queue ready for use.
func (sh *Shard) enter(q *Queue) {
	q.lastUsed = sh.set.NowMillis()
	q.promise = syncWait(q.Policy().Sync, sh.set.Sync)
	q.once = q.Policy().Deduplicate && q.buffer == nil
	q.consumers.Init(consumed{q})
	if q.Policy().SingleActive {
		q.consumers.Single(q.Policy().ActiveByRank)
	}
	if q.Policy().GroupHeader != "" {
		q.selective = q.newSelective()
	}
	if q.Policy().ConsumeAfter {
		sh.enterOrder(q)
	}
	if q.Policy().Expires > 0 {
		sh.mark(q)
	}
	if q.Implicit() {
		sh.implicits.add(q, q.lastUsed)
	}
	if q.Declared.Stream && q.content.Stream == nil {
		sh.facts.MakeStream(q.content)
	}
}

// DropNow drops a queue whose deletion is durable, at its shard.
func (sh *Shard) DropNow(q *Queue) {
	_, refs, _ := sh.drop(q, DropWhen{}) // without a condition it cannot fail
	sh.set.Store.ReleaseRuns(sh.ID, refs)
}

// DropWhen holds the conditions of a deletion.
type DropWhen struct{ Unused, Empty, Expired bool }

// Redeclared answers a repeated declaration of the queue, which counts as a use. Errors: ErrClosed.
func (q *Queue) Redeclared() (QueueInfo, error) {
	info := QueueInfo{Name: q.Name}
	err := q.shard.Call(func() {
		q.shard.catchUpConsumers(q)
		q.used(q.shard.now)
		info.Ready, info.Consumers = q.state.Ready(), q.consumers.Len()
		if q.Declared.Stream {
			info.Consumers = 0 // readers do not count, as in RabbitMQ
		}
	})
	return info, err
}

// Drop deletes the queue with all its messages, unless a condition forbids it, and returns the
// number of ready messages. The caller calls release once the deletion is durable; that frees the
// bodies. Errors: ErrInUse, ErrNotEmpty, ErrClosed.
func (q *Queue) Drop(when DropWhen) (messages int, release func(), err error) {
	sh := q.shard
	var runs []store.Run
	if closed := sh.Call(func() { messages, runs, err = sh.drop(q, when) }); closed != nil {
		err = closed
	}
	return messages, func() { sh.set.Store.ReleaseRuns(sh.ID, runs) }, err
}

// AwaitDurable returns once all changes of the queue recorded so far are durable: everything read
// from it before is still true after a crash. Deliveries that waited for these changes have been
// made. Errors: ErrLogFailed, ErrClosed.
func (q *Queue) AwaitDurable() error {
	done := make(chan error, 1)
	sh := q.shard
	if err := sh.Call(func() { sh.log.WhenDurable(sh.log.LastRecorded(), func(err error) { done <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-sh.Done:
		return failure.ErrClosed
	}
}

// Purge removes the ready messages, and returns their number once that is durable. Errors:
// ErrWrongKind (a declared stream), ErrLogFailed, ErrClosed.
func (q *Queue) Purge() (messages int, err error) {
	if q.Declared.Stream {
		return 0, q.Fail(failure.ErrWrongKind)
	}
	done := make(chan error, 1)
	if err := q.shard.Call(func() { messages = q.shard.purge(q, func(err error) { done <- err }) }); err != nil {
		return 0, err
	}
	if err := <-done; err != nil {
		return 0, q.Fail(failure.ErrLogFailed)
	}
	return messages, nil
}

// drop deletes a queue with all its messages, unless a condition forbids it. The caller frees the
// bodies once it knows the deletion to be durable.
func (sh *Shard) drop(q *Queue, when DropWhen) (messages int, refs []store.Run, err error) {
	fail := func(e error) (int, []store.Run, error) {
		return 0, nil, q.Fail(e)
	}
	sh.catchUpConsumers(q)
	switch {
	case q.gone:
		return 0, nil, nil
	case when.Unused && q.consumers.Len() > 0:
		return fail(failure.ErrInUse)
	case when.Empty && q.state.Ready() > 0:
		return fail(failure.ErrNotEmpty)
	case when.Expired:
		q.expiring = false
		if at, ok := q.expiry(); !ok || at > sh.now { // used meanwhile
			sh.mark(q)
			return fail(failure.ErrInUse)
		}
	}
	q.gone = true
	sh.retire(q)
	sh.implicits.Remove(&q.seen)
	q.dismissLoanWaiters()
	q.dismissWaiting()
	if q.after != nil {
		sh.leaveOrder(q)
	}
	q.early = nil
	if !q.Declared.Stream {
		messages = q.state.Ready()
	}
	var ended []*Consumer
	for _, c := range q.consumers.All() {
		ended = append(ended, ConsumerOf(c))
	}
	slices.SortFunc(ended, func(a, b *Consumer) int { return strings.Compare(a.Tag, b.Tag) }) // independent of whose turn it was
	q.consumers.Clear()
	for _, c := range ended {
		c.out.flush(sh)
		sh.leave(c)
		c.client.Forget(c)
		c.client.Sink.Cancelled(c)
	}
	refs = q.references()
	q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
		if it.Flags&queue.Scratch != 0 {
			sh.bodies.Release(it.Index)
		}
		return true
	})
	if q.dead != nil {
		q.dead = nil
		delete(sh.insisting, q)
		sh.deadQueues.Add(-1)
	}
	sh.bodies.CloseReader(&q.reader)
	sh.count(q, 0)
	sh.timers.set(q, noTime)
	delete(sh.queues, q.ID)
	sh.machine.Drop(q.ID)
	q.setContent(shardstate.NewQueue(q.ID, q.Durable))
	q.reader, q.memory, q.selective = bodies.Reader{}, nil, nil
	q.feature.Store(nil)
	return messages, refs, nil
}

// purge removes the ready messages.
func (sh *Shard) purge(q *Queue, durable func(error)) (messages int) {
	if q.gone {
		durable(nil)
		return 0
	}
	sh.catchUpConsumers(q)
	messages = sh.clear(q)
	sh.log.WhenRecorded(durable)
	return messages
}

// QueueVersion identifies the state of a queue: if the version differs, the queue's content may
// differ. The zero value is the version of a queue that does not exist.
type QueueVersion struct{ queue, Changes uint64 }

// Version returns the queue's current version.
func (at Context) Version() QueueVersion { return at.q.version() }

// Watch is Version for a client that will soon ask again. Until then the queue is not removed as
// idle.
func (at Context) Watch() QueueVersion {
	at.q.watched = at.sh.now
	return at.q.version()
}

// version runs on the shard's goroutine.
func (q *Queue) version() QueueVersion { return QueueVersion{q.ID, q.changes + q.counts.HandedOut()} }
