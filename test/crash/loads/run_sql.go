package loads

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/crash/history"
)

// sqlSetup creates the queues of the SQL run: a has two consumers and a trigger that copies to c,
// and b and c have one consumer. It runs once, since the definitions must survive all kills. The
// last queue is an AMQP queue, which may be on another shard.
const sqlSetup = `
	select mbus4.create_queue('a', 4), mbus4.create_queue('b', 4), mbus4.create_queue('c', 4);
	select mbus4.create_consumer(qname := 'a', cname := 'second', selector := null);
	select mbus4.create_trigger('a', 'c', $$exist(t.properties, 'copy')$$)`

const sqlForeign = "crash.amqp"

// sqlSources are the consumers, ordered by how many messages they get.
var sqlSources = []sqlSource{
	{queue: "a", consumer: "default", place: "a"},
	{queue: "a", consumer: "second", place: "a.second"},
	{queue: "c", consumer: "default", place: "c"},
	{queue: "b", consumer: "default", place: "b"},
	{queue: sqlForeign, consumer: "default", place: sqlForeign},
}

// sqlSource is a consumer of a queue. place is the Queue of its events.
type sqlSource struct{ queue, consumer, place string }

const sqlClients = 5

// crashSQL runs sessions of SQL. It is the Run of a Load.
func crashSQL(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	r := &sqlRun{t: t, plan: p, up: up, history: &history.Messages{}}
	r.newClients()
	r.plan.rounds(maxEvents/2, 1, nil, r.crash)
	r.finish()
}

// sqlRun is one sequence of kills.
type sqlRun struct {
	t       *testing.T
	up      func() Broker
	plan    Plan
	history *history.Messages
	clients []*sqlClient
	recent  *recent
	drainer *sqlClient
	made    bool // the queues exist
}

func (r *sqlRun) newClients() {
	lastTx, pace := &atomic.Int64{}, r.plan.pace(1)
	r.recent = &recent{}
	for n := range sqlClients + 1 {
		r.clients = append(r.clients, &sqlClient{
			history: r.history, lastTx: lastTx, recent: r.recent, name: fmt.Sprintf("session%d", n),
			rng: r.plan.rng(n + 1), pace: pace,
		})
	}
	r.drainer, r.clients = r.clients[sqlClients], r.clients[:sqlClients]
}

func sqlURL(b Broker) string {
	return "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable"
}

// crash is scenario.crash for sessions of SQL.
func (r *sqlRun) crash(events int) {
	t := r.t
	b := r.up()
	noteIsolation(b, r.history)
	ch := channel(t, b)
	defer b.Kill()
	if !r.made {
		if err := declareQueues(ch, nil, sqlForeign); err != nil {
			t.Fatal(err)
		}
		if err := r.drainer.setup(t.Context(), sqlURL(b)); err != nil {
			t.Fatalf("setup: %v\n%s", err, b.Log())
		}
		r.made = true
	}
	enough := r.history.Grown(events)
	killed := &atomic.Bool{}
	killed.Store(r.plan.Again)
	errs := make([]error, len(r.clients))
	var working sync.WaitGroup
	for n, c := range r.clients {
		working.Go(func() { errs[n] = c.run(t.Context(), sqlURL(b), killed) })
	}
	idle := closedAfter(&working)
	trouble := await(b, events, enough, idle, nil)
	killed.Store(true)
	b.Kill()
	<-idle
	r.history.Add(history.Event{Kind: history.Crashed, At: time.Now().UnixMilli()})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if trouble != nil {
		t.Errorf("%v\n%s", trouble, b.Log())
	}
	if t.Failed() {
		keepHistory(t, r.history.Events())
		t.FailNow()
	}
}

// finish drains the queues and checks the history for breaches.
func (r *sqlRun) finish() {
	t := r.t
	b := r.up()
	defer b.Kill()
	if err := r.drainer.drain(t.Context(), sqlURL(b)); err != nil {
		t.Fatalf("drain: %v\n%s", err, b.Log())
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	events := r.history.Events()
	var count [history.Crashed + 1]int
	waited := 0
	for _, e := range events {
		count[e.Kind]++
		waited += min(len(e.After), 1)
	}
	t.Logf("%d crashes: %d messages sent, %d of them after others, in %d transactions; %d asked to commit, %d committed, %d rolled back; "+
		"%d delivered, %d given back", count[history.Crashed], count[history.Sent], waited, r.drainer.lastTx.Load(), count[history.CommitSent], count[history.Committed],
		count[history.RolledBack], count[history.Delivered], count[history.Requeued])
	if r.plan.Rate == 0 && (waited == 0 || !has(events, history.Committed, history.RolledBack, history.Requeued, history.Acked, history.Named)) {
		t.Error("the run was too short to show anything")
	}
	promises := history.SQL
	if r.plan.Again {
		promises = history.SQLBroken
	}
	reportBreaches(t, promises.Check(events))
	keepHistory(t, events)
}

// recent holds messages that were committed lately. Other messages may wait for them, or they may
// be consumed by name.
type recent struct {
	mu    sync.Mutex
	posts []sqlPost
}

func (r *recent) add(posts []sqlPost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, posts...)
	r.posts = slices.Clone(r.posts[max(0, len(r.posts)-50):])
}

// any returns a random one of the messages, if there are any.
func (r *recent) any(rng *rand.Rand) (p sqlPost, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.posts) == 0 {
		return p, false
	}
	return r.posts[rng.IntN(len(r.posts))], true
}
