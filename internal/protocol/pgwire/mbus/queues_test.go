package mbus

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestQueueLife(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs)
	defer func() { enginetest.Close(t, b) }()
	c := newCaller(t, b, "guest")
	c.fails("No queues were defined", "consume", "q")
	for _, name := range []string{"A", "", "a-b", strings.Repeat("a", 33), "a.b"} {
		c.fails("Name "+name+" too long (32 chars max) or contains illegal chars", "create_queue", name, 4)
	}
	c.call("create_queue", "q", 4)
	c.call("create_queue", "q", 8)
	c.fails("Unknown queue:none", "post", "none", "a=>1")
	c.fails("Queue none does not exists", "consume", "none")
	c.fails("unknown consumer:x", "consume", "q", "x")
	c.fails("Wrong iid=x.1 for queue q", "post", "q", "a=>1", nil, nil, nil, nil, "x.1")
	first := c.text("post", "q", "a=>1")
	if !strings.HasPrefix(first, "q.") {
		t.Errorf("iid %s", first)
	}
	c.call("post_q", "a=>2")
	c.call("post", "Q", "a=>3")
	reserved := c.text("get_iid", "q")
	if got := c.text("post", "q", "a=>4", nil, nil, nil, nil, reserved); got != reserved {
		t.Errorf("posted as %s, want %s", got, reserved)
	}
	c.fails("Message "+reserved+" already exists", "post", "q", "a=>4", nil, nil, nil, nil, reserved)
	if r := c.call("consume_q_by_default"); len(r) != 1 || r[0][colIID] != first || dataOf(r[0]) != `"a"=>"1"` {
		t.Errorf("consumed %v", r)
	}
	if r := c.call("consumen_q_by_default", 10); len(r) != 3 || dataOf(r[2]) != `"a"=>"4"` {
		t.Errorf("consumed %v", r)
	}
	c.consumes("q")
	c.call("post", "q", "kept=>1")
	c.call("drop_queue", "q")
	c.fails("0 functions", "post_q", "a=>1")
	c.fails("Unknown queue:q", "post", "q", "a=>1")
	c.fails("Queue q does not exists", "drop_queue", "q")
	c.call("create_queue", "q", 4)
	c.consumes("q")
}

func TestConsumersOfQueue(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	c.call("post", "q", "n=>0")
	c.call("create_consumer", "q", "done", `(t.properties->'STATE')='DONE'`)
	c.call("create_consumer", "every", "q") // in the reverse order
	c.call("create_consumer", "q", "done", `(t.properties->'STATE')='DONE'`)
	c.fails("Consumer with identical name (done) and different selector already exists!", "create_consumer", "q", "done", "true")
	c.call("create_queue", "r", 4)
	c.fails("Consumer with identical name (done) and different queue already exists!", "create_consumer", "r", "done", "true")
	c.fails("Wrong queue name:none", "create_consumer", "none", "c", "true")
	c.fails("Wrong consumer name:A", "create_consumer", "q", "A", "true")
	c.fails("syntax error", "create_consumer", "q", "c", "not a (")
	c.fails("must be type boolean", "create_consumer", "q", "c", "1+1")
	c.fails("must be marked IMMUTABLE", "create_consumer", "q", "c", "t.added < now()")
	c.fails("must be marked IMMUTABLE", "create_consumer", "q", "c", "(t.properties->'u')=current_user")
	c.fails("subquery", "create_consumer", "q", "c", "exists(select 1)")
	c.call("create_consumer", "q", "seldom", `exist(t.data,'x')`, true)
	if len(c.notices) != 1 || !strings.HasPrefix(c.notices[0], "You must create index qt$q_for_seldom on") {
		t.Errorf("notices %q", c.notices)
	}
	c.call("post", "q", "n=>1", nil, "STATE=>DONE")
	c.call("post", "q", "n=>2")
	for range 2 { // the definitions survive a restart
		c.call("post", "q", "x=>3", nil, "STATE=>OPEN")
		c.s.Close()
		enginetest.Close(t, b)
		b = openBroker(t, fs)
		c = newCaller(t, b, "guest")
	}
	defer func() { enginetest.Close(t, b) }()
	c.consumesBy("q", "done", `"n"=>"1"`)
	c.consumesBy("q", "seldom", `"x"=>"3"`, `"x"=>"3"`)
	c.consumesBy("q", "every", `"n"=>"1"`, `"n"=>"2"`, `"x"=>"3"`, `"x"=>"3"`)
	c.consumes("q", `"n"=>"0"`, `"n"=>"1"`, `"n"=>"2"`, `"x"=>"3"`, `"x"=>"3"`)
	c.call("drop_consumer", "done", "q")
	c.fails("unknown consumer:done", "consume", "q", "done")
	c.fails("unknown consumer:done", "drop_consumer", "done", "q")
	c.fails("Queue none does not exists", "drop_consumer", "done", "none")
	c.fails("the default consumer of queue q cannot be dropped", "drop_consumer", "default", "q")
	c.fails("Unknown queue:", "create_trigger", "q", "")
}

func TestTriggers(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer func() { enginetest.Close(t, b) }()
	c := newCaller(t, b, "guest")
	for _, q := range []string{"a", "b", "c"} {
		c.call("create_queue", q, 4)
	}
	c.call("create_trigger", "a", "b", `t.data ? 'x'`)
	c.call("create_trigger", "b", "c")
	c.call("create_trigger", "b", "c")
	c.fails("Loop detected", "create_trigger", "c", "a")
	c.fails("Loop detected", "create_trigger", "a", "a")
	c.fails("Syntax error in selector:1 +", "create_trigger", "a", "c", "1 +")
	c.fails("Trigger from b to c with a different selector already exists!", "create_trigger", "b", "c", "true")
	c.call("create_trigger", "a", "late", "")
	if got := strings.Join(c.notices, ";"); got != "WARNING: destination queue (late) does not exists (yet?)" {
		t.Errorf("notices %q", got)
	}
	c.call("post", "a", "x=>1")
	c.call("post", "a", "y=>2")
	c.call("post", "a", "x=>3", "Redeploy=>1")
	c.call("create_queue", "late", 1)
	c.call("post", "a", "z=>4")
	c.consumes("a", `"x"=>"1"`, `"y"=>"2"`, `"x"=>"3"`, `"z"=>"4"`)
	c.consumes("b", `"x"=>"1"`)
	c.consumes("c", `"x"=>"1"`)
	c.consumes("late", `"z"=>"4"`)
	c.call("drop_trigger", "a", "b")
	c.call("drop_trigger", "a", "nothing")
	c.call("post", "a", "x=>5")
	c.consumes("b")
	c.consumes("a", `"x"=>"5"`)
}

func TestNamesWithBy(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer func() { enginetest.Close(t, b) }()
	c := newCaller(t, b, "guest")
	c.call("create_queue", "a", 1)
	c.call("create_queue", "a_by_b", 1)
	c.call("create_consumer", "a", "by_c")
	c.call("create_consumer", "a_by_b", "c")
	c.call("create_queue", "n_x", 1)
	c.call("post", "a", "of=>a")
	c.call("post", "a_by_b", "of=>b")
	c.call("post", "n_x", "of=>n")
	for name, want := range map[string]string{
		"consume_a_by_b_by_c": `"of"=>"b"`, "consume_a_by_by_c": `"of"=>"a"`, "consume_n_x_by_default": `"of"=>"n"`,
	} {
		if r := c.call(name); len(r) != 1 || dataOf(r[0]) != want {
			t.Errorf("%s: %v, want %s", name, r, want)
		}
	}
	c.fails("0 functions", "consume_a_by_b")
}

func TestTemporaryQueues(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer func() { enginetest.Close(t, b) }()
	c, other := newCaller(t, b, "guest"), newCaller(t, b, "guest")
	c.call("create_queue", "requests", 4)
	answers := c.text("create_temporary_queue")
	if second := c.text("create_temporary_queue"); second == answers || !strings.HasPrefix(second, "temp.") {
		t.Errorf("temporary queues %s, %s", answers, second)
	}
	c.call("post", "requests", "sum=>2", nil, "answer=>"+answers)
	request := other.call("consume", "requests")
	to, _ := propertiesOf(request[0]).Get("answer")
	if iid := other.text("post", to.Value, "four=>4"); !strings.HasPrefix(iid, "fiveways.") {
		t.Errorf("iid in a temporary queue: %s", iid)
	}
	c.consumes(answers, `"four"=>"4"`)
	copies := c.text("create_temporary_consumer", "requests", "t.data ? 'me'")
	c.call("post", "requests", "me=>1")
	c.call("post", "requests", "you=>1")
	c.consumes(copies, `"me"=>"1"`)
	c.call("clear_tempq")
	c.begin()
	undone := c.text("create_temporary_queue")
	c.rollback()
	other.fails("Unknown queue:"+undone, "post", undone, "a=>1")
	c.s.Close()
	other.fails("Unknown queue:"+answers, "post", answers, "a=>1")
	other.consumes("requests", `"me"=>"1"`, `"you"=>"1"`)
}
