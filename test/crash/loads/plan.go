package loads

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"fiveways.dev/fiveways/test/crash/history"
)

// Plan is how a load goes.
type Plan struct {
	Rounds int // kills at least
	Seed   int // of all that the clients draw

	// OneShard says that the broker has one shard, so that nothing is on its way between shards
	// when it is killed.
	OneShard bool

	// Again says that connections may end before the broker is killed, as in a cluster. Clients go
	// on then.
	Again bool

	// Rate is how many messages, jobs, requests or transactions the clients begin in a second, all
	// together. 0: as many as they can; then the run must show what it is for.
	Rate int
}

// rounds has a broker killed after up to most events, time and again: at least Rounds times, and up
// to extra times as often until shown reports true, as short rounds may show little.
func (p Plan) rounds(most, extra int, shown func() bool, crash func(events int)) {
	rng := p.rng(0)
	for n := 0; n < p.Rounds || p.Rate == 0 && n < extra*p.Rounds && !shown(); n++ {
		crash(1 + rng.IntN(most))
	}
}

// rng returns what the client with this number draws from; 0 is that of the rounds.
func (p Plan) rng(client int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(p.Seed), uint64(client)))
}

// pace returns the pace of the Rate, in bursts of this size; nil for none.
func (p Plan) pace(burst int) *pace {
	if p.Rate == 0 {
		return nil
	}
	return &pace{burst: burst, every: time.Duration(burst) * time.Second / time.Duration(p.Rate)}
}

// pace lets clients begin in bursts. The nil pace lets all begin at once.
type pace struct {
	burst int           // how many may begin together
	every time.Duration // from burst to burst

	mu   sync.Mutex
	left int       // of the burst
	at   time.Time // when the burst is
}

// wait waits until the caller may begin.
func (p *pace) wait() {
	if p == nil {
		return
	}
	<-time.After(time.Until(p.next()))
}

// next returns when the caller may begin. Time that nobody has used is not made up for.
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

// Broker is what a Load works on, and kills.
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

// timed is a broker that says when it is to be killed, however much has happened by then.
type timed interface {
	Due() <-chan struct{}
}

// Isolating is a Broker that may be a node cut off from the others of its cluster: it then calls
// what it was given.
type Isolating interface {
	OnIsolated(func())
}

// noteIsolation notes when a broker is cut off.
func noteIsolation(b Broker, h *history.Messages) {
	if i, ok := b.(Isolating); ok {
		i.OnIsolated(func() { h.Add(history.Event{Kind: history.Isolated, At: now()}) })
	}
}

// await waits until the broker is to be killed: enough is closed when so many events have happened,
// idle when no client works any more. The error is the first of wrong, or says that the broker ends
// or hangs.
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
