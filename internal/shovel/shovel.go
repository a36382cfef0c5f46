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

// Defaults of Options.
const (
	DefaultPrefetch = 1000
	DefaultPause    = 200 * time.Millisecond
	DefaultMaxPause = 30 * time.Second
)

var (
	// ErrUnroutable means that the message reached no queue at the target. It stays at the source.
	ErrUnroutable = errors.New("shovel: the message is unroutable at the target")
	// ErrRefused means that the target rejected a message, as a full queue does. It stays at the
	// source.
	ErrRefused = errors.New("shovel: the target rejected the message")
)

// AckMode is when a message is acknowledged at the source.
type AckMode uint8

// Acknowledgement modes. With those that do not wait for the target, messages in flight are lost
// when a connection breaks.
const (
	OnConfirm AckMode = iota // when the target has confirmed it
	OnPublish                // when it has been published
	NoAck                    // never: the source does not expect acknowledgements
)

// Source is a queue, or an exchange to which the shovel binds a queue of its own that is deleted
// with the connection.
type Source struct {
	URI      string     // amqp or amqps, with user, password and virtual host
	Others   []string   // further URIs of the same broker, tried in turn after a break
	Queue    string     // must exist unless Declare is set
	Declare  bool       // declare Queue if it is missing, durable and with Args
	Args     amqp.Table // see Declare
	Exchange string     // if Queue is empty
	Key      string     // of the binding to Exchange
	Consumer amqp.Table // arguments of the consumer
}

// Target is a queue, which is declared durable if it is missing, or an exchange.
type Target struct {
	URI      string
	Others   []string // as in Source
	Queue    string
	Args     amqp.Table // arguments of Queue if it is declared
	Exchange string     // if Queue is empty; "" keeps the exchange of each message
	Default  bool       // Exchange is the default exchange, whose name is empty
	Key      string     // routing key, with Exchange; "" keeps the key of each message
	Lossy    bool       // unroutable messages are dropped
}

// Options describe a shovel. From AckMode on, the zero value of a field means its default.
type Options struct {
	Source   Source
	Target   Target
	AckMode  AckMode
	Prefetch int           // maximum number of messages in flight
	Rate     float64       // messages per second; 0: no limit
	Limit    uint64        // stop after this many messages; 0: no limit
	Length   bool          // stop after as many messages as the source's queue holds at the first connection, instead of Limit
	Once     bool          // stop when the source is empty
	Patient  bool          // keep trying even if the first connection fails
	Fragile  bool          // return the error of the first break instead of connecting again
	Pause    time.Duration // before the first reconnect; doubled up to MaxPause while nothing is moved
	MaxPause time.Duration
	Progress func(Progress) // called on the goroutine of Run after each change, so it should be quick

	// Name is the name of the connections; the side is added to it.
	Name string
	// Local connects to the broker that runs the shovel, which is meant by a URI without a host.
	// Without a user in the URI no login is needed. If Local is nil, such a URI means localhost.
	Local func(ctx context.Context) (net.Conn, error)
	// Change changes a message before it is published. source and target are the URIs in use,
	// without logins.
	Change func(p *amqp.Publishing, source, target string)
}

// Progress is the progress of a shovel.
type Progress struct {
	Moved   uint64 // messages that have left the source
	Breaks  int    // how often a connection was lost or could not be made
	Err     error  // the reason of the last one; nil while it runs
	Running bool   // both ends are connected

	Source, Target string // URIs of both ends, without logins
}

func (o *Options) fill() {
	if o.Prefetch <= 0 {
		o.Prefetch = DefaultPrefetch
	}
	if o.AckMode == NoAck && (o.Limit > 0 || o.Length) {
		o.AckMode = OnPublish // otherwise the source would drop more than is moved
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

// Run moves messages until ctx is done, the source is empty (Once) or Limit is reached; then the
// error is nil. It reconnects when a connection breaks. It returns the error of a first connection
// that fails, unless the options are Patient, and, with Once, the error of an unroutable or
// rejected message.
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

// check returns an error for options that no connection could satisfy.
func (o *Options) check() error {
	if o.Source.Queue == "" && o.Source.Exchange == "" {
		return fmt.Errorf("shovel: the source has no queue")
	}
	return nil
}

// inTurn returns the URI to use after this many breaks.
func inTurn(first string, others []string, breaks int) string {
	if i := breaks % (len(others) + 1); i > 0 {
		return others[i-1]
	}
	return first
}
