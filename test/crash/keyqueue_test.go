package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

const (
	queueProducers, queueConsumers = 3, 4
	maxQueueEvents                 = 4000 // of a round
)

// TestCrashKeyQueue kills the broker while messages are put, watched and deleted as keys of etcd's
// API, and consumers come and go.
func TestCrashKeyQueue(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for _, shards := range []string{"1", "3"} {
		t.Run("shards "+shards, func(t *testing.T) {
			r := &queueCrashes{t: t, dir: t.TempDir(), flags: []string{"--etcd", "127.0.0.1:0", "--shards", shards}, history: &record[QueueEvent]{}}
			left := &atomic.Int64{}
			for n := range queueProducers + queueConsumers {
				r.clients = append(r.clients, &queueClient{
					history: r.history, rng: rand.New(rand.NewPCG(uint64(seed), uint64(n+1))), name: fmt.Sprint("c", n), left: left,
				})
			}
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			for n := 0; n < rounds || n < 5*rounds && !r.shows(); n++ { // short rounds may show little
				r.crash(1 + rng.IntN(maxQueueEvents))
			}
			r.finish()
			r.judge()
		})
	}
}

// queueCrashes is one sequence of kills.
type queueCrashes struct {
	t       *testing.T
	dir     string
	flags   []string
	history *record[QueueEvent]
	clients []*queueClient // the first ones produce
}

func (r *queueCrashes) start() *brokertest.Broker {
	r.t.Helper()
	b, err := brokertest.Start(r.t.Context(), r.dir, r.flags...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(b.Kill)
	return b
}

// crash lets the clients work until they have noted this many events, and kills the broker.
func (r *queueCrashes) crash(events int) {
	b := r.start()
	enough := r.history.Grown(events)
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	ended := make(chan error, len(r.clients))
	var working sync.WaitGroup
	for n, c := range r.clients {
		step := c.consume
		if n < queueProducers {
			step = c.produce
		}
		working.Go(func() { ended <- c.run(ctx, b.EtcdAddr(), step) })
	}
	var trouble error
	select {
	case <-enough:
	case trouble = <-ended:
	case <-b.Exited():
		trouble = errors.New("the broker died by itself")
	case <-time.After(patience):
		trouble = fmt.Errorf("fewer than %d events in %s", events, patience)
	}
	b.Kill()
	cancel()
	working.Wait()
	r.history.Add(QueueEvent{Act: QueueKilled})
	for range len(ended) {
		if err := <-ended; errors.Is(err, errBreach) && trouble == nil && !strings.Contains(err.Error(), "a watch ended") {
			trouble = err
		}
	}
	if trouble != nil {
		r.t.Fatalf("%v\nbroker:\n%s", trouble, b.Log())
	}
}

// finish starts the broker a last time and empties the queue.
func (r *queueCrashes) finish() {
	b := r.start()
	c := r.clients[queueProducers]
	var err error
	if c.etcd, err = dialEtcd(b.EtcdAddr()); err != nil {
		r.t.Fatal(err)
	}
	defer c.etcd.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	me := &queueConsumer{queueClient: c, id: "last", path: queuePath + "/c/last/"}
	if err := me.empty(ctx); err != nil {
		r.t.Errorf("%v\nbroker:\n%s", err, b.Log())
	}
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
}

// counts counts the events of each kind.
func (r *queueCrashes) counts() (count [QueueKilled + 1]int) {
	for _, e := range r.history.Events() {
		count[e.Act]++
	}
	return count
}

// shows reports whether the run covers what it is for: consumers that left with messages, puts
// without an answer.
func (r *queueCrashes) shows() bool {
	count := r.counts()
	return count[QueueGot] > count[QueueAcked] && count[QueueLeft] > 0 && count[QueuePut] > count[QueueAnswered]
}

// judge checks the history.
func (r *queueCrashes) judge() {
	events, count := r.history.Events(), r.counts()
	r.t.Logf("%d put, %d answered, %d got, %d acknowledged; %d consumers left, %d kills", count[QueuePut], count[QueueAnswered], count[QueueGot],
		count[QueueAcked], count[QueueLeft], count[QueueKilled])
	if !r.shows() {
		r.t.Error("the run was too short to show anything")
	}
	for n, breach := range CheckKeyQueue(events) {
		if n == 20 {
			r.t.Error("and more")
			break
		}
		r.t.Error(breach)
	}
	if !r.t.Failed() {
		return
	}
	var lines strings.Builder
	for n, e := range events {
		fmt.Fprintln(&lines, n, e)
	}
	path := filepath.Join(r.t.ArtifactDir(), "queue.txt")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.t.Logf("history in %s (kept with -artifacts)", path)
}
