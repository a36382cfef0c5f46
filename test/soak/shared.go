package soak

import (
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

// shared is a broker on which several loads work. Each of its lives begins with the first load that
// asks for it, and ends when all loads have asked for its end.
type shared struct {
	start func() (*brokertest.Broker, error)
	lives []time.Duration                     // until each is due to be killed; the one after them ends when all loads have stopped it
	begun func(b *brokertest.Broker) *company // is called when a life begins

	mu    sync.Mutex
	loads int   // that take part: all, until they leave; guarded by mu
	n     int   // lives that have begun; guarded by mu
	life  *life // nil between lives; guarded by mu
}

// life is one process.
type life struct {
	*brokertest.Broker
	beside *company
	due    chan struct{} // is closed when it is to be killed
	gone   chan struct{} // is closed when it has ended; err may be read then
	err    error
	done   int  // loads that have asked for its end; guarded by shared.mu
	crash  bool // one of them has asked to kill it; guarded by shared.mu
}

// up is what a load works with: the life that there is, or the next one. vhost is that of the load.
func (s *shared) up(t *testing.T, vhost string) func() loads.Broker {
	return func() loads.Broker {
		l, err := s.current()
		if err != nil {
			t.Fatal(err)
		}
		return &visit{life: l, shared: s, vhost: vhost}
	}
}

// leave says that one load less takes part.
func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads--
	s.endIfDone()
}

// current is the life that there is, or the next one.
func (s *shared) current() (*life, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil {
		return s.life, nil
	}
	b, err := s.start()
	if err != nil {
		return nil, err
	}
	l := &life{Broker: b, due: make(chan struct{}), gone: make(chan struct{}), beside: s.begun(b)}
	if s.n < len(s.lives) {
		time.AfterFunc(s.lives[s.n], func() { close(l.due) })
	}
	s.n++
	s.life = l
	return l, nil
}

// endIfDone ends the life if no load works on it any more. s.mu is held.
func (s *shared) endIfDone() {
	l := s.life
	if l == nil || l.done < s.loads {
		return
	}
	s.life = nil
	l.beside.ending.Store(true)
	if l.crash { // in the midst of what they do
		l.Broker.Kill()
		l.beside.leave()
	} else {
		l.beside.leave()
		l.err = l.Broker.Stop()
	}
	close(l.gone)
}

// visit is what a load sees of a life.
type visit struct {
	*life
	shared *shared
	vhost  string // as in a URL
	once   sync.Once
}

// URL connects to the virtual host of the load.
func (v *visit) URL() string { return "amqp://guest:guest@" + v.Addr() + "/" + v.vhost }

// Due is closed when the life is to be killed.
func (v *visit) Due() <-chan struct{} { return v.due }

// Kill returns when all loads are done with the life, and it is killed.
func (v *visit) Kill() { v.end(true) } //nolint:errcheck // a process that was killed tells nothing

// Stop returns when all loads are done with the life, and it has stopped.
func (v *visit) Stop() error { return v.end(false) }

func (v *visit) end(kill bool) error {
	v.once.Do(func() {
		v.shared.mu.Lock()
		defer v.shared.mu.Unlock()
		v.done++
		v.crash = v.crash || kill
		v.shared.endIfDone()
	})
	<-v.gone
	return v.err
}
