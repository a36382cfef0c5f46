package broker

import "fiveways/internal/core/message"

// demanding is a command without which a DoAll is to do nothing at all.
type demanding interface {
	Command
	// demanded reports whether the command of this call is such a one.
	demanded() bool
	// refused returns why it cannot be done, before any command of the group is. It runs while all
	// shards of the group are stopped, and the queue is there.
	refused(g *commandGroup) error
	// size is how many bytes of the log it asks for.
	size() int
}

// demandingOf returns a command as one without which nothing is to be done; nil when it is none.
func demandingOf(c Command) demanding {
	if d, ok := c.(demanding); ok && d.demanded() {
		return d
	}
	return nil
}

// Post publishes one message to a queue, as Session.Publish does: the queue's limits, times, and
// keys that it takes once count.
type Post struct {
	OnQueue
	Env        message.Envelope // belongs to the engine from now on
	Persistent bool
	Priority   uint8
	TTL        int64 // ms, -1 none
	NotBefore  int64 // unix ms before which it is not delivered, 0 none
	Deadline   int64 // unix ms from which it is not delivered, 0 none; TTL may end sooner
	Create     bool  // a durable queue is made when there is none, and goes when nobody needs it
	Must       bool  // when it cannot be done, nothing of the DoAll is: DoAll returns why. Else that is in Err
}

func (p *Post) Find(f Finder) (*Queue, error) { return f.ToPublish(p.Queue, p.Create) }

// run publishes. Errors: ErrRejected (the queue is full).
func (p *Post) Run(at Context) error {
	of := Publish{Env: p.Env, Persistent: p.Persistent, Priority: p.Priority, TTL: p.TTL, NotBefore: p.NotBefore, Deadline: p.Deadline}
	return at.Publish(p.on(), &of)
}

// ofStreams: a message that is published to a stream is an entry.
func (*Post) OfStreams() {}

func (p *Post) demanded() bool { return p.Must }

func (p *Post) refused(g *commandGroup) error {
	if g.loads.fit(p.queue, len(p.Env.Body())) {
		return nil
	}
	return p.queue.Fail(ErrRejected)
}

func (p *Post) size() int { return len(p.Env) }

// loads counts what is to be published to queues, to report whether it would all get in.
type loads map[*Queue]struct{ n, bytes int64 }

// fit reports whether a queue that refuses what is too much has room for one more message of so
// many bytes, beside those before it.
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
