package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Command is an operation of a session on one queue, with its arguments and results. Types that
// embed OnQueue implement it. A command may be in only one call of Session.Do at a time. It may be
// reused.
type Command interface {
	// on returns the command's OnQueue.
	on() *OnQueue
	// Failure returns the Err of its OnQueue.
	Failure() error
	// Find checks permissions and finds or creates the queue. It runs on the caller's goroutine.
	Find(f Finder) (*shard.Queue, error)
	// Run executes the command on the goroutine of the queue's shard. The queue is not deleted. Run
	// must not end the log's current entry.
	Run(at shard.Context) error
}

// finisher is a command with work that the shard need not wait for: Finish runs on the caller's
// goroutine after all commands, unless this one failed.
type finisher interface{ Finish(s *Session) }

// OnQueue names the queue of a command, and holds its error.
type OnQueue struct {
	Queue string
	// Err is nil if the command succeeded. Errors of all commands: ErrAccessRefused,
	// ErrQueueNotFound, ErrExclusive. The results of a failed command are undefined.
	Err error

	client   *shard.Client // of the session that executes the command
	queue    *shard.Queue  // found
	reserved bool          // ReserveAll has counted it
}

func (o *OnQueue) on() *OnQueue { return o }

// Failure returns Err.
func (o *OnQueue) Failure() error { return o.Err }

// By returns the session that executes the command, or nil for the engine.
func (o *OnQueue) By() *shard.Client { return o.client }

// Found returns the queue that Find last found, or nil.
func (o *OnQueue) Found() *shard.Queue { return o.queue }

// find finds the queue of a command.
func (s *Session) find(c Command) error {
	o := c.on()
	o.client = &s.client
	for range goneTries {
		if o.queue, o.Err = c.Find(Finder{s}); !errors.Is(o.Err, ErrFindAgain) {
			return o.Err
		}
		s.b.journal.Settle()
	}
	o.Err = s.NoQueue(o.Queue)
	return o.Err
}

// ErrFindAgain means that a command's queue was deleted after Find had found it. The caller must
// call Find again.
var ErrFindAgain = errors.New("the queue was deleted meanwhile")

// trip holds the commands of one Session.Do for one shard.
type trip struct {
	shard    *shard.Shard
	commands []Command
	result   chan<- error
	promise  shardlog.Promise
}

// Tell reports that all changes of the trip are durable, or the error that prevented it.
func (p *trip) Tell(err error) { p.result <- err }

// tripping holds what a session reuses for its trips.
type tripping struct {
	trips  []*trip
	result chan error // as many slots as there are shards; nil before the first trip
}

// Do executes commands, those on one shard in their order, and returns once all their changes are
// durable. It waits for the log once. The error of each command is in its OnQueue. After these
// errors the outcome of all commands is unknown: ErrLogFailed, ErrClosed.
func (s *Session) Do(commands ...Command) error {
	s.Flush()
	if err := s.awaitRates(commands); err != nil {
		return err
	}
	for rest := commands; len(rest) > 0; {
		n, err := s.doSome(rest)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	for _, c := range commands {
		if errors.Is(c.on().Err, ErrFindAgain) {
			if err := s.doAgain(c); err != nil {
				return err
			}
		}
	}
	s.finishAll(commands)
	return nil
}

// goneTries bounds how often a command finds its queue again after the queue was deleted.
const goneTries = 100

// doAgain executes a command whose queue was deleted between find and run. A command that creates
// its queue creates it again.
func (s *Session) doAgain(c Command) error {
	o := c.on()
	for n := 0; n < goneTries && errors.Is(o.Err, ErrFindAgain); n++ {
		s.b.journal.Settle()
		if _, err := s.doSome([]Command{c}); err != nil {
			return err
		}
	}
	if errors.Is(o.Err, ErrFindAgain) {
		o.Err = s.NoQueue(o.Queue)
	}
	return nil
}

// finishAll calls Finish of the commands that have it and did not fail.
func (s *Session) finishAll(commands []Command) {
	for _, c := range commands {
		if f, ok := c.(finisher); ok && c.on().Err == nil {
			f.Finish(s)
		}
	}
}

// doSome executes as many of the commands as one trip to each shard can, and returns their number:
// those before the first that crosses shards, or that one.
func (s *Session) doSome(commands []Command) (n int, err error) {
	t := &s.tripping
	for i, c := range commands {
		o := c.on()
		if s.find(c) != nil {
			continue
		}
		if crosses(c) {
			if i == 0 {
				return 1, s.doAll(c)
			}
			commands = commands[:i]
			break
		}
		t.add(o.queue.Home(), c)
	}
	s.holdBack()
	return len(commands), t.send(s)
}

// send makes the collected trips, and waits until everything is durable.
func (t *tripping) send(s *Session) (failed error) {
	if t.result == nil {
		t.result = make(chan error, len(s.b.set.All))
	}
	sent, owes := 0, false
	for _, p := range t.trips {
		if len(p.commands) == 0 {
			continue
		}
		p.result = t.result
		wrote, ok := p.shard.Submit(&s.client, shard.Op{Kind: shard.OpRun, Extra: p}, true)
		if ok {
			sent++
		} else {
			failed = failure.ErrClosed
		}
		owes = owes || wrote
	}
	if owes {
		s.b.set.Commit()
	}
	for range sent {
		if err := <-t.result; err != nil && failed == nil {
			failed = failure.LogFailed("queue", err)
		}
	}
	for _, p := range t.trips {
		clear(p.commands)
		p.commands = p.commands[:0]
	}
	return failed
}

// holdBack waits while the log or memory is behind, if a command publishes.
func (s *Session) holdBack() {
	if s.batch.Publishes {
		s.batch.Publishes = false
		s.b.set.Flow.Await()
	}
}

// add adds a command to the trip to its shard.
func (t *tripping) add(sh *shard.Shard, c Command) {
	for _, p := range t.trips {
		if p.shard == sh {
			p.commands = append(p.commands, c)
			return
		}
	}
	t.trips = append(t.trips, &trip{shard: sh, commands: []Command{c}})
}

// Run executes the commands, on the shard's goroutine.
func (p *trip) Run(sh *shard.Shard) {
	p.promise.Begin(p)
	for _, c := range p.commands {
		p.promise.Join(sh.Log())
		runCommand(c)
		sh.SettleDown()
		if sh.Log().Full() {
			p.promise.Join(sh.Log()) // the command may have ended an entry itself
			sh.Log().Propose()
		}
	}
	p.promise.Join(sh.Log())
	p.promise.End()
}

// runCommand executes one command, unless its queue was deleted.
func runCommand(c Command) {
	o := c.on()
	at := shard.ContextOf(o.queue)
	if at.Gone() {
		o.Err = ErrFindAgain
		return
	}
	o.Err = runOn(at, c)
}

// runOn executes a command on a queue that is not deleted. Errors: ErrWrongKind if the queue is a
// stream and the command is not for streams, and those of Run.
func runOn(at shard.Context, c Command) error {
	if at.Content().Stream != nil {
		if _, ok := c.(ofStreams); !ok {
			return at.Queue().Fail(failure.ErrWrongKind)
		}
	}
	return c.Run(at)
}

// Count counts the ready messages of a queue.
type Count struct {
	OnQueue
	Ready int
}

func (c *Count) Find(f Finder) (*shard.Queue, error) { return f.s.readable(c.Queue) }

func (c *Count) Run(at shard.Context) error {
	c.Ready = at.Deliveries().Ready()
	return nil
}

// at runs fn at the shard, inline if it is idle, and returns once fn has returned. The caller must
// hold no lock. Errors: ErrClosed.
func (s *Session) at(sh *shard.Shard, fn func()) error {
	done := make(chan struct{})
	owes, ok := sh.Submit(&s.client, shard.Op{Kind: shard.OpCall, Extra: func() { fn(); close(done) }}, true)
	if !ok {
		return failure.ErrClosed
	}
	if owes {
		s.b.set.Commit()
	}
	<-done
	return nil
}

// ofStreams marks the commands that may run on streams. Others fail there with ErrWrongKind.
type ofStreams interface{ OfStreams() }

// awaitsStream marks those that also wait for a queue to become a stream.
type awaitsStream interface{ AwaitsStream() }
