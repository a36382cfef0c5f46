package crash

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// maxEvents bounds how much happens in a round before the kill.
const maxEvents = 4000

// patience is how long a round may take to get there; only a broker that hangs uses it up.
const patience = 60 * time.Second

func TestMain(m *testing.M) { brokertest.Main(m) }

// scenario is queues, their clients, and the promises about them.
type scenario struct {
	declare         func(*amqp.Channel) error // it may all be there already
	queues          []string
	clients         []client
	here, elsewhere Promises                // with one shard, and with several
	shows           func([]Event) (ok bool) // whether the run covered what it is for
	settled         func([]Event) time.Time // when the drain may begin; nil: at once
}

// TestCrash kills the broker CRASH_ROUNDS times (4 when unset) at moments drawn from CRASH_SEED
// (drawn itself when unset) and then checks all that its clients saw.
func TestCrash(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for name, s := range map[string]scenario{
		"plain": plain, "delayed": delayed, "once": once, "limited": limited, "grouped": grouped,
	} {
		// One shard, as on a small machine, and several, so that transactions cross them.
		t.Run(name+" shards 1", func(t *testing.T) { s.run(t, rounds, seed, s.here, "--shards", "1") })
		t.Run(name+" shards 3", func(t *testing.T) { s.run(t, rounds, seed, s.elsewhere, "--shards", "3") })
	}
}

func (s *scenario) run(t *testing.T, rounds, seed int, promises Promises, flags ...string) {
	dir := t.TempDir()
	s.runOn(t, rounds, seed, promises, func(*History) broker { return start(t, dir, flags) })
}

// broker is what a run kills.
type broker interface {
	URL() string // where clients connect
	Exited() <-chan struct{}
	Log() string
	Kill()
	Stop() error
}

// runOn is run on what up starts, each time with what there was before. up may note what happens.
func (s *scenario) runOn(t *testing.T, rounds, seed int, promises Promises, up func(*History) broker) {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	history := &History{}
	clients := s.newClients(history, seed)
	for n := 0; n < rounds || n < 3*rounds && !s.covered(history.Events()); n++ { // short rounds may show little
		s.crash(t, up(history), history, clients, 1+rng.IntN(maxEvents))
	}
	s.finish(t, up(history), history)

	events := history.Events()
	s.logSummary(t, events)
	breaches := promises.Check(events)
	for n, breach := range breaches {
		if n == 20 {
			t.Errorf("and %d more", len(breaches)-n)
			break
		}
		t.Error(breach)
	}
	if t.Failed() {
		t.Logf("history in %s (kept with -artifacts)", writeHistory(t, events))
	}
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, unset int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number above 0", name, text)
	}
	return n
}

// newClients returns the clients of a run.
func (s *scenario) newClients(history *History, seed int) []*client {
	lastTx := &atomic.Int64{}
	var clients []*client
	for n, c := range s.clients {
		c.history, c.lastTx, c.rng = history, lastTx, rand.New(rand.NewPCG(uint64(seed), uint64(n+1)))
		if c.repeat != nil {
			c.repeat = newRepeater()
		}
		clients = append(clients, &c)
	}
	return clients
}

// crash lets the clients work on a broker until they have recorded this many events, and kills it.
func (s *scenario) crash(t *testing.T, b broker, history *History, clients []*client, events int) {
	defer b.Kill()
	ch := channel(t, b)
	if err := s.declare(ch); err != nil {
		t.Fatalf("declare: %v\n%s", err, b.Log())
	}
	enough := history.Grown(events)
	errs := make([]error, len(clients))
	var working sync.WaitGroup
	for n, c := range clients {
		working.Go(func() { errs[n] = c.run(b.URL()) })
	}
	idle := make(chan struct{})
	go func() {
		working.Wait()
		close(idle)
	}()
	stuck := false
	select {
	case <-enough:
	case <-idle: // a node has lost its lead by itself
	case <-b.Exited():
		t.Errorf("the broker died by itself:\n%s", b.Log())
	case <-time.After(patience):
		stuck = true
	}
	b.Kill()
	<-idle
	history.Add(Event{Kind: Crashed, At: time.Now().UnixMilli()})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if stuck {
		t.Errorf("fewer than %d events in %s\n%s", events, patience, b.Log())
	}
	if t.Failed() {
		t.FailNow()
	}
}

// finish drains the queues.
func (s *scenario) finish(t *testing.T, b broker, history *History) {
	defer b.Kill()
	ch := channel(t, b)
	if s.settled != nil {
		<-time.After(time.Until(s.settled(history.Events())))
	}
	if _, err := drain(ch, history, s.queues); err != nil {
		t.Fatalf("drain: %v\n%s", err, b.Log())
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
}

// start runs the broker on dir with further flags.
func start(t *testing.T, dir string, flags []string) *brokertest.Broker {
	t.Helper()
	b, err := brokertest.Start(t.Context(), dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

// channel opens a channel.
func channel(t *testing.T, b broker) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(b.URL())
	if err != nil {
		t.Fatalf("dial: %v\n%s", err, b.Log())
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatalf("channel: %v\n%s", err, b.Log())
	}
	return ch
}

// logSummary says how much the run covered, and fails one that did not cover what it is for.
func (s *scenario) logSummary(t *testing.T, events []Event) {
	t.Helper()
	var count [Crashed + 1]int
	redelivered := 0
	for _, e := range events {
		count[e.Kind]++
		if e.Redelivered {
			redelivered++
		}
	}
	t.Logf("%d crashes: %d messages sent, %d confirmed, %d transactions committed, %d rolled back; %d delivered, %d of them again, "+
		"%d given back", count[Crashed], count[Sent], count[Confirmed], count[Committed],
		count[RolledBack], count[Delivered], redelivered, count[Requeued])
	if !s.covered(events) {
		t.Error("the run was too short to show anything")
	}
}

// covered reports whether the run shows what it is for.
func (s *scenario) covered(events []Event) bool {
	again := slices.ContainsFunc(events, func(e Event) bool { return e.Redelivered })
	ackedInTx := slices.ContainsFunc(events, func(e Event) bool { return e.Kind == Acked && e.Tx != 0 })
	return again && ackedInTx && has(events, Confirmed) && s.shows(events)
}

// has reports whether an event is of each kind.
func has(events []Event, kinds ...Kind) bool {
	for _, k := range kinds {
		if !slices.ContainsFunc(events, func(e Event) bool { return e.Kind == k }) {
			return false
		}
	}
	return true
}

// showsTransactions reports whether some were committed and some rolled back.
func showsTransactions(events []Event) bool { return has(events, Committed, RolledBack) }

// writeHistory writes the events as text and returns the file.
func writeHistory(t *testing.T, events []Event) string {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), "history.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for n, e := range events {
		fmt.Fprintln(w, n, e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}
