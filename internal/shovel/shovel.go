package shovel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The defaults of Options.
const (
	DefaultPrefetch = 1000
	DefaultPause    = 200 * time.Millisecond
	DefaultMaxPause = 30 * time.Second
)

var (
	// ErrUnroutable tells that no queue of the target takes a message. It stays at the source.
	ErrUnroutable = errors.New("shovel: no queue of the target takes the message")
	// ErrRefused tells that the target refused a message, as a full queue does. It stays at the source.
	ErrRefused = errors.New("shovel: the target refused the message")
)

// Source is where messages come from.
type Source struct {
	URI   string // amqp or amqps, with user, password and virtual host
	Queue string // must be there
}

// Target is where messages go: to a queue, which is declared durable when it is missing, or to an exchange.
type Target struct {
	URI      string
	Queue    string
	Exchange string // where Queue is empty; "" keeps the exchange of each message
	Key      string // routing key, with Exchange; "" keeps that of each message
}

// Options describe a shovel. The zero value of a field from Prefetch on is its default.
type Options struct {
	Source   Source
	Target   Target
	Prefetch int           // messages under way at a time
	Rate     float64       // at most so many messages a second; 0 is no limit
	Limit    uint64        // stop after so many messages; 0 is no limit
	Once     bool          // stop when the source is empty
	Patient  bool          // keep trying where already the first connection fails
	Pause    time.Duration // before the first reconnect; doubled up to MaxPause while nothing is moved
	MaxPause time.Duration
	Progress func(Progress) // called on the goroutine of Run after each change, so it should be quick
}

// Progress tells how far a shovel is.
type Progress struct {
	Moved  uint64 // messages that the target has confirmed and the source was told of
	Breaks int    // how often a connection was lost or could not be made
	Err    error  // why the last one was; nil while it runs
}

func (o *Options) fill() {
	if o.Prefetch <= 0 {
		o.Prefetch = DefaultPrefetch
	}
	if o.Limit > 0 {
		o.Prefetch = int(min(uint64(o.Prefetch), o.Limit))
	}
	if o.Pause <= 0 {
		o.Pause = DefaultPause
	}
	if o.MaxPause <= 0 {
		o.MaxPause = DefaultMaxPause
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
}

// Run moves messages until ctx ends, the source is empty (Once) or Limit is reached; then the error is nil. When a connection breaks it makes new
// ones. The error of a first connection that fails is returned unless the options are Patient, and with Once that of a message that goes nowhere.
func Run(ctx context.Context, o Options) (Progress, error) {
	o.fill()
	var p Progress
	pause := o.Pause
	for connected := false; ; {
		before := p.Moved
		r := &run{options: &o, progress: &p}
		err := r.do(ctx)
		connected = connected || r.connected
		if err == nil || ctx.Err() != nil {
			return p, nil
		}
		if !connected && !o.Patient || o.Once && errors.Is(err, ErrUnroutable) {
			return p, err
		}
		p.Breaks, p.Err = p.Breaks+1, err
		o.Progress(p)
		if p.Moved > before {
			pause = o.Pause
		}
		select {
		case <-ctx.Done():
			return p, nil
		case <-time.After(pause):
		}
		pause = min(2*pause, o.MaxPause)
	}
}

// check refuses options that no connection could mend.
func (o *Options) check() error {
	if o.Source.Queue == "" {
		return fmt.Errorf("shovel: the source has no queue")
	}
	return nil
}
