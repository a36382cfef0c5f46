package loads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/test/crash/history"
)

const (
	queueProducers, queueConsumers = 3, 4
	maxQueueEvents                 = 4000 // per round
)

// crashKeyQueue runs producers and consumers of a queue that is used through keys. It is the Run of
// a Load. The queue must not exist at first.
func crashKeyQueue(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	r := &queueCrashes{t: t, plan: p, up: up, history: &history.Queue{}}
	left, pace := &atomic.Int64{}, p.pace(1)
	for n := range queueProducers + queueConsumers {
		r.clients = append(r.clients, &queueClient{
			history: r.history, rng: p.rng(n + 1), pace: pace, name: fmt.Sprint("c", n), left: left,
		})
	}
	p.rounds(maxQueueEvents, 5, r.shows, r.crash)
	r.finish()
	r.judge()
}

// queueCrashes is one sequence of kills.
type queueCrashes struct {
	t       *testing.T
	plan    Plan
	up      func() Broker
	history *history.Queue
	clients []*queueClient // the first ones produce
}

// crash lets the clients work until they have recorded this many events, and kills the broker.
func (r *queueCrashes) crash(events int) {
	b := r.up()
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
	trouble := await(b, events, enough, nil, ended)
	b.Kill()
	cancel()
	working.Wait()
	r.history.Add(history.QueueEvent{Act: history.QueueKilled})
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
	b := r.up()
	defer b.Kill()
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

// counts returns the number of events of each kind.
func (r *queueCrashes) counts() (count [history.QueueKilled + 1]int) {
	for _, e := range r.history.Events() {
		count[e.Act]++
	}
	return count
}

// shows reports whether the run covers what it is meant to test: consumers that left with
// unacknowledged messages, and puts without an answer.
func (r *queueCrashes) shows() bool {
	count := r.counts()
	return count[history.QueueGot] > count[history.QueueAcked] && count[history.QueueLeft] > 0 && count[history.QueuePut] > count[history.QueueAnswered]
}

// judge checks the history.
func (r *queueCrashes) judge() {
	events, count := r.history.Events(), r.counts()
	r.t.Logf("%d put, %d answered, %d got, %d acknowledged; %d consumers left, %d kills", count[history.QueuePut], count[history.QueueAnswered], count[history.QueueGot],
		count[history.QueueAcked], count[history.QueueLeft], count[history.QueueKilled])
	if r.plan.Rate == 0 && !r.shows() {
		r.t.Error("the run was too short to show anything")
	}
	reportBreaches(r.t, history.CheckKeyQueue(events))
	keepHistory(r.t, events)
}
