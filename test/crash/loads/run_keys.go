package loads

import (
	"context"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/test/crash/history"
)

const (
	keyClients = 5
	maxKeyActs = 1500 // per round
)

// crashKeys runs clients of ordinary keys. It is the Run of a Load. None of their keys may exist at
// first.
func crashKeys(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	r := &keyCrashes{t: t, plan: p, up: up, history: history.NewKeys(), watcher: &keyWatcher{}}
	pace := p.pace(1)
	for n := range keyClients {
		r.clients = append(r.clients, &keyClient{history: r.history, rng: p.rng(n + 1), pace: pace, n: n})
	}
	p.rounds(maxKeyActs, 1, nil, r.crash)
	r.finish()
	r.judge()
}

// keyCrashes is one sequence of kills.
type keyCrashes struct {
	t       *testing.T
	up      func() Broker
	plan    Plan
	history *history.Keys
	clients []*keyClient
	watcher *keyWatcher
}

// crash lets the clients work until they have recorded this many answers, and kills the broker.
func (r *keyCrashes) crash(acts int) {
	b := r.up()
	if err := r.watcher.begin(r.t.Context(), b.EtcdAddr()); err != nil {
		r.t.Fatalf("%v\nbroker:\n%s", err, b.Log())
	}
	enough := r.history.Grown(acts)
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	early := make(chan error, len(r.clients)+1)
	var working sync.WaitGroup
	for _, c := range r.clients {
		working.Go(func() { early <- r.untilOver(ctx, b, c.work) })
	}
	working.Go(func() {
		if err := r.untilOver(ctx, b, r.watcher.follow); err != nil {
			early <- err
		}
	})
	trouble := await(b, acts, enough, nil, early)
	b.Kill()
	cancel()
	working.Wait()
	if trouble != nil {
		r.t.Fatalf("%v\nbroker:\n%s", trouble, b.Log())
	}
}

// untilOver calls work until ctx ends, or until the connection breaks and the plan says not to
// reconnect.
func (r *keyCrashes) untilOver(ctx context.Context, b Broker, work func(context.Context, string) error) error {
	for {
		err := work(ctx, b.EtcdAddr())
		if !r.plan.Again || ctx.Err() != nil {
			return err
		}
	}
}

// finish reads all keys a last time, and waits until the watch has seen everything.
func (r *keyCrashes) finish() {
	b := r.up()
	defer b.Kill()
	c := r.clients[0]
	var err error
	if c.etcd, err = dialEtcd(b.EtcdAddr()); err != nil {
		r.t.Fatal(err)
	}
	defer c.etcd.Close()
	ask := func(asked history.KeyAsked) history.KeyTold {
		called := r.history.Now()
		told, err := c.ask(r.t.Context(), asked)
		if err != nil {
			r.t.Fatal(err)
		}
		r.history.Add(c.n, asked, called, told)
		return told
	}
	for pair := range keyPairs {
		ask(history.KeyAsked{Pair: pair, Act: history.KeyRead})
	}
	told := ask(history.KeyAsked{Act: history.KeyPut, Value: "last"})
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.watcher.until(ctx, b.EtcdAddr(), told.Rev); err != nil {
		r.t.Fatal(err)
	}
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
}

// judge checks the history for breaches, and for linearizability.
func (r *keyCrashes) judge() {
	all := r.history.Events()
	unknown, held := 0, 0
	for _, op := range all {
		if told := op.Output.(history.KeyTold); told.Unknown {
			unknown++
		} else if act := op.Input.(history.KeyAsked).Act; told.Held && (act == history.KeySwap || act == history.KeySwapBoth) {
			held++
		}
	}
	r.t.Logf("%d requests, %d of them without an answer, %d swaps that held; %d events", len(all), unknown, held, len(r.watcher.events))
	if r.plan.Rate == 0 && (unknown == 0 || held == 0) {
		r.t.Error("the run was too short to show anything")
	}
	events := r.watcher.events
	reportBreaches(r.t, slices.Concat(history.CheckRevisions(all), history.CheckKeyEvents(all, events), history.LinearizeKeys(all, events)))
}
