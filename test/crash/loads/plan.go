package loads

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"fiveways.dev/fiveways/test/crash/history"
)

// Plan is the parameters of a run.
type Plan struct {
	Rounds int // minimum number of kills
	Seed   int // of all random choices of the clients

	// OneShard reports that the broker has one shard, so that no message is in transit between
	// shards when it is killed.
	OneShard bool

	// Again reports that connections may break before the broker is killed, as in a cluster, and
	// that clients then reconnect.
	Again bool

	// Rate is how many messages, jobs, requests or transactions all clients together begin per
	// second. 0 means as many as they can. Then the run must also cover what it is meant to test.
	Rate int
}

// rounds calls crash, each time with a random number of at most most events after which to kill the
// broker. It does so at least Rounds times, and up to extra times as often until shown reports
// true, because short rounds may show little.
func (p Plan) rounds(most, extra int, shown func() bool, crash func(events int)) {
	rng := p.rng(0)
	for n := 0; n < p.Rounds || p.Rate == 0 && n < extra*p.Rounds && !shown(); n++ {
		crash(1 + rng.IntN(most))
	}
}

// rng returns the source of random numbers of the client with this number. Number 0 is for the
// rounds.
func (p Plan) rng(client int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(p.Seed), uint64(client)))
}

// pace returns a pace of Rate with bursts of the given size, or nil if Rate is 0.
func (p Plan) pace(burst int) *pace {
	if p.Rate == 0 {
		return nil
	}
	return &pace{burst: burst, every: time.Duration(burst) * time.Second / time.Duration(p.Rate)}
}

// pace limits the rate at which clients begin, in bursts. A nil pace does not limit it.
type pace struct {
	burst int           // how many may begin together
	every time.Duration // the interval between bursts

	mu   sync.Mutex
	left int       // in the burst
	at   time.Time // when the burst begins
}

// wait waits until the caller may begin.
func (p *pace) wait() {
	if p == nil {
		return
	}
	<-time.After(time.Until(p.next()))
}

// next returns when the caller may begin. Unused time is not made up for.
func (p *pace) next() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		p.left, p.at = p.burst, p.at.Add(p.every)
		if now := time.Now(); p.at.Before(now) {
			p.at = now
		}
	}
	p.left--
	return p.at
}

// Broker is the broker that a Load uses and kills.
type Broker interface {
	URL() string // where clients of AMQP connect
	SQLAddr() string
	RedisAddr() string
	EtcdAddr() string
	Exited() <-chan struct{}
	Log() string
	Kill()
	Stop() error
}

// timed is a Broker that is killed at a given time, however many events have been recorded by then.
type timed interface {
	Due() <-chan struct{}
}

// Isolating is a Broker that may be a node that gets isolated from its cluster. It then calls the
// given function.
type Isolating interface {
	OnIsolated(func())
}

// noteIsolation records when a broker is isolated.
func noteIsolation(b Broker, h *history.Messages) {
	if i, ok := b.(Isolating); ok {
		i.OnIsolated(func() { h.Add(history.Event{Kind: history.Isolated, At: now()}) })
	}
}

// await waits until it is time to kill the broker: when enough is closed after this many events, or
// idle because no client is working. It returns the first error from wrong, or an error if the
// broker exits or hangs.
func await(b Broker, events int, enough, idle <-chan struct{}, wrong <-chan error) error {
	late := time.After(patience)
	if t, ok := b.(timed); ok {
		enough, late = t.Due(), nil
	}
	select {
	case <-enough:
	case <-idle:
	case err := <-wrong:
		return err
	case <-b.Exited():
		return errors.New("the broker died by itself")
	case <-late:
		return fmt.Errorf("fewer than %d events in %s", events, patience)
	}
	return nil
}
