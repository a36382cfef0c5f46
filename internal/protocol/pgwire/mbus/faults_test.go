package mbus

import (
	"context"
	"errors"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// TestTakeDeadlock: of two transactions that wait for each other's messages, one gets a deadlock
// error, as in PostgreSQL.
func TestTakeDeadlock(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	one, two := a.text("post", "q", "n=>1"), a.text("post", "q", "n=>2")
	a.begin()
	b.begin()
	a.call("take", one)
	b.call("take", two)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a.env.Ctx, b.env.Ctx = ctx, ctx
	failed := make(chan error, 2)
	take := func(c *caller, id string) {
		_, err := c.try("take", id)
		if err != nil {
			c.rollback()
		}
		failed <- err
	}
	go take(a, two)
	go take(b, one)
	first, second := <-failed, <-failed
	if first == nil {
		first, second = second, first
	}
	var e *pgerror.Error
	if !errors.As(first, &e) || e.Code != "40P01" || e.Message != "deadlock detected" || second != nil {
		t.Errorf("errors %v, %v", first, second)
	}
}

// TestCopiesOfOneMessage: a message exists until every consumer has received its copy.
func TestCopiesOfOneMessage(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.call("create_consumer", "q", "c")
	id := a.text("post", "q", "n=>1")
	a.begin()
	a.call("consume", "q")
	if there := a.call("is_msg_exists", id); there[0][0] != true {
		t.Error("a message is gone when one of two consumers has received it")
	}
	a.call("post", "q", "n=>2", `"consume_after"=>"{`+id+`}"`)
	a.consumes("q")
	a.consumesBy("q", "c", `"n"=>"1"`, `"n"=>"2"`)
	a.consumes("q", `"n"=>"2"`)
	a.commit()
}

// TestTriggerRights: a trigger whose queues are created later has the rights of the user who
// created the trigger, not of the user who creates the queues.
func TestTriggerRights(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	addUser(t, a.s.b, "anna", "^anna", ".*", "^anna")
	anna := newCaller(t, a.s.b, "anna")
	anna.call("create_queue", "anna1", 1)
	anna.fails("Access denied", "create_trigger", "secret", "anna1")
	a.call("create_queue", "secret", 1)
	a.call("post", "secret", "n=>1")
	anna.consumes("anna1")
	a.consumes("secret", `"n"=>"1"`)
}

// TestDropRights: a forbidden drop fails at once, not at the commit.
func TestDropRights(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	addUser(t, a.s.b, "anna", "^q$", ".*", ".*")
	anna := newCaller(t, a.s.b, "anna")
	a.call("create_queue", "q", 1)
	a.call("create_consumer", "q", "c")
	anna.begin()
	anna.call("post", "q", "n=>1")
	anna.fails("Access denied", "drop_queue", "q")
	anna.rollback()
	a.consumes("q")
}

// TestDynConsumeOfFreed: a search covers all messages unblocked by the transaction's own takes.
func TestDynConsumeOfFreed(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	id := a.text("post", "q", "n=>1")
	a.call("post", "q", "n=>2", `"consume_after"=>"{`+id+`}"`)
	a.call("post", "q", "n=>3", `"consume_after"=>"{`+id+`}"`)
	a.begin()
	a.call("consume", "q")
	if r := a.call("dyn_consume", "q", "t.data->'n'='3'"); len(r) != 1 || dataOf(r[0]) != `"n"=>"3"` {
		t.Errorf("got %v", r)
	}
	a.consumes("q", `"n"=>"2"`)
	a.commit()
}

// TestTriggerToLaterExchange: a trigger to a queue that later became an SQL queue can be dropped.
func TestTriggerToLaterExchange(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	if _, err := a.s.own.DeclareQueue(catalog.QueueSpec{Name: "dst", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	a.call("create_queue", "src", 4)
	a.call("create_trigger", "src", "dst")
	a.call("create_queue", "dst", 4)
	a.call("post", "src", "n=>1")
	a.consumes("dst", `"n"=>"1"`)
	a.call("drop_trigger", "src", "dst")
	a.call("post", "src", "n=>2")
	a.consumes("dst")
}

// TestPostBesideExchange: an AMQP exchange with the name of a queue does not swallow posts to the
// queue.
func TestPostBesideExchange(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	own := a.s.own
	if err := own.DeclareExchange(catalog.ExchangeSpec{Name: "orders", Type: routing.TypeTopic, Durable: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := own.DeclareQueue(catalog.QueueSpec{Name: "orders", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	a.call("post", "orders", "n=>1")
	a.consumes("orders", `"n"=>"1"`)
}

// TestQueueCalledTemp: temporary queues are not consumers of a queue called temp.
func TestQueueCalledTemp(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "temp", 1)
	a.call("create_consumer", "temp", "c")
	temporary := b.text("create_temporary_consumer", "temp")
	id := a.text("post", "temp", "n=>1")
	a.call("take", id)
	b.consumes(temporary, `"n"=>"1"`)
	a.call("post", "temp", "n=>2")
	a.call("drop_queue", "temp")
	b.consumes(temporary, `"n"=>"2"`)
}

// TestMadeAgain: a queue that a script drops and creates again in one go exists and is empty
// afterwards. Between BEGIN and COMMIT that is an error, because the drop could not be undone.
func TestMadeAgain(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	block := false
	a.s.InBlock = func() bool { return block }
	a.call("create_queue", "q", 1)
	a.call("create_queue", "r", 1)
	a.call("create_consumer", "q", "c")
	a.call("create_trigger", "q", "r", "t.data ? 'n'")
	a.call("post", "q", "n=>1")
	a.begin()
	a.call("post", "r", "n=>0")
	a.call("drop_trigger", "q", "r")
	a.call("create_trigger", "q", "r", "t.data ? 'm'")
	a.call("drop_consumer", "c", "q")
	a.call("create_consumer", "q", "c", "t.data ? 'm'")
	a.call("drop_queue", "q")
	a.call("create_queue", "q", 1)
	a.call("post", "q", "m=>2")
	a.commit()
	a.consumes("q", `"m"=>"2"`)
	a.consumes("r", `"n"=>"1"`, `"n"=>"0"`)
	a.fails("unknown consumer", "consume", "q", "c")
	block = true
	a.begin()
	a.call("drop_queue", "q")
	a.fails("was dropped in this transaction", "create_queue", "q", 1)
	a.rollback()
	block = false
	a.call("create_run_function", "r")
	a.call("post", "r", "n=>1")
	a.s.Run = func(*expr.Env, string, []*value.Type, []value.Datum, func([]value.Datum) error) error {
		if _, err := a.s.dropQueue(a.env, arguments{"q"}); err != nil {
			return err
		}
		_, err := a.s.createQueue(a.env, arguments{"q", int64(1), nil})
		return err
	}
	if r := a.call("run_on_r", ""); r[0][0] != int64(0) {
		t.Errorf("a run function committed in the middle: %v", r)
	}
	a.consumes("r")
}

// TestRollbackOfUsedQueue: a rollback does not remove a new queue to which others have posted.
func TestRollbackOfUsedQueue(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	for _, used := range []bool{true, false} {
		a.begin()
		a.call("create_queue", "q", 1)
		a.call("create_consumer", "q", "c")
		a.call("post", "q", "n=>1")
		if used {
			b.call("post", "q", "n=>2")
			if r := a.call("consume", "q"); len(r) != 1 || dataOf(r[0]) == "" {
				t.Errorf("got %v", r)
			}
		}
		a.rollback()
		if !used {
			b.fails("Unknown queue", "post", "q", "n=>3")
			continue
		}
		b.fails("unknown consumer", "consume", "q", "c")
		b.consumes("q", `"n"=>"2"`)
		b.call("post", "q", "n=>3")
		b.consumes("q", `"n"=>"3"`)
		b.call("drop_queue", "q")
	}
}

// TestCancelledSearch: the cancellation of a statement stops the search of dyn_consume at once.
func TestCancelledSearch(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	for range 100 {
		a.call("post", "q", "n=>1")
	}
	keep, err := compileCondition("false")
	if err != nil {
		t.Fatal(err)
	}
	over := &overAfter{Context: t.Context(), left: 10}
	a.env.Ctx = over
	if _, err := a.s.consume(a.env, "q", "default", 1, keep); err != context.Canceled || over.left < -5 {
		t.Errorf("%v; asked %d times after the end", err, -over.left)
	}
	if all := b.call("consumen_q_by_default", 200); len(all) != 100 {
		t.Errorf("%d messages are left", len(all))
	}
}

// TestCancelledTake: a message that take has got when its statement is canceled returns to its
// queue. The session that took it goes on.
func TestCancelledTake(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	for _, take := range []string{"take", "take_from_q_by_default"} {
		iid := a.text("post", "q", "n=>1")
		a.env.Ctx = &overAfter{Context: t.Context()}
		if _, err := a.try(take, iid); err != context.Canceled {
			t.Errorf("%s: %v", take, err)
		}
		b.consumes("q", `"n"=>"1"`)
		a.env.Ctx = t.Context()
	}
}

// overAfter is a context that is canceled after a number of checks.
type overAfter struct {
	context.Context
	left int
}

func (o *overAfter) Err() error {
	if o.left--; o.left >= 0 {
		return nil
	}
	return context.Canceled
}

// TestBuriedWithoutID: an AMQP message without an id keeps its positional iid in the dead message
// queue.
func TestBuriedWithoutID(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.call("post", "dmq", "n=>1", nil, nil, nil, nil, "q.@7")
	for _, f := range []string{"peek", "take"} {
		if r := a.call(f, "q.@7"); r[0][0] == nil {
			t.Errorf("%s does not find it", f)
		}
	}
}

// TestConsumerQueuesAreGuarded: the roles model also protects the engine queues of consumers.
func TestConsumerQueuesAreGuarded(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	addUser(t, a.s.b, "anna", ".*", ".*", ".*")
	anna := newCaller(t, a.s.b, "anna")
	a.call("create_queue", "q", 1, true)
	a.call("create_consumer", "q", "c")
	a.call("post", "q", "n=>1")
	anna.fails("Access denied", "consume", "q", "c")
	anna.fails("Access denied", "consume", "q.c")
	anna.fails("Access denied", "post", "q.c", "n=>2")
	anna.fails("Access denied", "messages", "q.c")
	anna.fails("Access denied", "create_temporary_consumer", "q")
	anna.call("create_queue", "mine", 1)
	anna.fails("Access denied", "create_trigger", "q", "mine")
	anna.fails("Access denied", "create_trigger", "mine", "q")
	anna.call("create_view", "q")
	view := anna.s.Schemas()[2].Relation(anna.env, "q_q").(*view)
	for _, err := range view.Scan(anna.env, nil) {
		if err == nil || err.Error() != "Access denied" {
			t.Errorf("a view gave what its owner may not have: %v", err)
		}
	}
	if _, err := view.Insert(anna.env, make([]value.Datum, 1), nil); err == nil || err.Error() != "Access denied" {
		t.Errorf("a view took what its owner may not post: %v", err)
	}
}
