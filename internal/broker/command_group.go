package broker

import (
	"errors"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
)

// spanning is a command that also needs other queues. If one of them is on another shard, all the
// shards must stop for it.
type spanning interface {
	Command
	// Others appends these queues to dst, after find has succeeded.
	Others(dst []*shard.Queue) []*shard.Queue
}

// crosses reports whether a command, whose find has succeeded, needs more than one shard.
func crosses(c Command) bool {
	if c.on().queue == nil {
		return true // a state machine's entry, or a ServerPublish: the whole DoAll is one group of the log
	}
	if sp, ok := c.(spanning); ok {
		sh := c.on().queue.Home()
		return slices.ContainsFunc(sp.Others(nil), func(q *shard.Queue) bool { return q.Home() != sh })
	}
	return false
}

// DoAll executes commands like Do, but atomically, on any shards: nothing else happens to their
// queues in between, each command sees the changes of those before it, and after a crash either all
// changes exist or none. A command that fails does not stop or undo the others, with two
// exceptions: an unmet Unchanged stops the commands after it, and if a required command cannot be
// executed (demanding), none is, and DoAll returns its error. Once the group of the log has its
// maximum size, further commands get ErrTooLarge; required ones are counted beforehand.
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

// doAll executes the commands. If a queue was deleted between find and execution, no command was
// executed, and doAll starts over.
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
	var shards []*shard.Shard
	add := func(sh *shard.Shard) {
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
				return &failure.Error{Err: failure.ErrTooLarge, Kind: "transaction"}
			}
		}
		if o.queue != nil {
			add(o.queue.Home())
		}
		if sp, ok := c.(spanning); ok {
			for _, q := range sp.Others(nil) {
				add(q.Home())
			}
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
			o.Err = s.NoQueue(o.Queue)
		}
	}
	return nil
}

// commandGroup is a set of commands on any number of shards that are executed at one moment. Each
// shard stops when it reaches the group. The last one to stop executes all the commands, for all
// shards, and hands the entries of all to the log as one atomic group. Then the shards continue.
// They cannot deadlock, because all shards see command groups and transactions in one order.
type commandGroup struct {
	b          *Broker
	want       int
	last       bool // execute even if the queue of a command is gone
	commands   []Command
	publishes  []*ServerPublish   // those that are executed, after the commands
	piggybacks piggybacks         // as publishes
	machines   statemachine.Hosts // likewise
	loads      shard.Room         // of the required commands
	result     chan error         // 1 slot

	mu     sync.Mutex
	cond   *sync.Cond
	here   []*shard.Shard // those that have stopped
	over   bool
	waking []*shard.Queue // queues whose waiting calls must be served
}

// do hands the group to the shards, and waits until its changes are durable.
func (g *commandGroup) do(s *Session, shards []*shard.Shard) error {
	owes, ok := s.submitAll(len(shards), func(i int) (*shard.Shard, shard.Op) { return shards[i], shard.Op{Kind: shard.OpRun, Extra: g} })
	if !ok {
		g.cancel()
		return failure.ErrClosed
	}
	if owes {
		g.b.set.Commit()
		g.machines.Visit()
	}
	return <-g.result
}

// submitAll hands ops to n shards that wait for each other. All shards see such ops in one order,
// so they cannot deadlock. With one shard it is submit. ok is false if a shard has stopped.
func (s *Session) submitAll(n int, to func(i int) (*shard.Shard, shard.Op)) (owes, ok bool) {
	if n == 1 {
		sh, o := to(0)
		return sh.Submit(&s.client, o, true)
	}
	s.b.txMu.Lock()
	defer s.b.txMu.Unlock()
	for i := range n {
		if sh, o := to(i); !sh.Send(o) {
			return false, false
		}
	}
	return false, true
}

// cancel lets the stopped shards continue without executing the commands.
func (g *commandGroup) cancel() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.cond.Broadcast()
}

// Run stops a shard until the commands have been executed.
func (g *commandGroup) Run(sh *shard.Shard) {
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

// perform executes the commands while all shards are stopped.
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
		sh.BeginPart(g.here)
	}
	for _, c := range g.commands {
		if g.full() && demandingOf(c) == nil { // required commands were counted before
			c.on().Err = &failure.Error{Err: failure.ErrTooLarge, Kind: "transaction"}
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
		runCommand(c)
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
			q.Home().ServeLater(q)
			continue
		}
		q.Home().ServeWaiting(q)
		g.settleDown()
	}
	var entries []store.Entry
	var dones []func(error)
	for _, sh := range g.here {
		if e, done := sh.EndPart(); done != nil {
			entries, dones = append(entries, e), append(dones, done)
		}
	}
	g.machines = g.b.machines.With(g.piggybacks.entries())
	g.b.proposeGroup(g.here[0], idsOf(g.here), entries, dones, g.piggybacks, func(err error) { g.result <- err })
}

// refused returns why a required command cannot be executed.
func (g *commandGroup) refused() error {
	for _, c := range g.commands {
		d := demandingOf(c)
		if d == nil {
			continue
		}
		err := d.refused(g)
		if q := c.on().queue; q != nil && shard.ContextOf(q).Gone() {
			err = q.Fail(failure.ErrQueueNotFound)
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
		n += sh.Log().Size()
	}
	return n > g.b.groupBytes
}

// anyGone reports whether the queue of a command was deleted.
func (g *commandGroup) anyGone() (gone bool) {
	for _, c := range g.commands {
		q := c.on().queue
		gone = gone || q != nil && shard.ContextOf(q).Gone()
		if sp, ok := c.(spanning); ok {
			gone = gone || slices.ContainsFunc(sp.Others(nil), func(q *shard.Queue) bool { return shard.ContextOf(q).Gone() })
		}
	}
	return gone
}

// settleDown handles the consequences of a command, and collects the queues whose waiting calls
// must be served, in the order in which they got messages.
func (g *commandGroup) settleDown() {
	for _, sh := range g.here {
		g.waking = sh.SettleLater(g.waking)
	}
}

func idsOf(shards []*shard.Shard) (ids []uint32) {
	for _, sh := range shards {
		ids = append(ids, sh.ID)
	}
	return ids
}

// proposeGroup hands the sealed entries of stopped shards to the log as one group, together with
// entries of state machines, through one of the shards. It calls the dones once the group is
// durable, and done once the state machines have also applied their entries. Without any entry it
// calls done once everything that the shards appended before is durable.
func (b *Broker) proposeGroup(sh *shard.Shard, shards []uint32, entries []store.Entry, dones []func(error), ps piggybacks, done func(error)) {
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
		if !ps.append(b, entries, sh.Log().Append, durable, done) {
			durable(failure.ErrClosed)
			done(failure.ErrClosed)
		}
	case len(entries) == 0:
		b.set.Log.Barrier(shards, b.set.Sync.Wait(), finished)
	default:
		sh.Log().Append(entries, finished)
	}
}
