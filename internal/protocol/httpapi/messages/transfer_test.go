package messages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// kill dead-letters messages of a queue by rejecting them, and waits until they are in the other
// queue.
func (n *node) kill(queue, dead string, count int) {
	n.t.Helper()
	for range count {
		d, _, ok, err := n.s.Get(queue, false)
		must(n.t, err)
		if !ok {
			n.t.Fatal("nothing to kill")
		}
		tx := n.s.NewTx()
		tx.Reject(d.Queue, nil, d.Handle, 1)
		must(n.t, tx.Commit())
	}
	n.awaitReady(dead, count)
}

// awaitReady waits until a queue has this many ready messages.
func (n *node) awaitReady(queue string, count int) {
	n.t.Helper()
	for have := -1; have < count; {
		st, err := inspect.Queue(n.s, queue)
		must(n.t, err)
		have = st.Ready
	}
}

// ended waits for a task to end.
func (n *node) ended(task Task) Task {
	n.t.Helper()
	for task.State == running {
		task = ask[Task](n, "GET /api/tasks/"+task.ID)
	}
	return task
}

func (t Task) figures() string {
	return fmt.Sprint(t.State, " ", t.Moved, " ", t.Skipped, " ", t.Remaining)
}

func TestRedrive(t *testing.T) {
	n := start(t)
	n.queue("dead")
	n.queue("a", deadTo("dead"))
	n.queue("b", deadTo("dead"))
	for i := range 3 {
		n.put("a", fmt.Sprint("a", i), fmt.Sprint("a", i), message.Field{Name: "tenant", Value: fmt.Sprint("t", i)})
		n.put("b", fmt.Sprint("b", i), fmt.Sprint("b", i))
	}
	n.kill("a", "dead", 3)
	n.kill("b", "dead", 3)
	n.awaitReady("dead", 6)
	n.put("dead", "alien", "never died")

	task := ask[Task](n, `POST /api/queues/%2F/dead/redrive {"filter":"tenant = 't1'"}`)
	if got := n.ended(task).figures(); got != "done 1 6 0" {
		t.Errorf("one by a filter: %s", got)
	}
	same(t, n.bodies("a"), "a1")
	if got := n.ended(ask[Task](n, `POST /api/queues/%2F/dead/redrive {"limit":2}`)).figures(); got != "done 2 0 4" {
		t.Errorf("two: %s", got)
	}
	if got := n.ended(ask[Task](n, `POST /api/queues/%2F/dead/redrive {}`)).figures(); got != "done 3 1 0" {
		t.Errorf("the rest: %s", got)
	}
	same(t, n.bodies("a"), "a1", "a0", "a2")
	same(t, n.bodies("b"), "b0", "b1", "b2")
	same(t, n.bodies("dead"), "never died")
	m := ask[Page](n, "GET /api/queues/%2F/a/messages").Messages[0]
	if headers := fmt.Sprint(m.Properties["headers"]); m.RoutingKey != "a" || m.Exchange != "" || headers != "map[tenant:t1]" {
		t.Errorf("%s %s", m.RoutingKey, headers)
	}
	n.play([]resttest.Step{
		{"GET /api/queues/%2F/dead/tasks", 200, `"kind":"redrive"`},
		{"GET /api/queues/%2F/a/tasks", 200, `[]`},
		{"GET /api/queues/%2F/none/tasks", 404, ""},
		{"GET /api/tasks/none", 404, "no task with that id"},
		{"DELETE /api/tasks/none", 404, "no task with that id"},
		{`POST /api/queues/%2F/none/redrive {}`, 404, "no such queue"},
		{`POST /api/queues/%2F/dead/redrive {"to":"none"}`, 404, "no such queue"},
		{`POST /api/queues/%2F/dead/redrive {"to":"dead"}`, 400, "in queue 'dead' already"},
		{`POST /api/queues/%2F/dead/redrive {"rate":-1}`, 400, "not negative"},
		{`POST /api/queues/%2F/dead/redrive {"filter":"("}`, 400, "filter: "},
		{`POST /api/queues/%2F/dead/messages/move {}`, 400, "to is missing"},
	})
	// To a queue of the operator's choice, a redrive also moves messages that never died.
	if got := n.ended(ask[Task](n, `POST /api/queues/%2F/dead/redrive {"to":"b"}`)).figures(); got != "done 1 0 0" {
		t.Errorf("to a queue: %s", got)
	}
	same(t, n.bodies("b"), "b0", "b1", "b2", "never died")
}

// A redrive returns a message to the queue where it died last, and leaves messages whose queue is
// gone.
func TestRedriveGoesBack(t *testing.T) {
	n := start(t)
	n.queue("second")
	n.queue("first", deadTo("second"))
	n.queue("a", deadTo("first"))
	n.queue("b", deadTo("first"))
	n.put("a", "m", "m")
	n.put("b", "n", "n")
	n.kill("a", "first", 1)
	n.kill("b", "first", 1)
	n.awaitReady("first", 2)
	n.kill("first", "second", 1)
	n.ended(ask[Task](n, `POST /api/queues/%2F/second/redrive {}`))
	same(t, n.bodies("second"))
	if got := n.bodies("first"); len(got) != 2 {
		t.Errorf("first has %q", got)
	}
	_, err := n.s.DeleteQueue("b", false, false)
	must(t, err)
	task := n.ended(ask[Task](n, `POST /api/queues/%2F/first/redrive {}`))
	if task.Moved+task.Skipped != 2 || task.Skipped == 0 {
		t.Errorf("%+v", task)
	}
}

func TestMoveMany(t *testing.T) {
	n := start(t)
	n.queue("q")
	n.queue("small", func(s *catalog.QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 150, catalog.RejectPublish })
	for i := range 250 {
		n.put("q", fmt.Sprint(i), fmt.Sprint(i))
	}
	task := n.ended(ask[Task](n, `POST /api/queues/%2F/q/messages/move {"to":"small"}`))
	if task.State != failed || task.Moved != 100 || !strings.Contains(task.Reason, "a queue is full") || task.Ended == "" {
		t.Errorf("%+v", task)
	}
	if got := n.bodies("q"); len(got) != 150 || got[0] != "100" || got[149] != "249" { // none was lost, and the order is unchanged
		t.Errorf("%d are left: %q", len(got), got)
	}
}

// A transfer respects its rate, and it can be stopped.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resttest.Open(t, vfs.NewMem())
		defer enginetest.Close(t, b)
		n := serve(t, b)
		n.queue("q")
		n.queue("to")
		for i := range 100 {
			n.put("q", fmt.Sprint(i), fmt.Sprint(i))
		}
		task := ask[Task](n, `POST /api/queues/%2F/q/messages/move {"to":"to","rate":10}`)
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		if now := ask[Task](n, "GET /api/tasks/"+task.ID); now.figures() != "running 50 0 50" {
			t.Errorf("after 5 s: %s", now.figures())
		}
		n.play([]resttest.Step{{"DELETE /api/tasks/" + task.ID, 204, ""}})
		synctest.Wait()
		if now := ask[Task](n, "GET /api/tasks/"+task.ID); now.figures() != "stopped 50 0 50" || now.Reason == "" {
			t.Errorf("stopped: %+v", now)
		}
		if got := n.bodies("q"); len(got) != 50 {
			t.Errorf("%d are left", len(got))
		}
	})
}

// TestRedriveCrash crashes at each disk operation in turn. Every dead letter is either in its old
// queue or in its new one, never in both.
func TestRedriveCrash(t *testing.T) {
	const letters = 3*batchMessages + 20
	want := make([]string, letters)
	for i := range want {
		want[i] = fmt.Sprintf("m%03d", i)
	}
	died := message.Field{Name: "x-death", Value: message.Array{message.Table{
		{Name: "queue", Value: "a"}, {Name: "reason", Value: "rejected"}, {Name: "exchange", Value: ""}, {Name: "routing-keys", Value: message.Array{"a"}},
	}}}
	split := 0 // crashes that left letters in both queues
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		b := resttest.Open(t, fs)
		n := serve(t, b)
		n.queue("dead")
		n.queue("a")
		for _, body := range want {
			n.put("dead", body, body, died)
		}
		fs.CrashAt(fs.Count() + k)
		n.ended(ask[Task](n, `POST /api/queues/%2F/dead/redrive {}`))
		enginetest.Compare(t, b)
		b.Close() //nolint:errcheck // its disk may have failed
		b = resttest.Open(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), 7))))
		n = serve(t, b)
		dead, alive := n.bodies("dead"), n.bodies("a")
		if len(dead) > 0 && len(alive) > 0 {
			split++
		}
		all := slices.Concat(dead, alive)
		slices.Sort(all)
		same(t, all, want...)
		enginetest.Close(t, b)
		if t.Failed() {
			t.Fatalf("crash at operation %d: %d and %d letters", k, len(dead), len(alive))
		}
		if !fs.Crashed() {
			break
		}
	}
	if split == 0 {
		t.Error("no crash came between two batches")
	}
}
