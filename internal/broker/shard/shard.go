package shard

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/inbox"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/dependency"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	deliverBytes  = 64 << 10 // deliveries collected for one consumer before its sink gets them
	gatheredBytes = 1 << 20  // the same for all consumers of the shard
)

// Shard owns a set of queues. The fields below Done belong to the goroutine that runs the shard:
// its own, or that of a session (inline.go).
type Shard struct {
	set   *Set
	ID    uint32
	inbox *inbox.Inbox[Op]
	Done  chan struct{} // closed when run has returned

	ops []Op // of the round; reused

	now       int64                // unix ms, read once per drain
	machine   *shardstate.Machine  // the durable state
	facts     *shardstate.Recorder // changes it
	clean     bool                 // as restored: no message was out when the last process ended
	log       *shardlog.Writer     // has the current entry
	queues    map[uint64]*Queue
	traces    *tracing.Tracker             // nil without Options.Traces
	orders    map[*VHost]*dependency.Graph // of virtual hosts with ordered queues on this shard
	consumers map[*Client][]*Consumer
	timers    timers
	implicits implicits

	// The current round.
	inline  *Client          // the session that runs the shard; nil: the shard's own goroutine
	marked  []*Queue         // queues to visit before the round ends
	waking  []*Queue         // those of them whose waiting calls must be served
	local   []Op             // dead letters for this shard
	lending []*outbox        // with collected deliveries
	turns   uint64           // deliveries to consumers
	answers shardlog.Answers // of publishes that need no log

	scratch   shardstate.Message
	loaded    queue.Item         // the current item, if its body came from disk
	taken     queue.Item         // the last item of Context.Take
	arriving  arrival            // the position of the current publish in the order
	taking    []*Queue           // the queues that take the current publish
	incoming  shardstate.Message // the current publish
	givenID   stream.ID          // of the current publish, 0-0: the stream chooses one
	due       []queue.Item       // messages about to leave an exchange buffer
	promise   store.Wait         // of the current publish: the strictest of its targets
	duplicate bool               // the current publish is a duplicate in a durable queue
	// a durable target of the current publish is gone, and its deletion may not be durable yet
	lostWithQueue bool
	bodies        *bodies.Bodies // messages that are not in memory

	hot          int64               // memory held by the queues' messages, as last counted
	deadBytes    int64               // dead letters in transit to other shards
	insisting    map[*Queue]struct{} // queues with waiting dead letters
	deadQueues   atomic.Int32        // the number of these queues
	hastening    atomic.Bool         // a call of hastenDead is pending
	untold       int                 // ops that offer has dropped since it last logged that
	CheckpointAt int64               // bytes logged by all shards at the last checkpoint; for the goroutine that writes those
	inTx         bool                // the current entry must not be ended
	still        []*Shard            // shards stopped with this one for a command; nil: none
	expired      []queue.Handle
	gathered     int                      // bytes of deliveries not yet handed to their sinks
	retired      map[*VHost]*queue.Counts // of deleted queues
}

func newShard(set *Set, id uint32) *Shard {
	sh := &Shard{
		set: set, ID: id, inbox: inbox.New[Op](), Done: make(chan struct{}),
		queues: map[uint64]*Queue{}, orders: map[*VHost]*dependency.Graph{}, consumers: map[*Client][]*Consumer{},
		insisting: map[*Queue]struct{}{},
	}
	sh.machine = shardstate.NewMachine(logBodies{sh})
	sh.facts = shardstate.NewRecorder(releasing{sh})
	if set.Traces != nil {
		sh.traces = tracing.NewTracker(set.Traces, set.Now)
	}
	sh.bodies = bodies.New(&set.Bodies, id, sh.Post)
	sh.log = shardlog.NewWriter(&set.Logs, id, sh.facts, sh.Post)
	sh.implicits.few = fewImplicit / max(set.Config.Shards, 1)
	return sh
}

// Run is the shard's goroutine. It handles what no session runs inline: ops whose senders do not
// wait, and timers.
func (sh *Shard) Run() {
	defer close(sh.Done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wake := int64(noTime)
		if sh.inbox.Enter() {
			for again := true; again; again = !sh.inbox.Rest(wake) {
				sh.round()
				wake = sh.wake()
			}
		}
		if sh.inbox.Done() {
			return
		}
		timer.Reset(sh.until(wake))
		select {
		case <-sh.inbox.Wake():
		case <-timer.C:
		}
	}
}

// Stop lets the shard finish what it has accepted, and returns once its goroutine has ended.
func (sh *Shard) Stop() {
	sh.inbox.Close()
	<-sh.Done
}

// Log returns the shard's end of the log. Its methods are for the goroutine that runs the shard.
func (sh *Shard) Log() *shardlog.Writer { return sh.log }

// Sum calls fn at the shard with a hash of the durable state and the index of the last entry,
// unless that index is but.
func (sh *Shard) Sum(but uint64, fn func(sum, last uint64)) {
	if sh.log.Log != nil {
		sh.log.Propose()
	}
	if last := sh.log.Index() - 1; last != but {
		fn(sh.machine.Hash(), last)
	}
}

// HasJust reports, at the shard, whether these are exactly its durable queues.
func (sh *Shard) HasJust(ids []uint64) bool { return sh.machine.HasJust(ids) }

// Moving reports, at the shard, whether messages are in transit to other shards.
func (sh *Shard) Moving() bool { return sh.deadBytes > 0 }

// round executes everything in the inbox, on the goroutine that runs the shard.
func (sh *Shard) round() {
	sh.ops = sh.inbox.Take(sh.ops)
	sh.drain(sh.ops)
	clear(sh.ops)
}

// until returns the time left until at (unix ms), an hour at most.
func (sh *Shard) until(at int64) time.Duration {
	if at == noTime {
		return time.Hour
	}
	wait := min(max(at-sh.set.NowMillis(), 0), time.Hour.Milliseconds())
	return time.Duration(wait) * time.Millisecond
}

// drain executes the ops, handles their consequences, and proposes the facts.
func (sh *Shard) drain(ops []Op) {
	sh.now = sh.set.NowMillis()
	sh.fireTimers() // first, so that the ops see the state at this time
	for i := range ops {
		sh.do(&ops[i])
		if len(sh.local) > 0 {
			sh.doLocal()
		}
		if len(sh.waking) > 0 {
			sh.serveAll()
		}
		if sh.log.Full() {
			sh.log.Propose()
		}
	}
	sh.lookAtImplicit()
	for len(sh.marked) > 0 {
		sh.serveAll()
		marked := sh.marked
		sh.marked = nil
		for _, q := range marked {
			q.marked = false
			sh.attend(q)
			if sh.log.Full() {
				sh.log.Propose()
			}
			if sh.gathered >= gatheredBytes {
				sh.flushDeliveries()
			}
		}
		sh.doLocal()
		if sh.marked == nil {
			clear(marked)
			sh.marked = marked[:0]
		}
	}
	sh.flushDeliveries()
	sh.log.Propose()
	sh.answers.Tell()
}

func (sh *Shard) do(o *Op) {
	if o.Consumer != nil && o.Consumer.reader != nil {
		sh.readOn(o)
		return
	}
	switch o.Kind {
	case opPublish, opPublishFront, OpServerPublish:
		sh.publish(o)
	case OpAck:
		sh.ack(o)
	case OpRequeue, OpReturn:
		sh.requeue(o)
	case OpReject:
		sh.reject(o)
	case OpKick:
		sh.kick(o.Extra.(*Client))
	case opGrant:
		o.Extra.(*dispatch.Share).Granted(int(o.N))
	case opSettle:
		o.Extra.(forwarded).finish(sh)
	case OpCall:
		o.Extra.(func())()
	case OpRun:
		o.Extra.(Runner).Run(sh)
	case OpRelease:
		sh.release(o)
	}
}

// doLocal publishes the dead letters of this shard to itself. They do not join an entry that is
// large: the log of a cluster limits the size of entries.
func (sh *Shard) doLocal() {
	for len(sh.local) > 0 {
		ops := sh.local
		sh.local = nil
		for i := range ops {
			if sh.log.Full() && !sh.inTx {
				sh.log.Propose()
			}
			sh.publish(&ops[i])
		}
	}
}

// mark makes the shard visit the queue before the round ends.
func (sh *Shard) mark(q *Queue) {
	q.changes++
	q.active = sh.now
	sh.visit(q)
}

// visit is mark for a queue that has not changed.
func (sh *Shard) visit(q *Queue) {
	if !q.marked {
		q.marked = true
		sh.marked = append(sh.marked, q)
	}
	if q.waiting.First() != nil && !q.waking {
		q.waking = true
		sh.waking = append(sh.waking, q)
	}
}

// attend finishes the work on a changed queue: it delivers, sets the timer, and bounds the memory.
func (sh *Shard) attend(q *Queue) {
	if q.gone {
		q.consumers.End()
		return
	}
	sh.dispatch(q)
	if q.Declared.Stream {
		sh.retain(q)
	}
	sh.expire(q) // messages with a TTL of 0 were for consumers with room
	if q.overfull || q.after != nil {
		q.overfull = false
		sh.dropHead(q) // blocked messages may be ready now
	}
	more := q.after != nil && q.after.Graph().Tidy()
	if f := q.feature.Load(); f != nil {
		more = f.OnRest(Context{sh, q}) || more
	}
	sh.boundMemory(q)
	sh.setTimer(q, more)
	if q.buffer != nil {
		sh.attendBuffer(q)
	}
	q.pace.Update(q.counts.Published, q.counts.HandedOut(), q.hot, q.consumers.Len() > 0 && !q.Declared.Stream)
}

// kick marks the queues that the session consumes from, starting with the one whose consumer was
// served longest ago, because the window may be full again before the last one.
func (sh *Shard) kick(from *Client) {
	byTurn := slices.SortedFunc(slices.Values(sh.consumers[from]), func(a, b *Consumer) int { return cmp.Compare(a.state.Turn(), b.state.Turn()) })
	for _, c := range byTurn {
		c.state.HasRoom()
		if c.Queue.state.Ready() > 0 {
			sh.mark(c.Queue)
		}
	}
}

// join adds a consumer to those of its session.
func (sh *Shard) join(c *Consumer) {
	mates := sh.consumers[c.client]
	if len(mates) > 0 {
		c.out = mates[0].out
	} else {
		c.out = &outbox{sink: c.client.Sink, window: &c.client.Window, late: c.client.Late}
	}
	sh.consumers[c.client] = append(mates, c)
}

// leave removes a consumer from those of its session.
func (sh *Shard) leave(c *Consumer) {
	rest := slices.DeleteFunc(sh.consumers[c.client], func(have *Consumer) bool { return have == c })
	if len(rest) == 0 {
		delete(sh.consumers, c.client)
	} else {
		sh.consumers[c.client] = rest
	}
}

// Call runs fn on the shard's goroutine and waits for it. Errors: ErrClosed.
func (sh *Shard) Call(fn func()) error {
	done := make(chan struct{})
	if !sh.Post(func() { fn(); close(done) }) {
		return failure.ErrClosed
	}
	<-done
	return nil
}

// Each runs fn for each queue, by its ID. Errors: ErrClosed.
func (sh *Shard) Each(fn func(Context)) error {
	return sh.Call(func() {
		for _, id := range slices.Sorted(maps.Keys(sh.queues)) {
			fn(Context{sh, sh.queues[id]})
		}
	})
}

// EachRetired runs fn for the counts of deleted queues, by virtual host. Errors: ErrClosed.
func (sh *Shard) EachRetired(fn func(*VHost, *queue.Counts)) error {
	return sh.Call(func() {
		for v, counts := range sh.retired {
			fn(v, counts)
		}
	})
}

// Send hands an op to the shard and never blocks. It returns false if the shard has stopped.
func (sh *Shard) Send(o Op) bool { return sh.inbox.Push(o, len(o.Env)) }

// SendBatch is Send for a slice of ops. It blocks while the inbox is full. next is the slice to
// fill next.
func (sh *Shard) SendBatch(ops []Op) (next []Op) { return sh.inbox.PushBatch(ops, messageBytes(ops)) }

// Post runs fn on the shard's goroutine without waiting. It returns false if the shard has stopped.
func (sh *Shard) Post(fn func()) bool { return sh.Send(Op{Kind: OpCall, Extra: fn}) }
