package crash

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways/test/brokertest"
)

// maxEvents bounds how much happens in a round before the kill.
const maxEvents = 4000

// patience is how long a round may take to get there; only a broker that hangs uses it up.
const patience = 60 * time.Second

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestCrash kills the broker CRASH_ROUNDS times (4 when unset) at moments drawn from CRASH_SEED (drawn itself when
// unset) and then checks all that its clients saw.
func TestCrash(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for _, shards := range []string{"1", "3"} { // one, as on a small machine, and several, so that transactions cross them
		t.Run("shards "+shards, func(t *testing.T) { crashRounds(t, rounds, seed, "--shards", shards) })
	}
}

func crashRounds(t *testing.T, rounds, seed int, flags ...string) {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	history, dir := &History{}, t.TempDir()
	clients := newClients(history, seed)
	for range rounds {
		crashRound(t, dir, history, clients, 1+rng.IntN(maxEvents), flags)
	}
	finish(t, dir, history, flags)

	events := history.Events()
	logSummary(t, events)
	breaches := Check(events)
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

// newClients returns three publishers, two of them with transactions, and a consumer per queue.
func newClients(history *History, seed int) []*client {
	lastTx := &atomic.Int64{}
	clients := []*client{
		{name: "confirming", work: (*client).publishConfirmed},
		{name: "transacting", work: (*client).publishTx},
		{name: "transacting2", work: (*client).publishTx},
		{queue: queues[0], work: (*client).consume},
		{queue: queues[1], work: (*client).consumeTx},
		{queue: queues[2], work: (*client).consumeTx},
	}
	for n, c := range clients {
		c.history, c.lastTx, c.rng = history, lastTx, rand.New(rand.NewPCG(uint64(seed), uint64(n+1)))
	}
	return clients
}

// crashRound starts the broker on dir, lets the clients work until they have recorded so many events, and kills it.
func crashRound(t *testing.T, dir string, history *History, clients []*client, events int, flags []string) {
	b, ch := start(t, dir, flags)
	defer b.Kill()
	if err := declare(ch); err != nil {
		t.Fatalf("declare: %v\n%s", err, b.Log())
	}
	enough := history.Grown(events)
	errs := make([]error, len(clients))
	var working sync.WaitGroup
	for n, c := range clients {
		working.Go(func() { errs[n] = c.run(b.URL()) })
	}
	stuck := false
	select {
	case <-enough:
	case <-b.Exited():
		t.Errorf("the broker died by itself:\n%s", b.Log())
	case <-time.After(patience):
		stuck = true
	}
	b.Kill()
	working.Wait()
	history.Add(Event{Kind: Crashed})
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

// finish starts the broker a last time and drains its queues.
func finish(t *testing.T, dir string, history *History, flags []string) {
	b, ch := start(t, dir, flags)
	defer b.Kill()
	if err := drain(ch, history); err != nil {
		t.Fatalf("drain: %v\n%s", err, b.Log())
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
}

// start runs the broker on dir with further flags and opens a channel.
func start(t *testing.T, dir string, flags []string) (*brokertest.Broker, *amqp.Channel) {
	t.Helper()
	b, err := brokertest.Start(t.Context(), dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	conn, err := amqp.Dial(b.URL())
	if err != nil {
		t.Fatalf("dial: %v\n%s", err, b.Log())
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatalf("channel: %v\n%s", err, b.Log())
	}
	return b, ch
}

// logSummary says how much the run covered, and fails one that did not cover what it is for.
func logSummary(t *testing.T, events []Event) {
	t.Helper()
	var count [Crashed + 1]int
	redelivered, txAcks := 0, 0
	for _, e := range events {
		count[e.Kind]++
		if e.Redelivered {
			redelivered++
		}
		if e.Kind == Acked && e.Tx != 0 {
			txAcks++
		}
	}
	t.Logf("%d crashes: %d messages sent, %d confirmed, %d transactions committed, %d rolled back; %d delivered, %d of them again, %d acknowledged in transactions",
		count[Crashed], count[Sent], count[Confirmed], count[Committed], count[RolledBack], count[Delivered], redelivered, txAcks)
	if count[Confirmed] == 0 || count[Committed] == 0 || count[RolledBack] == 0 || txAcks == 0 || redelivered == 0 {
		t.Error("the run was too short to show anything")
	}
}

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
