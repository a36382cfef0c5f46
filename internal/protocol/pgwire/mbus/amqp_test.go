package mbus

import (
	"context"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// amqpQueue creates a queue as an AMQP client would.
func (c *caller) amqpQueue(name string, change func(*catalog.QueuePolicy)) {
	c.t.Helper()
	spec := catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()}
	change(&spec.Policy)
	if _, err := c.s.own.DeclareQueue(spec); err != nil {
		c.t.Fatal(err)
	}
}

// TestFullQueue: a queue that rejects a message makes the whole transaction fail.
func TestFullQueue(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.amqpQueue("full", func(p *catalog.QueuePolicy) { p.MaxLength, p.Overflow = 1, catalog.RejectPublish })
	a.call("post", "full", "n=>1")
	a.call("post", "q", "n=>2")
	a.begin()
	a.call("consume", "q")
	a.call("post", "q", "n=>3")
	a.call("post", "full", "n=>4")
	a.open = false
	if err := a.s.Commit(context.Background()); err == nil || translate(failure.ErrRejected).Code != "53400" {
		t.Errorf("commit: %v", err)
	}
	b.consumes("q", `"n"=>"2"`)
	b.consumes("full", `"n"=>"1"`)
}

// TestRollbackIsNoReturn: a message put back by a rollback does not count as redelivered, and does
// not reach the delivery limit.
func TestRollbackIsNoReturn(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.amqpQueue("graves", func(*catalog.QueuePolicy) {})
	a.amqpQueue("q", func(p *catalog.QueuePolicy) {
		p.DeliveryLimit, p.DeadLetter, p.HasDeadLetterKey, p.DeadLetterKey = 1, true, true, "graves"
		p.RetryType = catalog.RetryAll
	})
	a.call("post", "q", "n=>1")
	for range 5 {
		a.begin()
		if r := a.call("consume", "q"); len(r) != 1 {
			t.Fatal("it is not there")
		}
		a.rollback()
	}
	b.consumes("graves")
	b.consumes("q", `"n"=>"1"`)
}

// TestQueueDeletedByOthers: a session that holds a message of a queue that an AMQP client deletes
// can still commit or roll back the rest.
func TestQueueDeletedByOthers(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "r", 1)
	for i, commit := range []bool{true, false} {
		a.call("create_queue", "q", 1)
		id := a.text("post", "q", "n=>1")
		a.begin()
		a.call("take", id)
		a.call("post", "r", "n=>2")
		began, failed := make(chan struct{}), make(chan error)
		go func() {
			close(began)
			_, err := b.try("take_from_q_by_default", id)
			failed <- err
		}()
		<-began
		if _, err := a.s.own.DeleteQueue("q", false, false); err != nil {
			t.Fatal(err)
		}
		<-failed // with an error or without a message: it must not block forever
		if commit {
			a.commit()
		} else {
			a.rollback()
		}
		if n := a.call("estimated_messages", "r")[0][0]; n != int64(1) {
			t.Errorf("round %d: %v messages", i, n)
		}
	}
}

// TestDeletedByOthersMadeAgain: create_queue recreates the parts of a queue that AMQP clients have
// deleted.
func TestDeletedByOthersMadeAgain(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	for name, remove := range map[string]func() error{
		"queue": func() error {
			_, err := a.s.own.DeleteQueue("q", false, false)
			return err
		},
		"exchange": func() error { return a.s.own.DeleteExchange("q", false) },
	} {
		a.call("create_queue", "q", 1)
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		a.call("create_queue", "q", 1)
		a.call("create_consumer", "q", "c")
		a.call("post", "q", "n=>1")
		if t.Failed() {
			t.Fatalf("without the %s", name)
		}
		b.consumes("q", `"n"=>"1"`)
		b.consumesBy("q", "c", `"n"=>"1"`)
	}
}

// TestAlternateExchange: messages that no consumer matches go to the AMQP alternate exchange.
func TestAlternateExchange(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	own := a.s.own
	for _, spec := range []catalog.ExchangeSpec{
		{Name: "rest", Type: routing.TypeFanout, Durable: true}, {Name: "q", Type: routing.TypeFanout, Durable: true, Alternate: "rest"},
		{Name: "inner", Type: routing.TypeFanout, Durable: true, Internal: true},
	} {
		if err := own.DeclareExchange(spec); err != nil {
			t.Fatal(err)
		}
	}
	a.amqpQueue("left", func(*catalog.QueuePolicy) {})
	a.amqpQueue("some", func(*catalog.QueuePolicy) {})
	for _, bind := range []catalog.BindSpec{{Source: "rest", Destination: "left"}, {Source: "q", Destination: "some", Args: selectorTable("t.data ? 'x'")}} {
		if err := own.Bind(bind); err != nil {
			t.Fatal(err)
		}
	}
	a.call("post", "q", "n=>1")
	a.call("post", "q", "x=>1")
	a.consumes("left", `"n"=>"1"`)
	a.consumes("some", `"x"=>"1"`)
	a.fails("internal", "post", "inner", "n=>1")
}

// TestPriorities: a batch of messages has the same order as single messages.
func TestPriorities(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.amqpQueue("p", func(p *catalog.QueuePolicy) { p.MaxPriority, p.ConsumeAfter = 5, true })
	for _, post := range [][2]string{{"n=>1", ""}, {"n=>2", "priority=>9"}, {"n=>3", "priority=>3"}} {
		a.call("post", "p", post[0], post[1])
	}
	a.begin()
	a.call("post", "p", "n=>4", "priority=>5")
	var got string
	for _, r := range a.call("consumen_p_by_default", 3) {
		got += dataOf(r)
	}
	if want := `"n"=>"2""n"=>"4""n"=>"3"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a.commit()
	a.consumes("p", `"n"=>"1"`)
}

// TestOwnPostsInOrderOfAdded: a transaction receives its own posts in the order of added, too.
func TestOwnPostsInOrderOfAdded(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.begin()
	a.call("post", "q", "n=>1")
	a.call("post", "q", "n=>2", `enqueue_time=>"2001-01-01 00:00:00"`)
	a.consumes("q", `"n"=>"2"`, `"n"=>"1"`)
	a.commit()
}
