package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	keyClients  = 5
	maxKeyActs  = 1500             // of a round
	judgeWithin = 90 * time.Second // how long may be looked for an order of the requests
)

// TestCrashKeys kills the broker while clients of etcd's API change ordinary keys, and then looks
// for an order in which all of it happened.
func TestCrashKeys(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	dir := t.TempDir()
	crashKeys(t, rounds, seed, false, func() etcdBroker { return start(t, dir, []string{"--etcd", "127.0.0.1:0"}) })
}

// etcdBroker is a broker with etcd's API.
type etcdBroker interface {
	broker
	EtcdAddr() string
}

// crashKeys does so with what up starts, each time with what there was before. Clients that again
// is set for go on when their connection ends before the round does.
func crashKeys(t *testing.T, rounds, seed int, again bool, up func() etcdBroker) {
	t.Helper()
	r := &keyCrashes{t: t, up: up, again: again, history: NewKeyHistory(), watcher: &keyWatcher{next: 1}}
	for n := range keyClients {
		r.clients = append(r.clients, &keyClient{history: r.history, rng: rand.New(rand.NewPCG(uint64(seed), uint64(n+1))), n: n})
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	for range rounds {
		r.crash(1 + rng.IntN(maxKeyActs))
	}
	r.finish()
	r.judge()
}

// keyCrashes is one sequence of kills.
type keyCrashes struct {
	t       *testing.T
	up      func() etcdBroker
	again   bool
	history *KeyHistory
	clients []*keyClient
	watcher *keyWatcher
}

// crash lets the clients work until they have noted this many answers, and kills the broker.
func (r *keyCrashes) crash(acts int) {
	b := r.up()
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
	var trouble error
	select {
	case <-enough:
	case trouble = <-early:
	case <-b.Exited():
		trouble = fmt.Errorf("the broker died by itself")
	case <-time.After(patience):
		trouble = fmt.Errorf("fewer than %d answers in %s", acts, patience)
	}
	b.Kill()
	cancel()
	working.Wait()
	if trouble != nil {
		r.t.Fatalf("%v\nbroker:\n%s", trouble, b.Log())
	}
}

// untilOver has a client work until ctx ends, or its connection does and it does not go on.
func (r *keyCrashes) untilOver(ctx context.Context, b etcdBroker, work func(context.Context, string) error) error {
	for {
		err := work(ctx, b.EtcdAddr())
		if !r.again || ctx.Err() != nil {
			return err
		}
	}
}

// finish reads all keys a last time, and lets the watch tell all.
func (r *keyCrashes) finish() {
	b := r.up()
	c := r.clients[0]
	var err error
	if c.etcd, err = dialEtcd(b.EtcdAddr()); err != nil {
		r.t.Fatal(err)
	}
	defer c.etcd.Close()
	for pair := range keyPairs {
		asked, called := KeyAsked{Pair: pair, Act: KeyRead}, r.history.Now()
		told, err := c.ask(r.t.Context(), asked)
		if err != nil {
			r.t.Fatal(err)
		}
		r.history.Add(c.n, asked, called, told)
	}
	asked, called := KeyAsked{Act: KeyPut, Value: "last"}, r.history.Now()
	told, err := c.ask(r.t.Context(), asked)
	if err != nil {
		r.t.Fatal(err)
	}
	r.history.Add(c.n, asked, called, told)
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.watcher.until(ctx, b.EtcdAddr(), told.Rev); err != nil {
		r.t.Fatal(err)
	}
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
}

// judge looks for breaches, and for an order.
func (r *keyCrashes) judge() {
	all := r.history.Events()
	unknown, held := 0, 0
	for _, op := range all {
		if told := op.Output.(KeyTold); told.Unknown {
			unknown++
		} else if act := op.Input.(KeyAsked).Act; told.Held && (act == KeySwap || act == KeySwapBoth) {
			held++
		}
	}
	r.t.Logf("%d requests, %d of them without an answer, %d swaps that held; %d events", len(all), unknown, held, len(r.watcher.events))
	if unknown == 0 || held == 0 {
		r.t.Error("the run was too short to show anything")
	}
	for n, breach := range append(CheckRevisions(all), CheckKeyEvents(all, r.watcher.events)...) {
		if n == 20 {
			r.t.Error("and more")
			break
		}
		r.t.Error(breach)
	}
	switch porcupine.CheckOperationsTimeout(keyModel, Settle(all, r.watcher.events), judgeWithin) {
	case porcupine.Illegal:
		r.t.Error("there is no order in which all of this can have happened")
	case porcupine.Unknown:
		r.t.Errorf("no order was found in %s", judgeWithin)
	}
}
