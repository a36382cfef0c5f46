package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/statemachine"
)

// emitRun is a workload of two state machines: each entry of one is also published to two queues on
// two shards.
type emitRun struct {
	keys, others *tally
	answered     []string
	told         *client // a consumer of q0, which settles nothing
}

func (r *emitRun) options(o *Options) {
	r.keys, r.others = newTally(), newTally() // each start has its own
	o.StateMachines = map[uint32]statemachine.Machine{statemachine.Keys: r.keys, statemachine.Semaphores: r.others}
	smallLog(o)
}

// live records and publishes, by commands and by transactions, until the crash.
func (r *emitRun) live(b *Broker) {
	s, err := b.Operate("/")
	if err != nil || s.DeclareExchange(ExchangeSpec{Name: "events", Type: "topic", Durable: true}) != nil {
		return
	}
	for _, q := range []string{"q0", "q1"} {
		if _, err := s.DeclareQueue(QueueSpec{Name: q, Durable: true, Policy: DefaultQueuePolicy()}); err != nil {
			return
		}
		if s.Bind(BindSpec{Source: "events", Destination: q, Key: "#"}) != nil {
			return
		}
	}
	consumer, err := b.OperateFor("/", r.told)
	if err != nil {
		return
	}
	if _, err := consumer.Consume(shard.ConsumerSpec{Queue: "q0", Tag: "told"}); err != nil {
		return
	}
	for i := range 16 {
		body := fmt.Sprintf("m%02d%s", i, strings.Repeat(".", 500)) // so long that a torn page can split the group
		n := &PiggybackedEntry{Machine: statemachine.Semaphores, Entry: []byte(body)}
		var err error
		switch i % 3 {
		case 0:
			err = s.DoAll(n, emit("events", "k", body))
		case 1:
			err = s.DoAll(emit("events", "k", body), n, note(body))
		case 2:
			tx := s.NewTx()
			tx.Piggyback(n)
			tx.ServerPublish(emit("events", "k", body))
			err = tx.Commit()
		}
		if err != nil {
			return
		}
		r.answered = append(r.answered, body)
		if i%5 == 4 {
			b.checkpointDue(false)
		}
	}
}

// check: every recorded entry was published to both queues, in order, and nothing else was.
// Everything answered exists, and so does everything a consumer got.
func (r *emitRun) check(t *testing.T, b *Broker) {
	t.Helper()
	noted := r.others.entries()
	if n := len(r.answered); len(noted) < n || len(noted) > n+1 || !slices.Equal(noted[:n], r.answered) {
		t.Errorf("noted %d, answered %d", len(noted), n)
	}
	if told := bodies(r.told.got); len(told) > len(noted) || !slices.Equal(told, noted[:len(told)]) {
		t.Errorf("noted %d, told %d", len(noted), len(told))
	}
	if both := len(r.keys.entries()); both != (len(noted)+1)/3 {
		t.Errorf("%d notes of the one machine, %d of the other", both, len(noted))
	}
	c := newClient(t, b)
	defer c.Close()
	for _, q := range []string{"q0", "q1"} {
		if c.HasQueue(q) {
			if got := c.drain(q); !slices.Equal(got, noted) {
				t.Errorf("%s has %d messages, noted are %d", q, len(got), len(noted))
			}
		} else if len(noted) > 0 {
			t.Errorf("%s is gone", q)
		}
	}
}

// TestEmitCrashAtEveryOperation crashes at each disk operation in turn.
func TestEmitCrashAtEveryOperation(t *testing.T) {
	crashEverywhere(t, 4, func() life {
		r := &emitRun{told: newSink(t)}
		return life{options: r.options, live: r.live, check: func(b *Broker) { r.check(t, b) }}
	})
}
