package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (n *quartet) put(key, value string) {
	n.t.Helper()
	if _, err := n.etcd.c.Put(n.t.Context(), key, value); err != nil {
		n.t.Fatal(err)
	}
}

// del deletes a key and checks how many keys were deleted.
func (n *quartet) del(key string, want int64) {
	n.t.Helper()
	if resp, err := n.etcd.c.Delete(n.t.Context(), key); err != nil || resp.Deleted != want {
		n.t.Errorf("%s: %v deleted, want %d, %v", key, resp, want, err)
	}
}

// event returns the next event of a watch.
func (n *quartet) event(watch clientv3.WatchChan) *clientv3.Event {
	n.t.Helper()
	select {
	case told := <-watch:
		if err := told.Err(); err != nil || len(told.Events) != 1 {
			n.t.Fatalf("%d events, %v", len(told.Events), err)
		}
		return told.Events[0]
	case <-time.After(patience):
		n.t.Fatal("a watch tells nothing")
	}
	return nil
}

// keys returns the messages of a queue as keys, in order: the key of each and its content.
func (n *quartet) keys(queue string) (all []string) {
	n.t.Helper()
	resp, err := n.etcd.c.Get(n.t.Context(), "/q/"+segment(queue)+"/", clientv3.WithRange("/q/"+segment(queue)+"/:"))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		parts := strings.SplitN(string(kv.Key), "/", 5)
		if parts[4] == parts[3] {
			parts[4] = "#"
		}
		all = append(all, parts[4]+"="+string(kv.Value))
	}
	return all
}

// reads checks the messages of a queue; for etcd it waits until every protocol sees them.
func (n *quartet) reads(queue string, want ...string) {
	n.t.Helper()
	var got []string
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		if got = n.keys(queue); slices.Equal(got, want) {
			return
		}
	}
	n.t.Errorf("%s has %v, want %v", queue, got, want)
}

// messagesAreKeys checks that messages of all other protocols can be read as ordered keys, held or
// not, until a protocol acknowledges them.
func messagesAreKeys(t *testing.T, n *quartet) {
	n.declare("q", nil)
	n.publish("", "q", amqp.Publishing{Body: []byte("one"), MessageId: "a/1", AppId: "shop"})
	n.publish("", "q", amqp.Publishing{Body: []byte("two")})
	n.query("select mbus4.post('q', 'body=>three'::hstore, headers := 'content_type=>text/plain', iid := 'q.s1')")
	n.tells("[added j]", "JOB.ENQUEUE", "q", "four", "ID", "j")
	n.tells("5", "LPUSH", "q", "five")
	n.put("/queue/q/producer/me/k", "six")
	all := []string{"a/1=one", "#=two", "q.s1=three", "j=four", "#=five", "k=six"}
	n.reads("q", all...)

	d := n.get("q")
	n.reads("q", all...)
	must(t, d.Ack(false))
	n.reads("q", all[1:]...)
	if got := n.do("RPOP", "q"); got != "two" {
		t.Errorf("RPOP got %s", got)
	}
	n.reads("q", all[2:]...)
	n.query("begin")
	if got := n.sqlBody("q"); got != "three" {
		t.Errorf("SQL got %s", got)
	}
	n.reads("q", all[2:]...)
	n.query("commit")
	n.reads("q", all[3:]...)
	j := n.lease("q")
	n.reads("q", all[3:]...)
	n.tells("OK", "JOB.DONE", "q", j.mid, j.token)
	n.reads("q", all[4:]...)
	for i, want := range []string{"five", "six"} {
		m, ok, err := n.etcd.take(t.Context(), "q")
		if err != nil || !ok || string(m.body) != want {
			t.Errorf("etcd got %q, want %q, %v", m.body, want, err)
		}
		n.reads("q", all[5+i:]...)
	}
	n.tells("0", "LLEN", "q")
}

// keysAreMessages checks that a put makes a message with the properties that the page names, and a
// job whose id is the key.
func keysAreMessages(t *testing.T, n *quartet) {
	n.put("/q/q/i/me/k/1", "body")
	d := n.get("q")
	if string(d.Body) != "body" || d.MessageId != "k/1" || d.AppId != "me" || d.Exchange != "" || d.RoutingKey != "q" || d.DeliveryMode != amqp.Persistent ||
		d.ContentType != "" || len(d.Headers) != 0 || d.Redelivered {
		t.Errorf("%+v", d)
	}
	n.tells("locked", "JOB.STATUS", "q", "k/1")
	must(t, d.Nack(false, true))
	n.eventually("it is back", func() bool { return n.do("JOB.STATUS", "q", "k/1") == "queued" })
	n.tells("ALREADYQUEUED job 'k/1' is already queued", "JOB.ENQUEUE", "q", "x", "ID", "k/1")
	j := n.lease("q")
	if j.mid != "k/1" || j.body != "body" {
		t.Errorf("%+v", j)
	}
	n.tells("OK", "JOB.DONE", "q", j.mid, j.token)

	// In a queue that takes one message per key, the key of the put is that key, whatever the
	// sender.
	n.declare("r", amqp.Table{"x-message-deduplication": true})
	n.put("/q/r/p/k", "first")
	n.put("/q/r/p/me/k", "second")
	n.publish("", "r", amqp.Publishing{Body: []byte("third"), Headers: amqp.Table{"x-deduplication-header": "k"}})
	n.reads("r", "k=first")

	// A put into a stream of Redis is like a publish of AMQP.
	n.tells("OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	n.put("/q/s/p/k", "entry")
	if got := n.do("XREADGROUP", "GROUP", "g", "me", "STREAMS", "s", ">"); !strings.Contains(got, "[body entry]") {
		t.Errorf("a group reads %s", got)
	}
}

// heldByOne checks that a message held by one protocol is not available to others, and that
// messages held by an etcd consumer become available in their old places when the consumer leaves.
func heldByOne(t *testing.T, n *quartet) {
	n.tells("[added j]", "JOB.ENQUEUE", "q", "one", "ID", "j")
	n.put("/q/q/p/k", "two")
	watch, prefix, err := n.etcd.consume(t.Context(), "q", "w")
	must(t, err)
	e := n.event(watch)
	if string(e.Kv.Value) != "one" || !strings.HasSuffix(string(e.Kv.Key), "/j") {
		t.Errorf("%v", e.Kv)
	}
	n.tells("locked", "JOB.STATUS", "q", "j")
	n.tells("1", "LLEN", "q")
	if got := n.do("RPOP", "q"); got != "two" {
		t.Errorf("RPOP got %s", got)
	}
	n.tells("[]", "JOB.TAKE", "q")
	if got := n.sqlBody("q"); got != "" {
		t.Errorf("SQL got %s", got)
	}
	n.put("/q/q/p/k", "three")
	n.del(strings.TrimSuffix(prefix, "/"), 1)
	d := n.get("q")
	if string(d.Body) != "one" || !d.Redelivered {
		t.Errorf("%+v", d)
	}
	n.tells("three", "RPOP", "q")
	n.del(string(e.Kv.Key), 0) // another consumer has it now
	n.reads("q", "j=one")

	// The other direction: a watch waits while another consumer holds the message, and gets it
	// afterwards.
	watch, _, err = n.etcd.consume(t.Context(), "q", "v")
	must(t, err)
	must(t, d.Nack(false, true))
	e = n.event(watch)
	n.del(string(e.Kv.Key), 1)
	n.tells("nil", "JOB.STATUS", "q", "j")
	n.put("/q/q/p/k", "four")
	n.del(string(n.event(watch).Kv.Key), 1)
	n.reads("q")
}

// transactionsOfKeys checks that an etcd transaction that takes, sends and writes a key is visible
// as a whole or not at all, and that SQL transactions hold what they consumed.
func transactionsOfKeys(t *testing.T, n *quartet) {
	ctx := t.Context()
	n.tells("[added j]", "JOB.ENQUEUE", "q", "in", "ID", "j")
	watch, _, err := n.etcd.consume(ctx, "q", "w")
	must(t, err)
	e := n.event(watch)
	key := string(e.Kv.Key)
	txn := func(mark string) (bool, error) {
		resp, err := n.etcd.c.Txn(ctx).
			If(clientv3.Compare(clientv3.Version(key), ">", 0), clientv3.Compare(clientv3.Value("mark"), "=", mark)).
			Then(clientv3.OpDelete(key), clientv3.OpPut("/q/r/p/me/out", "out"), clientv3.OpPut("/q/s/p/out", "copy"), clientv3.OpPut("done", "yes")).
			Commit()
		if err != nil {
			return false, err
		}
		return resp.Succeeded, nil
	}
	n.put("mark", "1")
	if ok, err := txn("2"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	n.reads("q", "j=in")
	n.reads("r")

	// A queue that rejects the message aborts the whole transaction.
	n.declare("s", amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
	n.publish("", "s", amqp.Publishing{Body: []byte("full")})
	if ok, err := txn("1"); ok || err == nil {
		t.Errorf("%v, %v", ok, err)
	}
	n.tells("locked", "JOB.STATUS", "q", "j")
	n.tells("0", "LLEN", "r")
	if resp, err := n.etcd.c.Get(ctx, "done"); err != nil || resp.Count != 0 {
		t.Errorf("%v, %v", resp, err)
	}
	n.tells("full", "RPOP", "s")

	if ok, err := txn("1"); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	n.tells("nil", "JOB.STATUS", "q", "j")
	n.reads("q")
	if d := n.get("r"); string(d.Body) != "out" || d.MessageId != "out" || d.AppId != "me" {
		t.Errorf("%+v", d)
	} else if err := d.Ack(false); err != nil {
		t.Fatal(err)
	}
	if got := n.sqlBody("s"); got != "copy" {
		t.Errorf("SQL got %q", got)
	}
	if ok, err := txn("1"); ok || err != nil { // it no longer exists
		t.Errorf("%v, %v", ok, err)
	}

	n.put("/q/q/p/k", "next")
	e = n.event(watch)
	n.query("begin")
	n.query("select mbus4.post('r', 'body=>SQL'::hstore, headers := 'content_type=>text/plain')")
	n.reads("r")
	if got := n.sqlBody("q"); got != "" {
		t.Errorf("SQL got %q, which is held", got)
	}
	n.query("commit")
	if keys := n.keys("r"); len(keys) != 1 || !strings.HasSuffix(keys[0], "=SQL") {
		t.Errorf("%v", keys)
	}
	n.del(string(e.Kv.Key), 1)

	n.put("/q/q/p/k", "last")
	key = string(n.event(watch).Kv.Key)
	if ok, err := func() (bool, error) {
		resp, err := n.etcd.c.Txn(ctx).Then(clientv3.OpDelete(key), clientv3.OpPut("/q/r/p/jobs", "b")).Commit() // of queues alone
		return err == nil && resp.Succeeded, err
	}(); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	n.tells("queued", "JOB.STATUS", "r", "jobs")
	n.reads("q")
}

// deadKeys checks that etcd messages are dead-lettered as the queue says, and that etcd can read
// dead letters of other protocols.
func deadKeys(t *testing.T, n *quartet) {
	n.declare("dead", nil)
	n.declare("q", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead", "x-max-length": int32(2), "x-message-ttl": int32(600_000)})
	for i := range 3 {
		n.put(fmt.Sprintf("/q/q/p/me/k%d", i), fmt.Sprint(i))
	}
	n.reads("dead", "k0=0")
	d := n.get("q")
	must(t, d.Reject(false))
	n.reads("dead", "k0=0", "k1=1")
	j := n.lease("q")
	n.tells("OK", "JOB.FAIL", "q", j.mid, j.token)
	n.reads("dead", "k0=0", "k1=1", "k2=2")
	if d := n.get("dead"); d.AppId != "me" || d.MessageId != "k0" || d.Headers["x-first-death-reason"] != "maxlen" {
		t.Errorf("%+v", d)
	}
}
