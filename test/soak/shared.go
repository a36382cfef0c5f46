package soak

import (
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

// shared is a broker that several loads share. Each life begins when the first load asks for it,
// and ends when all loads have asked for its end.
type shared struct {
	start func() (*brokertest.Broker, error)
	lives []time.Duration                     // the time until each is killed; the one after them ends when all loads have stopped it
	begun func(b *brokertest.Broker) *company // called when a life begins

	mu    sync.Mutex
	loads int   // number of loads that have not left; guarded by mu
	n     int   // number of lives begun; guarded by mu
	life  *life // nil between lives; guarded by mu
}

// life is one process of the broker.
type life struct {
	*brokertest.Broker
	beside *company
	due    chan struct{} // closed when it is time to kill it
	gone   chan struct{} // closed when it has ended, after which err may be read
	err    error
	done   int  // number of loads that have asked for its end; guarded by shared.mu
	crash  bool // one of them has asked for a kill; guarded by shared.mu
}

// up returns the function with which a load gets the current or the next life. vhost is the load's
// virtual host.
func (s *shared) up(t *testing.T, vhost string) func() loads.Broker {
	return func() loads.Broker {
		l, err := s.current()
		if err != nil {
			t.Fatal(err)
		}
		return &visit{life: l, shared: s, vhost: vhost}
	}
}

// leave removes one load.
func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads--
	s.endIfDone()
}

// current returns the current life, or starts the next one.
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

// endIfDone ends the life if no load works on it any more. The caller holds s.mu.
func (s *shared) endIfDone() {
	l := s.life
	if l == nil || l.done < s.loads {
		return
	}
	s.life = nil
	l.beside.ending.Store(true)
	if l.crash { // while the company still works
		l.Broker.Kill()
		l.beside.leave()
	} else {
		l.beside.leave()
		l.err = l.Broker.Stop()
	}
	close(l.gone)
}

// visit is a load's view of a life.
type visit struct {
	*life
	shared *shared
	vhost  string // as in a URL
	once   sync.Once
}

// URL returns the URL of the load's virtual host.
func (v *visit) URL() string { return "amqp://guest:guest@" + v.Addr() + "/" + v.vhost }

// Due returns a channel that is closed when it is time to kill the broker.
func (v *visit) Due() <-chan struct{} { return v.due }

// Kill waits until all loads are done with the life and it is killed.
func (v *visit) Kill() { v.end(true) } //nolint:errcheck // a process that was killed tells nothing

// Stop waits until all loads are done with the life and it has stopped.
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
