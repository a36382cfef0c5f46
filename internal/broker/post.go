package broker

import "fiveways/internal/core/message"

// demanding is a command that may be required: a DoAll does none of its commands unless the
// required ones can be done.
type demanding interface {
	Command
	// demanded reports whether the command is required.
	demanded() bool
	// refused returns why it cannot be done, before any command of the group is. It runs while all
	// shards of the group are stopped, and the queue is there.
	refused(g *commandGroup) error
	// size is how many bytes of the log it asks for.
	size() int
}

// demandingOf returns a command that is required, nil for others.
func demandingOf(c Command) demanding {
	if d, ok := c.(demanding); ok && d.demanded() {
		return d
	}
	return nil
}

// Post publishes one message to a queue, as Session.Publish does: the limits, the times and the
// deduplication of the queue apply.
type Post struct {
	OnQueue
	Env        message.Envelope // belongs to the engine from now on
	Persistent bool
	Priority   uint8
	TTL        int64 // ms, -1 none
	NotBefore  int64 // unix ms before which it is not delivered, 0 none
	Deadline   int64 // unix ms from which it is not delivered, 0 none; TTL may end sooner
	Create     bool  // an implicit queue is made when there is none
	Must       bool  // DoAll does nothing, and returns the error, when the post fails; else that is in Err
}

// Find implements Command.
func (p *Post) Find(f Finder) (*Queue, error) { return f.ToPublish(p.Queue, p.Create) }

// Run implements Command. Errors: ErrRejected (the queue is full).
func (p *Post) Run(at Context) error {
	of := Publish{Env: p.Env, Persistent: p.Persistent, Priority: p.Priority, TTL: p.TTL, NotBefore: p.NotBefore, Deadline: p.Deadline}
	return at.Publish(p.on(), &of)
}

// OfStreams has the command done on streams, too: the message is an entry.
func (*Post) OfStreams() {}

func (p *Post) demanded() bool { return p.Must }

func (p *Post) refused(g *commandGroup) error {
	if g.loads.fit(p.queue, len(p.Env.Body())) {
		return nil
	}
	return p.queue.Fail(ErrRejected)
}

func (p *Post) size() int { return len(p.Env) }

// loads counts what a meeting publishes to queues, to find out whether all of it is accepted.
type loads map[*Queue]struct{ n, bytes int64 }

// fit reports whether a queue accepts one more message with a body of so many bytes, beside those
// of the calls before.
func (l *loads) fit(q *Queue, bytes int) bool {
	if q.gone || !q.Policy().Limited() || q.Policy().Overflow == DropHead {
		return true
	}
	if *l == nil {
		*l = loads{}
	}
	have := (*l)[q]
	have.n++
	have.bytes += int64(bytes)
	(*l)[q] = have
	p := q.Policy()
	return !(p.MaxLength >= 0 && int64(q.state.Ready())+have.n > p.MaxLength ||
		p.MaxLengthBytes >= 0 && q.state.ReadyBytes()+have.bytes > p.MaxLengthBytes)
}
