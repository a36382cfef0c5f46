package broker

import (
	"context"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/throttle"
)

// Reservation is the place of a session's publish in the rate limits: of the user, of the virtual
// host and of each queue. The publish has been charged to them, so it delays later ones even if its
// session does not wait.
type Reservation struct {
	s      *Session
	charge throttle.Charge
}

// addMessage counts a message towards some queues.
func (r *Reservation) addMessage(bytes int64, queues ...*shard.Queue) {
	r.charge.Add(r.s.userRate, bytes)
	r.charge.Add(r.s.vhost.Rate(), bytes)
	for _, q := range queues {
		r.charge.Add(q.Rate(), bytes)
	}
}

// Await returns once the reservation's time has come, or the broker is about to close. The caller
// flushes first. Errors: ErrClosed if the client is gone, ErrUserDeleted, and that of ctx.
func (r *Reservation) Await(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return r.charge.Await(ctx, throttle.Waiter{Hurry: r.s.b.hurry, Done: r.s.done, Gone: r.s.gone})
}

// rated reports whether rate limits apply to what the session publishes.
func (s *Session) rated() bool { return s.b.set.Rated.Load() && !s.Operator }

// Reserve charges a message to the rate limits that apply to it. If the result is not nil, the
// caller calls its Await before Publish, which otherwise reserves and waits itself. Any goroutine
// may call it.
func (s *Session) Reserve(p *shard.Publish) *Reservation {
	if !s.rated() || p.Reserved || p.CopyOf != nil {
		return nil
	}
	p.Reserved = true
	r := &Reservation{s: s}
	r.addMessage(int64(len(p.Env.Body())), p.Targets.Queues()...)
	if !r.charge.Take() {
		return nil
	}
	return r
}

// Rated reports whether a rate limit applies to a message into a queue. Any goroutine may call it.
func (s *Session) Rated(to shard.Targets) bool {
	if !s.rated() {
		return false
	}
	r := &Reservation{s: s}
	r.addMessage(0, to.Queues()...)
	return !r.charge.Empty()
}

// awaitTurn makes a publish wait for its turn.
func (s *Session) awaitTurn(p *shard.Publish) {
	if r := s.Reserve(p); r != nil {
		s.Flush()
		r.Await(context.Background()) //nolint:errcheck // what the client has sent is taken
	}
}

// publisher is a command that publishes.
type publisher interface {
	Command
	// EachBody calls fn with the size of each body that it publishes to its queue.
	EachBody(fn func(bytes int64))
}

func (p *Post) EachBody(fn func(bytes int64)) { fn(int64(len(p.Env.Body()))) }

// ReserveAll is Reserve for commands: the caller awaits the result before Do or DoAll, which
// otherwise reserve and wait themselves. It is for callers that must not block in Do, or run the
// commands on another session.
func (s *Session) ReserveAll(commands ...Command) *Reservation {
	if !s.rated() {
		return nil
	}
	r := &Reservation{s: s}
	for _, c := range commands {
		p, ok := c.(publisher)
		if !ok || c.on().reserved || s.MayWrite(c.on().Queue) != nil {
			continue
		}
		c.on().reserved = true
		var to []*shard.Queue
		if q, ok := s.vhost.Queue(c.on().Queue); ok {
			to = []*shard.Queue{q}
		}
		p.EachBody(func(bytes int64) { r.addMessage(bytes, to...) })
	}
	if !r.charge.Take() {
		return nil
	}
	return r
}

// awaitRates reserves for the call that executes the commands, and waits. The next call reserves
// again.
func (s *Session) awaitRates(commands []Command) error {
	if !s.rated() {
		return nil
	}
	r := s.ReserveAll(commands...)
	for _, c := range commands {
		c.on().reserved = false
	}
	return r.Await(context.Background())
}

// Hurry ends all waits for rates, now and in the future: the broker is about to close. It may be
// called twice.
func (b *Broker) Hurry() { b.hurryOnce.Do(func() { close(b.hurry) }) }

// setLimits applies the rates in the limits of a virtual host or a user.
func (b *Broker) setLimits(l *throttle.Limit, limits catalog.Limits) {
	b.set.SetRates(l, limits.Get(catalog.LimitPublishRate), limits.Get(catalog.LimitPublishBytes))
}
