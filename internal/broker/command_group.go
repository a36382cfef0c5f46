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
		if !errors.Is(err, ErrFindAgain) {
			return err
		}
		s.b.journal.Settle()
	}
}

func (s *Session) tryAll(commands []Command, last bool) error {
	var shards []*shard
	add := func(sh *shard) {
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
			add(o.queue.shard)
		}
		if sp, ok := c.(spanning); ok {
			sp.Others(func(q *Queue) { add(q.shard) })
		}
	}
	s.holdBack()
	if len(shards) > 0 {
		g := &commandGroup{b: s.b, want: len(shards), last: last, commands: found, result: make(chan error, 1)}
		g.cond = sync.NewCond(&g.mu)
		if err := g.do(s, shards); err != nil {
			return err
		}
	} else if ps := piggybacksOf(found); len(ps) > 0 {
		if err := ps.record(s.b); err != nil {
			return err
		}
	}
	for _, c := range found {
		if o := c.on(); errors.Is(o.Err, ErrFindAgain) {
			o.Err = s.noQueue(o.Queue)
		}
	}
	return nil
}

// commandGroup is commands over any number of shards that are done at one moment. Each shard stops
// when it comes to the group. The last one does all the commands, for all shards, and hands the
// entries of all to the log as one atomic group; then the shards go on. They cannot deadlock,
// because all shards see command groups and transactions in one order.
type commandGroup struct {
	b          *Broker
	want       int
	last       bool // it is done also when the queue of a command is gone
	commands   []Command
	publishes  []*ServerPublish   // of those that were done: they come last
	piggybacks piggybacks         // and these
	machines   statemachine.Hosts // of the piggybacks
	loads      loads              // of those that must be done
	result     chan error         // 1 slot

	mu     sync.Mutex
	cond   *sync.Cond
	here   []*shard // that have stopped
	over   bool
	waking []*Queue // queues whose rows are to be served
}

// do hands the group to the shards, and waits until what was done is durable.
func (g *commandGroup) do(s *Session, shards []*shard) error {
	owes, ok := s.submitAll(len(shards), func(i int) (*shard, op) { return shards[i], op{kind: opGroup, extra: g} })
	if !ok {
		g.cancel()
		return ErrClosed
	}
	if owes {
		g.b.commit()
		g.machines.Visit()
	}
	return <-g.result
}

// submitAll hands ops to n shards that wait for each other. All shards see such ops in one order,
// so that they cannot deadlock. With one shard it is submit. ok is false when a shard has stopped.
func (s *Session) submitAll(n int, to func(i int) (*shard, op)) (owes, ok bool) {
	if n == 1 {
		sh, o := to(0)
		return sh.submit(s, o, true)
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

// cancel lets the shards that have stopped go on: the commands are not done.
func (g *commandGroup) cancel() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.cond.Broadcast()
}

// run stops a shard until the commands are done.
func (g *commandGroup) run(sh *shard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.here = append(g.here, sh)
	if len(g.here) == g.want && !g.over {
		g.perform()
		g.over = true
		g.cond.Broadcast()
	}
	for !g.over {
		g.cond.Wait()
	}
}

// perform does the commands while all shards are stopped.
func (g *commandGroup) perform() {
	if !g.last && g.anyGone() {
		g.result <- ErrFindAgain
		return
	}
	if err := g.refused(); err != nil {
		g.result <- err
		return
	}
	for _, sh := range g.here {
		sh.propose() // what came before is an entry of its own
		sh.inTx, sh.group = true, g
	}
	for _, c := range g.commands {
		if g.full() && demandingOf(c) == nil { // those that must be done were counted before
			c.on().Err = &Error{Err: ErrTooLarge, Kind: "transaction"}
			continue
		}
		switch c := c.(type) {
		case *PiggybackedEntry:
			g.piggybacks = append(g.piggybacks, c)
			continue
		case *ServerPublish:
			g.publishes = append(g.publishes, c)
			continue
		}
		c.on().queue.shard.runCommand(c)
		g.settleDown()
		if unmet(c) {
			break
		}
	}
	for _, e := range g.publishes {
		e.publish()
		g.settleDown()
	}
	for i := 0; i < len(g.waking); i++ {
		q := g.waking[i]
		if g.full() {
			q.shard.waking = append(q.shard.waking, q) // its shard serves them when it goes on
			continue
		}
		q.shard.serveWaiting(q)
		g.settleDown()
	}
	var entries []store.Entry
	var dones []func(error)
	for _, sh := range g.here {
		sh.inTx, sh.group = false, nil
		pr := sh.entry
		if sh.facts.Empty() {
			continue
		}
		pr.wait = max(pr.wait, g.b.opts.Sync.Wait())
		dones = append(dones, pr.finished)
		entries = append(entries, sh.seal())
	}
	g.machines = g.b.machines.With(g.piggybacks.entries())
	g.here[0].proposeGroup(idsOf(g.here), entries, dones, g.piggybacks, func(err error) { g.result <- err })
}

// refused returns why a command that must be done cannot be.
func (g *commandGroup) refused() error {
	for _, c := range g.commands {
		d := demandingOf(c)
		if d == nil {
			continue
		}
		err := d.refused(g)
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

// full reports whether the group of the log is so large that no command may add to it: a short
// command can move many bytes.
func (g *commandGroup) full() bool {
	n := 0
	for _, sh := range g.here {
		n += sh.facts.Len()
	}
	return n > g.b.groupBytes
}

// anyGone reports whether a queue of a command was deleted.
func (g *commandGroup) anyGone() (gone bool) {
	for _, c := range g.commands {
		q := c.on().queue
		gone = gone || q != nil && q.gone
		if sp, ok := c.(spanning); ok {
			sp.Others(func(q *Queue) { gone = gone || q.gone })
		}
	}
	return gone
}

// settleDown does what follows from a command, and notes the queues whose rows are to be served:
// the queue where something came first is served first.
func (g *commandGroup) settleDown() {
	for _, sh := range g.here {
		sh.doLocal()
		g.waking = append(g.waking, sh.waking...)
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

// proposeGroup hands what stopped shards have sealed to the log as one group, with entries of state
// machines, by way of one of the shards. It calls the dones when the group is durable, and done
// when the state machines have applied their entries, too; without any entry it calls done when
// what the shards appended before is durable.
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
