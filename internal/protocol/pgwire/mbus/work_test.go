package mbus

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func twoCallers(t *testing.T) (a, b *caller, end func()) {
	t.Helper()
	engine := openBroker(t, vfs.NewMem())
	return newCaller(t, engine, "guest"), newCaller(t, engine, "guest"), func() { enginetest.Close(t, engine) }
}

func TestTransactions(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.call("post", "q", "n=>1")
	a.call("post", "q", "n=>2")

	a.begin()
	a.call("post", "q", "n=>3")
	if r := a.call("consume", "q"); dataOf(r[0]) != `"n"=>"1"` {
		t.Errorf("took %v", r)
	}
	b.consumes("q", `"n"=>"2"`) // the first is held, the third is uncommitted
	a.consumes("q", `"n"=>"3"`) // its own post
	if there := a.call("peek_q"); there[0][0] != false {
		t.Error("what the transaction took is still there for it")
	}
	if there := b.call("peek_q"); there[0][0] != true {
		t.Error("what a transaction took is gone for others before it commits")
	}
	a.rollback()
	b.consumes("q", `"n"=>"1"`)

	a.begin()
	a.call("post", "q", "n=>4")
	mark := a.s.Savepoint()
	a.call("post", "q", "n=>5")
	a.call("consume", "q")
	a.s.RollbackTo(mark)
	a.call("post", "q", "n=>6")
	if n := a.call("estimated_messages", "q")[0][0]; n != int64(2) {
		t.Errorf("estimated %v", n)
	}
	a.commit()
	b.consumes("q", `"n"=>"4"`, `"n"=>"6"`)

	a.begin() // held messages return to their places
	for i := range 3 {
		b.call("post", "q", "n=>"+string(rune('7'+i)))
	}
	a.call("consumen_q_by_default", 2)
	mark = a.s.Savepoint()
	a.call("consume", "q")
	a.s.RollbackTo(mark)
	b.consumes("q", `"n"=>"9"`)
	a.s.Close()
	b.consumes("q", `"n"=>"7"`, `"n"=>"8"`)
}

func TestDefinitionsRollBack(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.call("create_consumer", "q", "c")
	a.call("post", "q", "n=>1")
	a.begin()
	a.call("create_queue", "r", 4)
	a.call("create_consumer", "r", "rc")
	a.call("create_view", "r")
	a.call("create_trigger", "q", "r")
	a.call("post", "r", "n=>2")
	a.consumes("r", `"n"=>"2"`)
	a.rollback()
	b.fails("Unknown queue:r", "post", "r", "n=>3")
	b.call("post", "q", "n=>2")
	if len(b.s.triggers()) != 0 || len(b.s.known().views) != 0 {
		t.Error("a definition outlived the rollback")
	}
	a.begin()
	a.call("drop_consumer", "c", "q")
	a.fails("unknown consumer:c", "consume", "q", "c")
	a.call("drop_queue", "q")
	a.fails("Unknown queue:q", "post", "q", "n=>3")
	a.rollback()
	b.consumes("q", `"n"=>"1"`, `"n"=>"2"`)
	b.consumesBy("q", "c", `"n"=>"1"`, `"n"=>"2"`)
	a.begin()
	a.call("drop_queue", "q")
	b.call("post", "q", "n=>4")
	a.commit()
	b.fails("Unknown queue:q", "post", "q", "n=>5")
	if b.s.own.HasQueue("q.c") || b.s.own.HasExchange("q") {
		t.Error("parts of a queue outlived it")
	}
}

func TestSaga(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	after := func(ids string) hstore.Map {
		return hstore.New([]hstore.Pair{{Key: "consume_after", Value: "{" + ids + "}"}})
	}
	for _, q := range []string{"server1", "server2", "local"} {
		a.call("create_queue", q, 4)
	}
	a.begin() // posts of one transaction can depend on each other
	id1, id2 := a.text("post", "server1", "create=>vasya"), a.text("post", "server2", "create=>vasya")
	a.call("post", "server1", "limit=>10", after(id1))
	a.call("post", "server2", "limit=>10", after(id2))
	place := a.text("post", "local", "place=>set", after(id1+","+id2))
	a.call("post", "local", "remove=>vasya", after(place))
	a.commit()
	b.consumes("local")
	b.begin()
	if r := b.call("consume", "server1"); len(r) != 1 || dataOf(r[0]) != `"create"=>"vasya"` {
		t.Fatalf("server1 gave %v", r)
	}
	a.consumes("server1")
	b.rollback()
	b.begin()
	b.call("consume", "server1")
	b.commit()
	a.consumes("server1", `"limit"=>"10"`)
	a.consumes("local")
	if r := a.call("take", id2); dataOf(r[0][0].(value.Record)) != `"create"=>"vasya"` {
		t.Errorf("took %v", r)
	}
	a.consumes("server2", `"limit"=>"10"`)
	a.fails("malformed array literal", "post", "server1", "limit=>10", hstore.New([]hstore.Pair{{Key: "consume_after", Value: id1}}))
	b.consumes("local", `"place"=>"set"`, `"remove"=>"vasya"`)
}

// A transaction that has taken one consumer's copy of a message does not unblock the messages that
// depend on it, including its own posts.
func TestWaitsForTheCopiesOfOthers(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "a", 2)
	c.call("create_queue", "b", 2)
	c.call("create_consumer", "a", "second")
	c.call("post", "a", "n=>1", nil, nil, nil, nil, "a.x1")
	c.begin()
	c.consumes("a", `"n"=>"1"`)
	c.call("post", "b", "n=>2", `consume_after=>"{a.x1}"`)
	c.consumes("b")
	if exists := c.call("is_msg_exists", "a.x1")[0][0]; exists != true {
		t.Errorf("exists: %v", exists)
	}
	c.consumesBy("a", "second", `"n"=>"1"`)
	c.consumes("b", `"n"=>"2"`)
	c.rollback()
	c.consumes("a", `"n"=>"1"`)
}

func TestDelayAndExpiry(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	local := func(d time.Duration) temporal.Timestamp {
		return temporal.Timestamp(time.Now().Add(d).UnixMicro() - localtime.Unix2000*1e6)
	}
	a.begin()
	a.call("post", "q", "n=>late", nil, nil, local(time.Hour))
	a.call("post", "q", "n=>past", nil, nil, local(-time.Minute))
	a.call("post", "q", "n=>dead", nil, nil, nil, local(-time.Second))
	a.call("post", "q", "n=>alive", nil, nil, nil, local(time.Hour))
	a.call("post", "q", "n=>ever", nil, nil, localtime.MinusInfinity, localtime.Infinity)
	a.call("post", "q", "n=>never", nil, nil, localtime.Infinity)
	mark := a.s.Savepoint()
	a.consumes("q", `"n"=>"ever"`, `"n"=>"alive"`, `"n"=>"past"`)
	a.s.RollbackTo(mark)
	a.commit()
	b.consumes("q", `"n"=>"ever"`, `"n"=>"alive"`, `"n"=>"past"`)
	exact := local(-time.Minute) + 123
	a.call("post", "q", "n=>1", nil, nil, exact, local(time.Hour)/1e6*1e6+456)
	r := a.call("consume", "q")
	if r[0][colDelayed] != exact || r[0][colExpires].(temporal.Timestamp)%1e6 != 456 {
		t.Errorf("times %v %v", r[0][colDelayed], r[0][colExpires])
	}
}

func TestTakeWaits(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	id := a.text("post", "q", "n=>1")
	for _, commit := range []bool{false, true} {
		a.begin()
		a.call("take_from_q_by_default", id)
		if again := a.call("take", id); again[0][0] != nil {
			t.Errorf("took twice: %v", again)
		}
		began := make(chan struct{})
		result := make(chan value.Datum)
		go func() {
			close(began)
			r, _ := b.try("take", id)
			result <- r[0][0]
		}()
		<-began
		if commit {
			a.commit()
		} else {
			a.rollback()
		}
		if r := <-result; (r == nil) == !commit {
			t.Errorf("commit %v: the waiter got %v", commit, r)
		}
		if !commit {
			id = a.text("post", "q", "n=>2")
		}
	}
	held := a.text("post", "q", "n=>3")
	a.begin()
	a.call("take", held)
	ctx, cancel := context.WithCancel(context.Background())
	b.env.Ctx = ctx
	failed := make(chan error)
	go func() {
		_, err := b.try("take", held)
		failed <- err
	}()
	cancel()
	if err := <-failed; err == nil {
		t.Error("a cancelled take succeeded")
	}
}

func TestRunFunction(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.fails("0 functions", "run_on_q", "x")
	a.call("create_run_function", "q")
	a.s.Run = func(_ *expr.Env, _ string, _ []*value.Type, args []value.Datum, _ func([]value.Datum) error) error {
		m := args[0].(value.Record)
		if _, bad := m[colData].(hstore.Map).Get("bad"); bad {
			a.call("post", "q", "undone=>1")
			return pgerror.New("22012", "division by zero")
		}
		a.call("post", "q", "done=>1")
		return nil
	}
	var bad string
	for _, data := range []string{"good=>1", "good=>3", "bad=>2"} {
		bad = a.text("post", "q", data, "mark=>"+data[:1])
	}
	after := hstore.New([]hstore.Pair{{Key: "consume_after", Value: "{" + bad + "}"}})
	waiting := a.text("post", "q", "waits=>1", after)
	a.begin()
	if n := a.call("run_on_q", "whatever")[0][0]; n != int64(2) {
		t.Errorf("%v went well, want 2", n)
	}
	a.commit()
	b.consumes("q", `"done"=>"1"`, `"done"=>"1"`) // messages that depend on the failed one stay blocked
	dead := b.call("consume", "dmq")
	headers := headersOf(dead[0])
	if e, _ := headers.Get("dmq.error"); dataOf(dead[0]) != `"bad"=>"2"` || e.Value != "division by zero" || !headers.Exists("dmq.added") {
		t.Errorf("dead: %v", dead)
	}
	if m, _ := headers.Get("mark"); m.Value != "b" {
		t.Errorf("the headers were lost: %v", headers)
	}
	if r := b.call("consume", "q"); len(r) != 1 || r[0][colIID] != waiting {
		t.Errorf("what waited: %v", r)
	}
	b.call("post_dmq", "n=>1")
	b.consumes("dmq", `"n"=>"1"`)
}

// TestConsumeSomeIsBounded: one call returns no more messages than fit into memory, however many it
// asks for. The others stay in their queue.
func TestConsumeSomeIsBounded(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	const batch = loans.FetchBatch
	const n = 3*batch + 1
	a.begin()
	for range n {
		a.call("post", "q", "n=>1")
	}
	a.commit()
	a.s.most = 1 // reached with the first batch
	a.begin()
	if all := a.call("consumen_q_by_default", nil); len(all) != batch {
		t.Errorf("%d messages in one call", len(all))
	}
	if all := a.call("consumen_q_by_default", batch+1); len(all) != batch {
		t.Errorf("%d messages in the next", len(all))
	}
	if all := b.call("consumen_q_by_default", nil); len(all) != n-2*batch {
		t.Errorf("%d messages are left to others", len(all))
	}
	a.rollback()
	if all := b.call("consumen_q_by_default", nil); len(all) != 2*batch {
		t.Errorf("%d messages after the rollback", len(all))
	}
}

// TestGrantsOfOthersSurviveARollback: a rollback undoes what its transaction granted and revoked,
// and nothing else.
func TestGrantsOfOthersSurviveARollback(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	for _, name := range []string{"anna", "bob", "carl"} {
		addUser(t, a.s.b, name, ".*", ".*", ".*")
	}
	a.call("create_queue", "q", 1)
	a.call("create_view", "q")
	change := func(c *caller, do func(*view, *expr.Env, string, []string) error, privilege, who string) {
		t.Helper()
		def, _ := c.s.viewNamed("q_q")
		if err := do(&view{c.s, def}, c.env, privilege, []string{who}); err != nil {
			t.Fatal(err)
		}
	}
	change(b, (*view).Grant, "SELECT", "anna")
	change(b, (*view).Grant, "ALL", "bob")
	b.commit()
	a.begin()
	change(a, (*view).Grant, "ALL", "anna")
	change(a, (*view).Revoke, "INSERT", "bob")
	change(a, (*view).Grant, "SELECT", "carl")
	b.begin()
	change(b, (*view).Revoke, "SELECT", "bob")
	change(b, (*view).Grant, "INSERT", "public")
	b.commit()
	a.rollback()
	def, _ := a.s.viewNamed("q_q")
	if got, want := fmt.Sprint(def.Grants), "map[anna:[SELECT] bob:[INSERT] public:[INSERT]]"; got != want {
		t.Errorf("the grants are %s, want %s", got, want)
	}
}

// TestGrantsAtOnce: of grants on one view that are made at the same moment, none is lost.
func TestGrantsAtOnce(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.call("create_view", "q")
	const rounds = 50
	var done sync.WaitGroup
	for i, c := range []*caller{a, b} {
		for n := range rounds {
			addUser(t, c.s.b, fmt.Sprintf("u%d_%d", i, n), ".*", ".*", ".*")
		}
		def, _ := c.s.viewNamed("q_q")
		done.Go(func() {
			for n := range rounds {
				if err := (&view{c.s, def}).Grant(c.env, "SELECT", []string{fmt.Sprintf("u%d_%d", i, n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	def, _ := a.s.viewNamed("q_q")
	if got := len(def.Grants); got != 2*rounds {
		t.Errorf("%d grants, want %d", got, 2*rounds)
	}
}
