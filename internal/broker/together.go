package broker

import (
	"errors"
	"slices"
	"sync"

	"fiveways/internal/core/failure"
	"fiveways/internal/statemachine"
	"fiveways/internal/storage/store"
)

// spanning is a command about other queues, too. When one is on another shard, all their shards
// must stand still for it.
type spanning interface {
	Command
	// Others calls fn with each of these queues, once find went well.
	Others(fn func(*Queue))
}

// crosses reports whether a command that was found is about more than one shard.
func crosses(c Command) (yes bool) {
	if c.on().queue == nil {
		return true // an entry of a state machine or a ServerPublish: all of the log that it is with is one group
	}
	if sp, ok := c.(spanning); ok {
		sh := c.on().queue.shard
		sp.Others(func(q *Queue) { yes = yes || q.shard != sh })
	}
	return yes
}

// DoAll does commands as Do does, but all of them at one moment: nothing happens to their queues in
// between, each sees what those before it did, and after a crash all of that is there or nothing.
// One that fails does not stop or undo the others, except that an Unchanged that does not hold
// stops those behind it, and that nothing of all is done when there is one that must be and cannot:
// then DoAll returns its error. The commands need not be about one shard. Those that come when the
// ones before have made the group of the log as large as it may be get ErrTooLarge, unless they
// must be done: of those it is known before.
func (s *Session) DoAll(commands ...Command) error {
	s.Flush()
	if err := s.awaitRates(commands); err != nil {
		return err
	}
	if err := s.doAll(commands...); err != nil {
		return err
	}
	s.finishAll(commands)
	return nil
}

// doAll does the commands; when a queue was deleted between find and the moment at which they are
// done, nothing was, and it begins again.
func (s *Session) doAll(commands ...Command) error {
	for n := 1; ; n++ {
		err := s.tryAll(commands, n == goneTries)
		if !errors.Is(err, FindAgain) {
			return err
		}
		s.b.journal.Settle()
	}
}

func (s *Session) tryAll(commands []Command, last bool) error {
	var shards []*shard
	meet := func(sh *shard) {
		if !slices.Contains(shards, sh) {
			shards = append(shards, sh)
		}
	}
	found := make([]Command, 0, len(commands))
	size := 0
	for _, c := range commands {
		o := c.on()
		s.find(c) //nolint:errcheck // it is o.Err
		d := demandingOf(c)
		if o.Err != nil {
			if d != nil {
				return o.Err
			}
			if unmet(c) {
				break
			}
			continue
		}
		found = append(found, c)
		if d != nil {
			if size += d.size(); size > s.b.groupBytes {
				return &Error{Err: ErrTooLarge, Kind: "transaction"}
			}
		}
		if o.queue != nil {
			meet(o.queue.shard)
		}
		if sp, ok := c.(spanning); ok {
			sp.Others(func(q *Queue) { meet(q.shard) })
		}
	}
	s.holdBack()
	if len(shards) > 0 {
		m := &meeting{b: s.b, want: len(shards), last: last, commands: found, result: make(chan error, 1)}
		m.cond = sync.NewCond(&m.mu)
		if err := m.call(s, shards); err != nil {
			return err
		}
	} else if ps := piggybacksOf(found); len(ps) > 0 {
		if err := ps.record(s.b); err != nil {
			return err
		}
	}
	for _, c := range found {
		if o := c.on(); errors.Is(o.Err, FindAgain) {
			o.Err = s.noQueue(o.Queue)
		}
	}
	return nil
}

// meeting is where the shards of commands that are done at one moment stand still. The last to
// arrive does all of the commands, for all of them, and hands the entries of all to the log as one
// atomic group; then they go on. They cannot wait for each other in a circle, for all shards see
// meetings and transactions in one order.
type meeting struct {
	b          *Broker
	want       int
	last       bool // it takes place also when the queue of a command is gone
	commands   []Command
	publishes  []*ServerPublish   // of those that were done: they come last
	piggybacks piggybacks         // and these
	machines   statemachine.Hosts // of the piggybacks
	loads      loads              // of those that must be done
	result     chan error         // 1 slot

	mu     sync.Mutex
	cond   *sync.Cond
	here   []*shard
	over   bool
	waking []*Queue // queues whose rows are to be served
}

// call has the shards meet, and waits until what was done is durable.
func (m *meeting) call(s *Session, shards []*shard) error {
	owes, ok := s.convene(len(shards), func(i int) (*shard, op) { return shards[i], op{kind: opMeet, extra: m} })
	if !ok {
		m.leave()
		return ErrClosed
	}
	if owes {
		m.b.commit()
		m.machines.Visit()
	}
	return <-m.result
}

// convene hands ops to n shards that will wait for each other there. All shards see such ops in one
// order, so that they cannot wait in a circle. It is as visit when there is one shard; ok is false
// when one has stopped.
func (s *Session) convene(n int, to func(i int) (*shard, op)) (owes, ok bool) {
	if n == 1 {
		sh, o := to(0)
		return sh.visit(s, o, true)
	}
	s.b.txMu.Lock()
	defer s.b.txMu.Unlock()
	for i := range n {
		if sh, o := to(i); !sh.inbox.push([]op{o}, false) {
			return false, false
		}
	}
	return false, true
}

// leave lets those go on who have arrived: the meeting does not take place.
func (m *meeting) leave() {
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	m.cond.Broadcast()
}

// run is a shard's arrival.
func (m *meeting) run(sh *shard) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.here = append(m.here, sh)
	if len(m.here) == m.want && !m.over {
		m.perform()
		m.over = true
		m.cond.Broadcast()
	}
	for !m.over {
		m.cond.Wait()
	}
}

// perform does the commands while all shards stand still.
func (m *meeting) perform() {
	if !m.last && m.anyGone() {
		m.result <- FindAgain
		return
	}
	if err := m.refused(); err != nil {
		m.result <- err
		return
	}
	for _, sh := range m.here {
		sh.propose() // what came before is an entry of its own
		sh.inTx, sh.meeting = true, m
	}
	for _, c := range m.commands {
		if m.full() && demandingOf(c) == nil { // of those that must be done it is known that the log takes them
			c.on().Err = &Error{Err: ErrTooLarge, Kind: "transaction"}
			continue
		}
		switch c := c.(type) {
		case *PiggybackedEntry:
			m.piggybacks = append(m.piggybacks, c)
			continue
		case *ServerPublish:
			m.publishes = append(m.publishes, c)
			continue
		}
		c.on().queue.shard.runCommand(c)
		m.settleDown()
		if unmet(c) {
			break
		}
	}
	for _, e := range m.publishes {
		e.publish()
		m.settleDown()
	}
	for i := 0; i < len(m.waking); i++ {
		q := m.waking[i]
		if m.full() {
			q.shard.waking = append(q.shard.waking, q) // its shard serves them when it goes on
			continue
		}
		q.shard.serveWaiting(q)
		m.settleDown()
	}
	var entries []store.Entry
	var dones []func(error)
	for _, sh := range m.here {
		sh.inTx, sh.meeting = false, nil
		pr := sh.entry
		if sh.facts.Empty() {
			continue
		}
		pr.wait = max(pr.wait, m.b.opts.Sync.Wait())
		dones = append(dones, pr.finished)
		entries = append(entries, sh.seal())
	}
	m.machines = m.b.machines.With(m.piggybacks.entries())
	m.here[0].proposeGroup(idsOf(m.here), entries, dones, m.piggybacks, func(err error) { m.result <- err })
}

// refused tells why a command that must be done cannot be.
func (m *meeting) refused() error {
	for _, c := range m.commands {
		d := demandingOf(c)
		if d == nil {
			continue
		}
		err := d.refused(m)
		if q := c.on().queue; q != nil && q.gone {
			err = &Error{Err: ErrQueueNotFound, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
		}
		if err != nil {
			c.on().Err = err
			return err
		}
	}
	return nil
}

// full reports whether the group of the log is so large that no command may add to it: few bytes of
// a client can move many.
func (m *meeting) full() bool {
	n := 0
	for _, sh := range m.here {
		n += sh.facts.Len()
	}
	return n > m.b.groupBytes
}

// anyGone reports whether a queue that a command is about was deleted.
func (m *meeting) anyGone() (gone bool) {
	for _, c := range m.commands {
		q := c.on().queue
		gone = gone || q != nil && q.gone
		if sp, ok := c.(spanning); ok {
			sp.Others(func(q *Queue) { gone = gone || q.gone })
		}
	}
	return gone
}

// settleDown does what follows from a command, and notes where somebody waits: the queue where
// something came first is served first.
func (m *meeting) settleDown() {
	for _, sh := range m.here {
		sh.doLocal()
		m.waking = append(m.waking, sh.waking...)
		clear(sh.waking)
		sh.waking = sh.waking[:0]
	}
}

func idsOf(shards []*shard) (ids []uint32) {
	for _, sh := range shards {
		ids = append(ids, sh.id)
	}
	return ids
}

// proposeGroup hands what shards that stand still have sealed to the log as one group, with entries
// of state machines, by way of one of them. It calls the dones when the group is durable, and done
// when the state machines have applied theirs, too; without any entry when what the shards appended
// before is durable.
func (sh *shard) proposeGroup(shards []uint32, entries []store.Entry, dones []func(error), ps piggybacks, done func(error)) {
	durable := func(err error) {
		for _, tell := range dones {
			tell(err)
		}
	}
	finished := func(err error) {
		durable(err)
		if err != nil {
			err = failure.LogFailed("transaction", err)
		}
		done(err)
	}
	switch {
	case len(ps) > 0:
		if !ps.append(sh.b, entries, sh.log, durable, done) {
			durable(ErrClosed)
			done(ErrClosed)
		}
	case len(entries) == 0:
		sh.b.wal.Barrier(shards, sh.b.opts.Sync.Wait(), finished)
	default:
		sh.log(entries, finished)
	}
}
