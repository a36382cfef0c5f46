package broker

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// What a transaction dead-letters is part of its group, so it is bounded, too.
func TestTransactionThatDeadLettersTooMuch(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("dead", nil)
	c.queue("src", toQueue("dead"))
	c.put("", "src", "small", nil)
	d, _, _, err := c.Get("src", false)
	must(t, err)
	huge := func(size uint32, expires int64) (h queue.Handle) {
		must(t, d.Queue.Home().Call(func() { // it only says so
			shard.ContextOf(d.Queue).Content().State.Publish(&queue.Item{Size: size, Expires: expires, Env: d.Env})
			h = shard.ContextOf(d.Queue).Deliveries().Next(0).Handle
		}))
		return h
	}
	for what, add := range map[string]func(*Tx){
		"reject":          func(tx *Tx) { tx.Reject(d.Queue, nil, huge(shard.MaxTxBytes+1, 0), 1) },
		"requeue expired": func(tx *Tx) { tx.Requeue(d.Queue, nil, huge(shard.MaxTxBytes+1, 1), 1) },
		"beside a publish": func(tx *Tx) {
			tx.Reject(d.Queue, nil, huge(shard.MaxTxBytes-1000, 0), 1)
			tx.Publish(&shard.Publish{Targets: shard.NewTargets([]*shard.Queue{d.Queue}), Env: d.Env, TTL: -1})
		},
	} {
		tx := c.NewTx()
		tx.Reject(d.Queue, nil, d.Handle, 1)
		add(tx)
		if err := tx.Commit(); !errors.Is(err, ErrRejected) {
			t.Errorf("%s: commit: %v", what, err)
		}
		sameStrings(t, c.drain("dead"))
	}
	tx := c.NewTx()
	tx.Reject(d.Queue, nil, d.Handle, 1)
	must(t, tx.Commit())
	must(t, b.set.All[0].Call(func() {}))
	must(t, b.set.All[1].Call(func() {}))
	sameStrings(t, c.drain("dead"), "small")
	c.Close()
	mustClose(t, b)
}

// A transaction that makes a queue exceed its limit has no room for the dead letters. They follow.
func TestTransactionOverTheLimit(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("dead", nil)
	c.queue("src", func(s *QueueSpec) {
		toQueue("dead")(s)
		s.Policy.MaxLength = 2
	})
	c.put("", "src", "a", nil)
	c.put("", "src", "b", nil)
	d, _, _, err := c.Get("src", false)
	must(t, err)
	tx := c.NewTx()
	for range 2 {
		tx.Publish(&shard.Publish{Targets: shard.NewTargets([]*shard.Queue{d.Queue}), Env: d.Env, Persistent: true, TTL: -1})
	}
	tx.Requeue(d.Queue, nil, d.Handle, 1)
	must(t, tx.Commit())
	for _, sh := range b.set.All {
		must(t, sh.Call(func() {}))
	}
	sameStrings(t, c.drain("src"), "a", "a")
	sameStrings(t, c.drain("dead"), "a", "b")
	c.Close()
	mustClose(t, b)
}

// A transaction is one group of the log. One that publishes too much is rejected before any of it
// happens.
func TestTransactionTooLarge(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", nil)
	var p shard.Publish
	c.put("", "q", "before", func(have *shard.Publish) { p = *have })
	p.Env = append(p.Env, make([]byte, 64<<20)...)
	tx := c.NewTx()
	for sum := 0; sum <= shard.MaxTxBytes; sum += len(p.Env) {
		tx.Publish(&p) // the same bytes again and again
	}
	var e *Error
	if err := tx.Commit(); !errors.Is(err, ErrTooLarge) || !errors.As(err, &e) {
		t.Errorf("commit: %v", err)
	}
	p.Env = p.Env[:len(p.Env)-64<<20]
	tx = c.NewTx()
	tx.Publish(&p)
	must(t, tx.Commit())
	sameStrings(t, c.drain("q"), "before", "before")
	c.Close()
	mustClose(t, b)
}
