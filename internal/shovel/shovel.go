package shovel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The defaults of Options.
const (
	DefaultPrefetch = 1000
	DefaultPause    = 200 * time.Millisecond
	DefaultMaxPause = 30 * time.Second
)

var (
	// ErrUnroutable tells that no queue of the target takes a message. It stays at the source.
	ErrUnroutable = errors.New("shovel: the message is unroutable at the target")
	// ErrRefused tells that the target refused a message, as a full queue does. It stays at the
	// source.
	ErrRefused = errors.New("shovel: the target rejected the message")
)

// AckMode says when the source is told that a message has arrived.
type AckMode uint8

// The modes. With those that do not wait for the target, what is under way when a connection breaks
// is lost.
const (
	OnConfirm AckMode = iota // when the target has confirmed it
	OnPublish                // when it was sent on
	NoAck                    // never: the source forgets what it delivers
)

// Source is where messages come from: a queue, or an exchange, to which a queue of the shovel's own
// is bound that goes with its connection.
type Source struct {
	URI      string     // amqp or amqps, with user, password and virtual host
	Others   []string   // further URIs of the same broker, tried in turn after a break
	Queue    string     // must be there, unless Declare is set
	Declare  bool       // Queue is declared, durable and with Args, where it is missing
	Args     amqp.Table // see Declare
	Exchange string     // where Queue is empty
	Key      string     // of the binding to Exchange
	Consumer amqp.Table // arguments of the consumer
}

// Target is where messages go: to a queue, which is declared durable when it is missing, or to an
// exchange.
type Target struct {
	URI      string
	Others   []string // as those of Source
	Queue    string
	Args     amqp.Table // of Queue where it is declared
	Exchange string     // where Queue is empty; "" keeps the exchange of each message
	Default  bool       // Exchange is the default one, whose name is empty
	Key      string     // routing key, with Exchange; "" keeps that of each message
	Lossy    bool       // a message that no queue takes is dropped
}

// Options describe a shovel. The zero value of a field from AckMode on is its default.
type Options struct {
	Source   Source
	Target   Target
	AckMode  AckMode
	Prefetch int           // messages under way at a time
	Rate     float64       // at most this many messages a second; 0 is no limit
	Limit    uint64        // stop after this many messages; 0 is no limit
	Length   bool          // stop after as many messages as the source's queue holds at the first connection, instead of Limit
	Once     bool          // stop when the source is empty
	Patient  bool          // keep trying where already the first connection fails
	Fragile  bool          // return the error of the first break instead of connecting again
	Pause    time.Duration // before the first reconnect; doubled up to MaxPause while nothing is moved
	MaxPause time.Duration
	Progress func(Progress) // called on the goroutine of Run after each change, so it should be quick

	// Name is how the connections are called, beside which side they are.
	Name string
	// Local connects to the broker that a URI without a host means: the one that runs the shovel.
	// Without a user in the URI it asks for no login. Without Local such a URI means localhost.
	Local func(ctx context.Context) (net.Conn, error)
	// Change makes of a message what is published. source and target are the URIs in use, without
	// logins.
	Change func(p *amqp.Publishing, source, target string)
}

// Progress tells how far a shovel is.
type Progress struct {
	Moved   uint64 // messages that the source need not keep any more
	Breaks  int    // how often a connection was lost or could not be made
	Err     error  // why the last one was; nil while it runs
	Running bool   // both ends are connected

	Source, Target string // the URIs of these, without logins
}

func (o *Options) fill() {
	if o.Prefetch <= 0 {
		o.Prefetch = DefaultPrefetch
	}
	if o.AckMode == NoAck && (o.Limit > 0 || o.Length) {
		o.AckMode = OnPublish // else the source would forget more than is moved
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
	if o.Change == nil {
		o.Change = func(*amqp.Publishing, string, string) {}
	}
	o.Name = cmp.Or(o.Name, "fiveways shovel")
}

// Run moves messages until ctx ends, the source is empty (Once) or Limit is reached; then the error
// is nil. When a connection breaks it makes new ones. The error of a first connection that fails is
// returned unless the options are Patient, and with Once that of a message that goes nowhere.
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
		p.Running = false
		if !connected && !o.Patient || o.Fragile || o.Once && errors.Is(err, ErrUnroutable) {
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
	if o.Source.Queue == "" && o.Source.Exchange == "" {
		return fmt.Errorf("shovel: the source has no queue")
	}
	return nil
}

// inTurn is the URI to use after this many breaks.
func inTurn(first string, others []string, breaks int) string {
	if i := breaks % (len(others) + 1); i > 0 {
		return others[i-1]
	}
	return first
}
