package mbus

import (
	"context"
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// TestDroppedBeforeCommit: a commit fails if a post would be lost because another session has
// dropped the queue. The messages that the transaction took return to their queues.
func TestDroppedBeforeCommit(t *testing.T) {
	for name, c := range map[string]struct {
		post func(a, b *caller) (queueName string)
		drop func(b *caller, queueName string)
	}{
		"queue":     {postsTo("q", "n=>1"), (*caller).drop},
		"scheduled": {postsTo("q", "n=>1", nil, nil, "2999-01-01"), (*caller).drop},
		"with a consumer": {func(a, b *caller) string {
			b.call("create_consumer", "q", "c")
			a.call("post", "q", "n=>1")
			return "q"
		}, (*caller).drop},
		"view": {func(a, b *caller) string {
			b.call("create_view", "q")
			v, _ := a.s.viewNamed("q_q")
			row := []value.Datum{hstore.New([]hstore.Pair{{Key: "n", Value: "1"}})}
			if _, err := (&view{a.s, v}).Insert(a.env, row, nil); err != nil {
				a.t.Fatal(err)
			}
			return "q"
		}, (*caller).drop},
		"temporary": {func(a, b *caller) string {
			mine := b.text("create_temporary_queue")
			a.call("post", mine, "n=>1")
			return mine
		}, func(b *caller, _ string) { b.s.Close() }},
		"of other clients": {func(a, b *caller) string {
			b.declares("other")
			a.call("post", "other", "n=>1")
			return "other"
		}, func(b *caller, queueName string) {
			if _, err := b.s.own.DeleteQueue(queueName, false, false); err != nil {
				b.t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, end := twoCallers(t)
			defer end()
			a.call("create_queue", "q", 1)
			a.call("create_queue", "kept", 1)
			a.call("post", "kept", "n=>0")
			a.begin()
			a.consumes("kept", `"n"=>"0"`)
			queueName := c.post(a, b)
			c.drop(b, queueName)
			a.open = false
			var e *pgerror.Error
			if err := a.s.Commit(context.Background()); !errors.As(err, &e) || e.Code != "P0001" || e.Message != "Unknown queue:"+queueName {
				t.Fatalf("commit: %v", err)
			}
			a.consumes("kept", `"n"=>"0"`)
		})
	}
}

// TestDroppedUnwanted: the commit succeeds if the lost message is a copy, or was taken by the
// transaction itself.
func TestDroppedUnwanted(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.call("create_queue", "copy", 1)
	a.call("create_trigger", "q", "copy")
	a.call("create_consumer", "q", "c")
	a.begin()
	a.call("post", "q", "n=>1")
	b.call("drop_queue", "copy")
	b.call("drop_consumer", "c", "q")
	a.commit()
	a.consumes("q", `"n"=>"1"`)

	a.begin()
	a.call("post", "q", "n=>2")
	a.consumes("q", `"n"=>"2"`)
	b.call("drop_queue", "q")
	a.commit()

	a.call("create_queue", "q", 1)
	a.begin()
	a.call("post", "q", "n=>3")
	b.call("drop_queue", "q")
	b.call("create_queue", "q", 1)
	a.commit() // the new queue of that name receives the message
	a.consumes("q", `"n"=>"3"`)
}

func postsTo(queueName string, args ...any) func(a, b *caller) string {
	return func(a, _ *caller) string {
		a.call("post", append([]any{queueName}, args...)...)
		return queueName
	}
}

func (c *caller) drop(queueName string) { c.call("drop_queue", queueName) }

func (c *caller) declares(queueName string) {
	c.t.Helper()
	_, err := c.s.own.DeclareQueue(catalog.QueueSpec{Name: queueName, Durable: true, Policy: catalog.DefaultQueuePolicy()})
	if err != nil {
		c.t.Fatal(err)
	}
}
