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
	var huge queue.Handle
	must(t, d.Queue.Home().Call(func() { // it only says so
		shard.ContextOf(d.Queue).Content().State.Publish(&queue.Item{Size: shard.MaxTxBytes + 1, Env: d.Env})
		huge = shard.ContextOf(d.Queue).Deliveries().Next(0).Handle
	}))
	tx := c.NewTx()
	tx.Reject(d.Queue, nil, d.Handle, 1)
	tx.Reject(d.Queue, nil, huge, 1)
	if err := tx.Commit(); !errors.Is(err, ErrRejected) {
		t.Errorf("commit: %v", err)
	}
	sameStrings(t, c.drain("dead"))
	tx = c.NewTx()
	tx.Reject(d.Queue, nil, d.Handle, 1)
	must(t, tx.Commit())
	must(t, b.set.All[0].Call(func() {}))
	must(t, b.set.All[1].Call(func() {}))
	sameStrings(t, c.drain("dead"), "small")
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
