package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
)

// demanding is a command that may be required: DoAll executes its commands only if all required
// ones can be executed.
type demanding interface {
	Command
	// demanded reports whether the command is required.
	demanded() bool
	// refused returns why the command cannot be executed, before any command of the group is. It
	// runs while all shards of the group are stopped. The queue exists.
	refused(g *commandGroup) error
	// size returns the bytes of the log that the command needs.
	size() int
}

// demandingOf returns c if it is required, otherwise nil.
func demandingOf(c Command) demanding {
	if d, ok := c.(demanding); ok && d.demanded() {
		return d
	}
	return nil
}

// Post publishes one message to a queue, as Session.Publish does: the queue's limits, times and
// deduplication apply.
type Post struct {
	OnQueue
	Env        message.Envelope // belongs to the engine from now on
	Persistent bool
	Priority   uint8
	TTL        int64 // ms, -1 none
	NotBefore  int64 // unix ms before which it is not delivered, 0 none
	Deadline   int64 // unix ms from which it is not delivered, 0 none; TTL may end sooner
	Create     bool  // a missing queue is created as an implicit one
	Must       bool  // required: if the post fails, DoAll executes nothing and returns its error
}

// Find implements Command.
func (p *Post) Find(f Finder) (*shard.Queue, error) { return f.ToPublish(p.Queue, p.Create) }

// Run implements Command. Errors: ErrRejected (the queue is full).
func (p *Post) Run(at shard.Context) error {
	of := shard.Publish{Env: p.Env, Persistent: p.Persistent, Priority: p.Priority, TTL: p.TTL, NotBefore: p.NotBefore, Deadline: p.Deadline}
	return at.Publish(p.By(), &of)
}

// OfStreams implements ofStreams: in a stream the message becomes an entry.
func (*Post) OfStreams() {}

func (p *Post) demanded() bool { return p.Must }

func (p *Post) refused(g *commandGroup) error {
	if g.loads.Fits(p.queue, len(p.Env.Body())) {
		return nil
	}
	return p.queue.Fail(failure.ErrRejected)
}

func (p *Post) size() int { return len(p.Env) }
