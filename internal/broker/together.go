package broker

import (
	"errors"
	"slices"
	"sync"

	"fiveways/internal/storage/store"
)

// spanning is a command about other queues, too. When one is on another shard, all their shards must stand still for it.
type spanning interface {
	Command
	// others calls fn with each of these queues, once find went well.
	others(fn func(*Queue))
}

// crosses tells whether a command that was found is about more than one shard.
func crosses(c Command) (yes bool) {
	if c.on().queue == nil {
		return true // a Note or an Emit: all of the log that it is with is one group
	}
	if sp, ok := c.(spanning); ok {
		sh := c.on().queue.shard
		sp.others(func(q *Queue) { yes = yes || q.shard != sh })
	}
	return yes
}

// DoAll does commands as Do does, but all of them at one moment: nothing happens to their queues in between, each sees what those before it did,
// and after a crash all of that is there or nothing. One that fails does not stop or undo the others, except that an
// Unchanged or a Held that does not hold stops those behind it, and that nothing of all is done when there is one that must be and cannot: then
// DoAll returns its error. The commands need not be about one shard. Those that come when the ones before have made the
// group of the log as large as it may be get ErrTooLarge, unless they must be done: of those it is known before.
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

// doAll does the commands; when a queue was deleted between find and the moment at which they are done, nothing was, and it begins again.
func (s *Session) doAll(commands ...Command) error {
	for n := 1; ; n++ {
		err := s.tryAll(commands, n == goneTries)
		if !errors.Is(err, errGoneMeanwhile) {
			return err
		}
		s.b.catalog.settle()
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
		o.queue, o.Err = c.find(s)
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
			sp.others(func(q *Queue) { meet(q.shard) })
		}
	}
	s.holdBack()
	if len(shards) > 0 {
		m := &meeting{b: s.b, want: len(shards), last: last, commands: found, result: make(chan error, 1)}
		m.cond = sync.NewCond(&m.mu)
		if err := m.call(s, shards); err != nil {
			return err
		}
	} else if notes := notesOf(found); len(notes) > 0 {
		if err := s.b.recordNotes(notes); err != nil {
			return err
		}
	}
	for _, c := range found {
		if o := c.on(); errors.Is(o.Err, errGoneMeanwhile) {
			o.Err = s.noQueue(o.Queue)
		}
	}
	return nil
}

// meeting is where the shards of commands that are done at one moment stand still. The last to arrive does all of the commands, for all of them, and
// hands the entries of all to the log as one atomic group; then they go on. They cannot wait for each other in a circle, for all shards see
// meetings and transactions in one order.
type meeting struct {
	b        *Broker
	want     int
	last     bool // it takes place also when the queue of a command is gone
	commands []Command
	emits    []*Emit    // of those that were done: they come last
	notes    []*Note    // and these
	annexes  []*annex   // of the notes
	loads    loads      // of those that must be done
	result   chan error // 1 slot

	mu     sync.Mutex
	cond   *sync.Cond
	here   []*shard
	over   bool
	waking []*Queue // where somebody waits and something has happened
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
		visitAll(m.annexes)
	}
	return <-m.result
}

// convene hands ops to n shards that will wait for each other there. All shards see such ops in one order, so that they cannot wait in a circle. It is
// as visit when there is one shard; ok is false when one has stopped.
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
		m.result <- errGoneMeanwhile
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
		case *Note:
			m.notes = append(m.notes, c)
			continue
		case *Emit:
			m.emits = append(m.emits, c)
			continue
		}
		c.on().queue.shard.runCommand(c)
		m.settleDown()
		if unmet(c) {
			break
		}
	}
	for _, e := range m.emits {
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
		if len(pr.data) == 0 && len(pr.settled) == 0 {
			continue
		}
		pr.wait = max(pr.wait, m.b.opts.Sync.Wait())
		dones = append(dones, pr.finished)
		entries = append(entries, sh.seal())
	}
	m.annexes = m.b.annexesOf(m.notes)
	m.here[0].proposeGroup(entries, dones, m.notes, func(err error) { m.result <- err })
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

// notesOf returns the notes among commands.
func notesOf(commands []Command) (notes []*Note) {
	for _, c := range commands {
		if n, ok := c.(*Note); ok {
			notes = append(notes, n)
		}
	}
	return notes
}

// full tells whether the group of the log is so large that no command may add to it: few bytes of a client can move many.
func (m *meeting) full() bool {
	n := 0
	for _, sh := range m.here {
		n += len(sh.entry.data)
	}
	return n > m.b.groupBytes
}

// standsStill tells whether a shard that runs a command may touch another one.
func (sh *shard) standsStill(other *shard) bool {
	return sh == other || sh.meeting != nil && slices.Contains(sh.meeting.here, other)
}

// anyGone tells whether a queue that a command is about was deleted.
func (m *meeting) anyGone() (gone bool) {
	for _, c := range m.commands {
		q := c.on().queue
		gone = gone || q != nil && q.gone
		if sp, ok := c.(spanning); ok {
			sp.others(func(q *Queue) { gone = gone || q.gone })
		}
	}
	return gone
}

// settleDown does what follows from a command, and notes where somebody waits: the queue where something came first is served first.
func (m *meeting) settleDown() {
	for _, sh := range m.here {
		sh.doLocal()
		m.waking = append(m.waking, sh.waking...)
		clear(sh.waking)
		sh.waking = sh.waking[:0]
	}
}

// proposeGroup hands what shards that stand still have sealed to the log as one group, with notes, by way of one of them. dones are told when it is
// durable, done when the notes are applied, too.
func (sh *shard) proposeGroup(entries []store.Entry, dones []func(error), notes []*Note, done func(error)) {
	durable := func(err error) {
		for _, tell := range dones {
			tell(err)
		}
	}
	switch {
	case len(notes) > 0:
		if !sh.b.appendNotes(entries, notes, sh.log, durable, done) {
			durable(ErrClosed)
			done(ErrClosed)
		}
	case len(entries) == 0:
		done(nil)
	default:
		sh.log(entries, func(err error) {
			durable(err)
			if err != nil {
				err = logFailed("transaction", err)
			}
			done(err)
		})
	}
}
