package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/process"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// load is a kind of work.
type load struct {
	name string
	run  func(context.Context, *bench) (Load, error)
}

// loads returns all loads in their order.
func loads() []load {
	return []load{
		{"queue", queueLoad}, {"put", putLoad}, {"range-1", rangeLoad(1)}, {"range-100", rangeLoad(100)}, {"range-10000", rangeLoad(10_000)},
		{"limit-100", limitLoad(100)}, {"count", countLoad}, {"watch", watchLoad},
	}
}

// LoadNames returns the names of the loads.
func LoadNames() (names []string) {
	for _, l := range loads() {
		names = append(names, l.name)
	}
	return names
}

// bench is a run on a server.
type bench struct {
	o       Options
	clients []*clientv3.Client
	server  string
	queues  bool   // the server supports queues as keys
	prefix  string // of all ordinary keys of the run
	filled  bool   // some or all of the keys for ranges exist
}

// gcPercent makes the client collect garbage less often, because that takes CPU time on the cores
// on which the server is measured.
const gcPercent = 400

// Run runs the loads on the server one after the other, and removes everything afterwards. done is
// called with the result of each load; it may be nil.
func Run(ctx context.Context, o Options, done func(Load)) (r Result, err error) {
	if err := o.Validate(); err != nil {
		return r, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	b := &bench{o: o, prefix: fmt.Sprintf("bench-%d-%d/", os.Getpid(), time.Now().UnixNano())}
	defer b.close()
	if err := b.look(ctx); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.sweep()) }()
	r.Options, r.Server = o, b.server
	for _, name := range o.Loads {
		for _, l := range loads() {
			if l.name != name {
				continue
			}
			one, err := b.measured(ctx, l)
			if err != nil {
				return r, fmt.Errorf("etcd bench: %s: %w", name, err)
			}
			r.Loads = append(r.Loads, one)
			if done != nil {
				done(one)
			}
		}
	}
	return r, nil
}

// client opens another connection.
func (b *bench) client() (*clientv3.Client, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{b.o.URL}, Username: b.o.User, Password: b.o.Password, DialTimeout: patience, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, err
	}
	b.clients = append(b.clients, c)
	return c, nil
}

// spread opens the connections for a role.
func (b *bench) spread() (all []*clientv3.Client, err error) {
	for range b.o.Connections {
		c, err := b.client()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (b *bench) close() {
	for _, c := range b.clients {
		c.Close() //nolint:errcheck // the run is over
	}
}

// patience is how long a server may take to respond at first.
const patience = 5 * time.Second

// reach checks that a server is listening: if none is, the etcd client would only report a timeout.
func (b *bench) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(b.o.URL, "http://"))
	if err != nil {
		return fmt.Errorf("etcd bench: %w", err)
	}
	return conn.Close()
}

// look determines what server it is.
func (b *bench) look(ctx context.Context) error {
	if err := b.reach(ctx); err != nil {
		return err
	}
	c, err := b.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	status, err := c.Status(ctx, b.o.URL)
	if err != nil {
		return fmt.Errorf("etcd bench: %s does not answer as an etcd: %w", b.o.URL, err)
	}
	b.server = "etcd API " + status.Version
	if b.o.Plain {
		return nil
	}
	// The record of a queue exists as soon as a client watches it as a consumer.
	probe, stop := context.WithCancel(ctx)
	defer stop()
	created := <-c.Watch(probe, b.queue()+"/c/probe/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if err := created.Err(); err != nil {
		return err
	}
	stop() // the probe must not get any messages
	if _, err := c.Delete(ctx, b.queue()+"/c/probe"); err != nil {
		return err
	}
	record, err := c.Get(ctx, b.queue())
	if err != nil {
		return err
	}
	if b.queues = record.Count == 1; b.queues {
		b.server = "queues as keys, " + b.server
	}
	return nil
}

// queue returns the path of the run's queue.
func (b *bench) queue() string { return "/q/" + b.prefix[:len(b.prefix)-1] }

// sweepBatch is the number of keys deleted at once. For hundreds of thousands, etcd would take
// longer than its request timeout.
const sweepBatch = 10_000

// sweep removes everything that the run created.
func (b *bench) sweep() error {
	c, err := b.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for from := 0; b.filled && from < b.o.Keys; from += sweepBatch {
		if _, err := c.Delete(ctx, b.filledKey(from), clientv3.WithRange(b.filledKey(from+sweepBatch))); err != nil {
			return fmt.Errorf("etcd bench: remove the keys: %w", err)
		}
	}
	if _, err := c.Delete(ctx, b.prefix, clientv3.WithPrefix()); err != nil {
		return fmt.Errorf("etcd bench: remove the keys: %w", err)
	}
	if b.queues {
		if _, err := c.Delete(ctx, b.queue()); err != nil {
			return fmt.Errorf("etcd bench: remove the queue: %w", err)
		}
	}
	return nil
}

// measured runs a load and adds the resources that both processes used meanwhile.
func (b *bench) measured(ctx context.Context, l load) (Load, error) {
	if needs := l.name != "queue" && l.name != "put" && l.name != "watch"; needs && !b.filled {
		if err := b.fill(ctx); err != nil {
			return Load{}, err
		}
	}
	own, _ := process.Read(os.Getpid())
	theirs, unknown := process.Read(b.o.PID)
	began := time.Now()
	one, err := l.run(ctx, b)
	if err != nil {
		return one, err
	}
	took := time.Since(began)
	ownNow, _ := process.Read(os.Getpid())
	share := func(cpu time.Duration) float64 { return 100 * cpu.Seconds() / took.Seconds() }
	one.Name, one.ClientCPU, one.ServerCPU = l.name, share(ownNow.CPU-own.CPU), -1
	if now, err := process.Read(b.o.PID); b.o.PID > 0 && err == nil && unknown == nil {
		one.ServerCPU, one.ServerRSS = share(now.CPU-theirs.CPU), now.RSS
	}
	return one, nil
}

// tally holds the measurements of the goroutines of a load.
type tally struct {
	n       atomic.Int64
	latency []latency.Histogram // per goroutine
}

func (t *tally) load(took time.Duration) Load {
	var h latency.Histogram
	for i := range t.latency {
		h.Merge(&t.latency[i])
	}
	return Load{Count: t.n.Load(), PerSecond: float64(t.n.Load()) / took.Seconds(), P50: h.Millis(0.5), P99: h.Millis(0.99)}
}
