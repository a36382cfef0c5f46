package loads

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// maxEvents limits the number of events in a round before the kill.
const maxEvents = 4000

// messageBurst is how many messages paced publishers send together.
const messageBurst = 50

// patience is the timeout of a round. Only a broker that hangs uses it up.
const patience = 60 * time.Second

// scenario is a set of queues with their clients and promises.
type scenario struct {
	declare         func(*amqp.Channel) error // it may all be there already
	queues          []string
	clients         []client
	here, elsewhere history.Promises                // with one shard, and with several
	shows           func([]history.Event) (ok bool) // whether the run covers its subject
	settled         func([]history.Event) time.Time // when the drain may begin; nil means at once
}

// run is the Run of a Load.
func (s *scenario) run(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	h := &history.Messages{}
	clients := s.newClients(h, p)
	p.rounds(maxEvents, 3, func() bool { return s.covered(h.Events()) }, func(events int) {
		s.crash(t, up(), h, clients, events)
	})
	s.finish(t, up(), h)

	events := h.Events()
	s.logSummary(t, p, events)
	promises := s.elsewhere
	if p.OneShard {
		promises = s.here
	}
	reportBreaches(t, promises.Check(events))
	keepHistory(t, events)
}

// newClients returns the clients of a run.
func (s *scenario) newClients(h *history.Messages, p Plan) []*client {
	lastTx, pace := &atomic.Int64{}, p.pace(messageBurst)
	var clients []*client
	for n, c := range s.clients {
		c.history, c.lastTx, c.rng, c.pace = h, lastTx, p.rng(n+1), pace
		if c.repeat != nil {
			c.repeat = newRepeater()
		}
		clients = append(clients, &c)
	}
	return clients
}

// crash lets the clients work on a broker until they have recorded this many events, and kills it.
func (s *scenario) crash(t *testing.T, b Broker, h *history.Messages, clients []*client, events int) {
	defer b.Kill()
	noteIsolation(b, h)
	ch := channel(t, b)
	if err := s.declare(ch); err != nil {
		t.Fatalf("declare: %v\n%s", err, b.Log())
	}
	enough := h.Grown(events)
	errs := make([]error, len(clients))
	var working sync.WaitGroup
	for n, c := range clients {
		working.Go(func() { errs[n] = c.run(b.URL()) })
	}
	idle := closedAfter(&working)
	trouble := await(b, events, enough, idle, nil) // idle: a node has lost its lead by itself
	b.Kill()
	<-idle
	h.Add(history.Event{Kind: history.Crashed, At: time.Now().UnixMilli()})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if trouble != nil {
		t.Errorf("%v\n%s", trouble, b.Log())
	}
	if t.Failed() {
		t.FailNow()
	}
}

// finish drains the queues.
func (s *scenario) finish(t *testing.T, b Broker, h *history.Messages) {
	defer b.Kill()
	ch := channel(t, b)
	if s.settled != nil {
		<-time.After(time.Until(s.settled(h.Events())))
	}
	if _, err := drain(ch, h, s.queues); err != nil {
		t.Fatalf("drain: %v\n%s", err, b.Log())
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
}

// channel opens a channel on a new connection.
func channel(t *testing.T, b Broker) *amqp.Channel {
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

// declareQueues declares durable queues with the same arguments.
func declareQueues(ch *amqp.Channel, args amqp.Table, names ...string) error {
	for _, name := range names {
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			return fmt.Errorf("declare %s: %w", name, err)
		}
	}
	return nil
}

// logSummary logs what the run covered, and fails the test if it did not cover what it is meant to
// test.
func (s *scenario) logSummary(t *testing.T, p Plan, events []history.Event) {
	t.Helper()
	var count [history.Crashed + 1]int
	redelivered := 0
	for _, e := range events {
		count[e.Kind]++
		if e.Redelivered {
			redelivered++
		}
	}
	t.Logf("%d crashes: %d messages sent, %d confirmed, %d transactions committed, %d rolled back; %d delivered, %d of them again, "+
		"%d given back", count[history.Crashed], count[history.Sent], count[history.Confirmed], count[history.Committed],
		count[history.RolledBack], count[history.Delivered], redelivered, count[history.Requeued])
	if p.Rate == 0 && !s.covered(events) {
		t.Error("the run was too short to show anything")
	}
}

// covered reports whether the run covers what it is meant to test.
func (s *scenario) covered(events []history.Event) bool {
	again := slices.ContainsFunc(events, func(e history.Event) bool { return e.Redelivered })
	ackedInTx := slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Acked && e.Tx != 0 })
	return again && ackedInTx && has(events, history.Confirmed) && s.shows(events)
}

// has reports whether there is an event of each kind.
func has(events []history.Event, kinds ...history.Kind) bool {
	for _, k := range kinds {
		if !slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == k }) {
			return false
		}
	}
	return true
}

// showsTransactions reports whether some transactions were committed and some rolled back.
func showsTransactions(events []history.Event) bool {
	return has(events, history.Committed, history.RolledBack)
}
