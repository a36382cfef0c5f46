package broker

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"fiveways/internal/core/dependency"
	"fiveways/internal/core/dispatch"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/core/stream"
	"fiveways/internal/core/tracing"
	"fiveways/internal/storage/store"
)

const (
	entryBytes    = 1 << 20  // an entry is proposed when it reaches this
	deliverBytes  = 64 << 10 // deliveries gathered for one consumer before its sink takes them
	gatheredBytes = 1 << 20  // and for all consumers of the shard
	maxReaders    = 32       // read-ahead buffers per shard
)

// shard owns a set of queues. Everything below done belongs to the goroutine that runs the shard:
// its own, or that of a session (inline.go).
type shard struct {
	b     *Broker
	id    uint32
	inbox *inbox
	done  chan struct{} // closed when run has returned

	ops    []op // of the round; reused
	writes bool // the goroutine that runs the shard writes the log afterwards
	owes   bool // there is something for it to write

	now       int64                // unix ms, read once per drain
	machine   *shardstate.Machine  // the durable state
	facts     *shardstate.Recorder // changes it; the entry in hand
	queues    map[uint64]*Queue
	traces    *tracing.Tracker             // nil without Options.Traces
	orders    map[*VHost]*dependency.Graph // of virtual hosts that have queues with an order here
	consumers map[*Session][]*Consumer
	timers    timers
	implicits implicits

	// The drain in hand.
	marked  []*Queue  // queues to look at before the drain ends
	waking  []*Queue  // those of them whose rows are to be served
	local   []op      // dead letters for this shard itself
	lending []*outbox // with deliveries gathered
	turns   uint64    // deliveries to consumers
	answers []answer  // publishes that need no log

	// The entry in hand.
	entry *proposal
	index uint64 // of the entry in hand

	durable durable

	scratch   shardstate.Message
	loaded    queue.Item         // the item in hand when its body came from disk
	taken     queue.Item         // the item that Context.Take gave last
	arriving  arrival            // the place of the publish in hand in the order
	taking    []*Queue           // the queues that take the publish in hand
	incoming  shardstate.Message // the publish in hand
	givenID   stream.ID          // of the publish in hand, 0-0: the stream gives one
	due       []queue.Item       // messages about to leave a relay
	promise   store.Wait         // of the publish in hand: the strictest of its targets
	duplicate bool               // of it: a durable queue has it already
	spill     spill

	hot          int64               // memory held by the queues' messages, as last seen
	deadBytes    int64               // dead letters on their way to other shards
	insisting    map[*Queue]struct{} // queues with dead letters that wait
	deadQueues   atomic.Int32        // how many
	hastening    atomic.Bool         // hastenDead is on its way
	untold       int                 // ops that offer could not hand on since it last logged that
	logged       logged
	checkpointAt int64         // Broker.logged at the last checkpoint; belongs to the goroutine that writes them
	inTx         bool          // the entry in hand must not be ended
	group        *commandGroup // whose commands are done; nil: none
	expired      []queue.Handle
	gathered     int                // bytes of deliveries not yet handed to their sinks
	readers      []*Queue           // queues with a read-ahead buffer, oldest first
	retired      map[*VHost]*Counts // of queues that are gone
}

// answer is a range of publishes of one confirmer with one outcome.
type answer struct {
	to       Confirmer
	from, up uint64
	ok       bool
}

func newShard(b *Broker, id uint32) *shard {
	sh := &shard{
		b: b, id: id, inbox: newInbox(), done: make(chan struct{}),
		queues: map[uint64]*Queue{}, orders: map[*VHost]*dependency.Graph{}, consumers: map[*Session][]*Consumer{},
		insisting: map[*Queue]struct{}{}, index: 1,
	}
	sh.machine = shardstate.NewMachine(logBodies{sh})
	sh.facts = shardstate.NewRecorder(releasing{sh})
	if b.opts.Traces != nil {
		sh.traces = tracing.NewTracker(b.opts.Traces, b.opts.Now)
	}
	sh.entry = newProposal(sh)
	sh.facts.Begin(sh.index, nil)
	sh.implicits.few = fewImplicit / max(b.opts.Shards, 1)
	return sh
}

// run is the shard's goroutine. It does what no session runs inline: ops whose senders do not wait,
// and timers.
func (sh *shard) run() {
	defer close(sh.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wake := int64(noTime)
		if sh.inbox.enter() {
			for again := true; again; again = !sh.inbox.rest(wake) {
				sh.round()
				wake = sh.wake()
			}
		}
		if sh.stopped() {
			return
		}
		timer.Reset(sh.until(wake))
		select {
		case <-sh.inbox.wake:
		case <-timer.C:
		}
	}
}

// round does all that has gathered, on the goroutine that runs the shard.
func (sh *shard) round() {
	sh.ops = sh.inbox.take(sh.ops)
	sh.drain(sh.ops)
	clear(sh.ops)
}

func (sh *shard) stopped() bool {
	sh.inbox.mu.Lock()
	defer sh.inbox.mu.Unlock()
	return sh.inbox.shut && len(sh.inbox.ops) == 0 && !sh.inbox.taken
}

// until is the time left until at (unix ms), an hour at most.
func (sh *shard) until(at int64) time.Duration {
	if at == noTime {
		return time.Hour
	}
	wait := min(max(at-sh.b.nowMillis(), 0), time.Hour.Milliseconds())
	return time.Duration(wait) * time.Millisecond
}

// drain does the ops and all that follows from them, and proposes what is to be recorded.
func (sh *shard) drain(ops []op) {
	sh.now = sh.b.nowMillis()
	sh.fireTimers() // first: the ops are to see the state at this time
	for i := range ops {
		sh.do(&ops[i])
		if len(sh.local) > 0 {
			sh.doLocal()
		}
		if len(sh.waking) > 0 {
			sh.serveAll()
		}
		if sh.facts.Len() >= entryBytes {
			sh.propose()
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
			if sh.facts.Len() >= entryBytes {
				sh.propose()
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
	sh.propose()
	sh.flushAnswers()
}

func (sh *shard) do(o *op) {
	switch o.kind {
	case opPublish, opPublishFront:
		sh.publish(o)
	case opServerPublish:
		sh.serverPublish(o)
	case opAck:
		sh.ack(o)
	case opRequeue, opReturn:
		sh.requeue(o)
	case opReject:
		sh.reject(o)
	case opTx:
		o.extra.(*txPart).run(sh)
	case opKick:
		sh.kick(o.extra.(*Session))
	case opGrant:
		o.extra.(*dispatch.Share).Granted(int(o.n))
	case opSettle:
		o.extra.(forwarded).finish(sh)
	case opCall:
		o.extra.(func())()
	case opRun:
		o.extra.(*lone).run(sh)
	case opRelease:
		sh.release(o)
	case opTrip:
		o.extra.(*trip).run(sh)
	case opGroup:
		o.extra.(*commandGroup).run(sh)
	}
}

// doLocal publishes the dead letters that this shard made for itself.
func (sh *shard) doLocal() {
	for len(sh.local) > 0 {
		ops := sh.local
		sh.local = nil
		for i := range ops {
			sh.publish(&ops[i])
			if sh.facts.Len() >= entryBytes && !sh.inTx {
				sh.propose()
			}
		}
	}
}

// mark has the queue looked at before the drain ends.
func (sh *shard) mark(q *Queue) {
	q.changes++
	q.active = sh.now
	if !q.marked {
		q.marked = true
		sh.marked = append(sh.marked, q)
	}
	if q.waiting.first != nil && !q.waking {
		q.waking = true
		sh.waking = append(sh.waking, q)
	}
}

// attend brings a queue to rest: it delivers, sets the timer and bounds the memory.
func (sh *shard) attend(q *Queue) {
	if q.gone {
		q.consumers.End()
		return
	}
	sh.dispatch(q)
	sh.expire(q) // what has a TTL of 0 was for consumers with room
	if q.after != nil {
		sh.dropHead(q) // what was blocked may be ready now
		q.after.Graph().Tidy()
	}
	if f := q.feature.Load(); f != nil {
		f.OnRest(Context{sh, q})
	}
	sh.setTimer(q)
	if q.relay != nil {
		sh.attendRelay(q)
	}
	sh.boundMemory(q)
	q.pace.update(q)
}

// kick marks the queues that the session consumes from, first the one whose consumer was served
// longest ago: the window may be full again before the last.
func (sh *shard) kick(s *Session) {
	byTurn := slices.SortedFunc(slices.Values(sh.consumers[s]), func(a, b *Consumer) int { return cmp.Compare(a.state.Turn(), b.state.Turn()) })
	for _, c := range byTurn {
		c.state.HasRoom()
		if c.Queue.state.Ready() > 0 {
			sh.mark(c.Queue)
		}
	}
}

// join adds a consumer to those of its session.
func (sh *shard) join(c *Consumer) {
	mates := sh.consumers[c.session]
	if len(mates) > 0 {
		c.out = mates[0].out
	} else {
		c.out = &outbox{sink: c.session.sink, window: &c.session.window, late: c.session.late}
	}
	sh.consumers[c.session] = append(mates, c)
}

// leave removes a consumer from those of its session.
func (sh *shard) leave(c *Consumer) {
	rest := slices.DeleteFunc(sh.consumers[c.session], func(have *Consumer) bool { return have == c })
	if len(rest) == 0 {
		delete(sh.consumers, c.session)
	} else {
		sh.consumers[c.session] = rest
	}
}

// call runs fn on the shard's goroutine and waits for it. Errors: ErrClosed.
func (sh *shard) call(fn func()) error {
	done := make(chan struct{})
	if !sh.inbox.push([]op{{kind: opCall, extra: func() { fn(); close(done) }}}, false) {
		return ErrClosed
	}
	<-done
	return nil
}

// post runs fn on the shard's goroutine and does not wait for it.
func (sh *shard) post(fn func()) { sh.inbox.push([]op{{kind: opCall, extra: fn}}, false) }

func (sh *shard) answer(to Confirmer, seq uint64, ok bool) {
	if n := len(sh.answers); n > 0 {
		if a := &sh.answers[n-1]; a.to == to && a.ok == ok && a.up+1 == seq {
			a.up = seq
			return
		}
	}
	sh.answers = append(sh.answers, answer{to, seq, seq, ok})
}

func (sh *shard) flushAnswers() {
	for i := range sh.answers {
		a := &sh.answers[i]
		a.to.Confirmed(a.from, a.up, a.ok)
	}
	clear(sh.answers)
	sh.answers = sh.answers[:0]
}

// bodyOf finds the message in a fact, decoding into m.
func bodyOf(fact []byte, m *shardstate.Message) (message.Envelope, error) {
	if err := m.Decode(fact); err != nil {
		return nil, err
	}
	return m.Env, nil
}

// load returns the item's message, which it reads when only the disk has it.
func (sh *shard) load(q *Queue, it *queue.Item) (message.Envelope, error) {
	if it.Env != nil {
		return it.Env, nil
	}
	var fact []byte
	var err error
	if it.Flags&queue.Scratch != 0 {
		fact, err = sh.readSpilled(q, it)
	} else {
		if q.reader == nil {
			sh.openReader(q)
		}
		fact, err = q.reader.Read(it.Index, it.Sub)
	}
	if err != nil {
		return nil, err
	}
	return bodyOf(fact, &sh.scratch)
}

// loadAside is load for a message out of order. It leaves the queue's read-ahead where it is.
func (sh *shard) loadAside(it *queue.Item) (message.Envelope, error) {
	at := store.Pos{Shard: sh.id, Index: it.Index, Sub: it.Sub}
	var fact []byte
	var err error
	switch data, ok := sh.spill.pending[it.Index]; {
	case it.Flags&queue.Scratch == 0:
		fact, err = sh.b.store.Body(at, nil)
	case ok:
		fact, err = shardstate.NthFact(data, it.Sub)
	default:
		fact, err = sh.b.scratch.Body(at, nil)
	}
	if err != nil {
		return nil, err
	}
	return bodyOf(fact, &sh.scratch)
}

// openReader gives the queue a read-ahead buffer. The queue with the oldest one loses that when
// there are too many.
func (sh *shard) openReader(q *Queue) {
	if len(sh.readers) == maxReaders {
		sh.readers[0].reader = nil
		sh.readers = slices.Delete(sh.readers, 0, 1)
	}
	q.reader = sh.b.store.NewReader(sh.id)
	sh.readers = append(sh.readers, q)
}

// closeReader drops the buffer.
func (sh *shard) closeReader(q *Queue) {
	if q.reader != nil {
		q.reader = nil
		sh.readers = slices.DeleteFunc(sh.readers, func(have *Queue) bool { return have == q })
	}
}
