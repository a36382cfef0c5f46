package broker

import "time"

// Reservation is the place that what a session publishes has in the lines of those who are held to a rate: of the user, of the virtual host and of
// each queue. It was counted there already, so it holds up what comes later even when nobody waits for it.
type Reservation struct {
	s    *Session
	dues []due
}

// due is what is charged to one throttle, and, when it was, the ticket for it.
type due struct {
	throttle        *throttle
	messages, bytes int64
	ticket          ticket
}

// add counts a message to what a limit is charged.
func (r *Reservation) add(l *rateLimit, bytes int64) {
	if l == nil {
		return
	}
	t := l.throttle.Load()
	if t == nil {
		return
	}
	for i := range r.dues {
		if d := &r.dues[i]; d.throttle == t {
			d.messages++
			d.bytes += bytes
			return
		}
	}
	r.dues = append(r.dues, due{throttle: t, messages: 1, bytes: bytes})
}

// addMessage counts a message into some queues.
func (r *Reservation) addMessage(bytes int64, queues ...*Queue) {
	r.add(r.s.userRate, bytes)
	r.add(&r.s.vhost.rate, bytes)
	for _, q := range queues {
		r.add(&q.rate, bytes)
	}
}

// charge takes the tickets. waits is false when it is the turn of all of them.
func (r *Reservation) charge() (waits bool) {
	for i := range r.dues {
		d := &r.dues[i]
		d.ticket = d.throttle.charge(d.messages, d.bytes)
		left, _ := d.throttle.left(d.ticket)
		waits = waits || left > 0
	}
	return waits
}

// Await returns when it is the turn of what was reserved, or the broker is to close. The caller flushes before. Errors: ErrClosed when
// SessionOptions.Done was closed before.
func (r *Reservation) Await() error {
	if r == nil {
		return nil
	}
	for i := range r.dues {
		d := &r.dues[i]
		for left, changed := d.throttle.left(d.ticket); left > 0; left, changed = d.throttle.left(d.ticket) {
			if over, err := r.s.sleep(left, changed); over {
				return err
			}
		}
	}
	return nil
}

// sleep waits for d, or until changed is closed. over is true when there is nothing to wait for any more.
func (s *Session) sleep(d time.Duration, changed <-chan struct{}) (over bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, nil
	case <-changed:
		return false, nil
	case <-s.b.hurry:
		return true, nil
	case <-s.done:
	}
	select {
	case <-s.b.hurry: // the connection ends because the broker does
		return true, nil
	default:
		return true, ErrClosed
	}
}

// rated tells whether what the session publishes is held to rates.
func (s *Session) rated() bool { return s.b.rated.Load() && !s.operator }

// Reserve counts a message against the limits of rates that it falls under. When that is not nil it is to be awaited before Publish, which does
// both for those who do not. Any goroutine may call it.
func (s *Session) Reserve(p *Publish) *Reservation {
	if !s.rated() || p.Reserved || p.CopyOf != nil {
		return nil
	}
	p.Reserved = true
	r := &Reservation{s: s}
	r.addMessage(int64(len(p.Env.Body())), p.Targets.queues...)
	if !r.charge() {
		return nil
	}
	return r
}

// Rated tells whether a message into a queue falls under a limit of a rate. Any goroutine may call it.
func (s *Session) Rated(to Targets) bool {
	if !s.rated() {
		return false
	}
	r := &Reservation{s: s}
	r.addMessage(0, to.queues...)
	return len(r.dues) > 0
}

// awaitTurn has a publish wait for its turn.
func (s *Session) awaitTurn(p *Publish) {
	if r := s.Reserve(p); r != nil {
		s.Flush()
		r.Await() //nolint:errcheck // what the client has sent is taken
	}
}

// publisher is a command that publishes.
type publisher interface {
	Command
	// bodies calls fn with the size of each body that it publishes to its queue.
	bodies(fn func(bytes int64))
}

func (p *Post) bodies(fn func(int64))      { fn(int64(len(p.Env.Body()))) }
func (e *Enqueue) bodies(fn func(int64))   { fn(int64(len(e.Body))) }
func (a *StreamAdd) bodies(fn func(int64)) { fn(int64(len(a.Body))) }
func (p *Push) bodies(fn func(int64)) {
	for _, body := range p.Bodies {
		fn(int64(len(body)))
	}
}

// ReserveAll is Reserve for commands, to be awaited before Do or DoAll, which do both. It is for who holds others up meanwhile, and for who has another
// session than the client's do them.
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
		var to []*Queue
		if q, ok := s.vhost.queue(c.on().Queue); ok {
			to = []*Queue{q}
		}
		p.bodies(func(bytes int64) { r.addMessage(bytes, to...) })
	}
	if !r.charge() {
		return nil
	}
	return r
}

// awaitRates reserves for the call that does the commands, and waits; the next call reserves anew.
func (s *Session) awaitRates(commands []Command) error {
	if !s.rated() {
		return nil
	}
	r := s.ReserveAll(commands...)
	for _, c := range commands {
		c.on().reserved = false
	}
	return r.Await()
}

// Hurry ends all waits for rates, now and from now on: the broker is about to close. It is safe to call twice.
func (b *Broker) Hurry() { b.hurryOnce.Do(func() { close(b.hurry) }) }
