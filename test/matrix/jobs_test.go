package matrix

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// messagesAreJobs checks that AMQP and SQL messages are jobs whose id is the message id or a
// number, with the time when they were sent.
func messagesAreJobs(t *testing.T, n *quartet) {
	n.declare("q", nil)
	at := time.Unix(1_700_000_000, 0)
	n.publish("", "q", amqp.Publishing{Body: []byte("one"), MessageId: "m1", Timestamp: at, Priority: 3, Headers: amqp.Table{"n": int32(7), "x-lock-ms": int64(5000)}})
	n.publish("", "q", amqp.Publishing{Body: []byte("two"), MessageId: "m1"})
	n.publish("", "q", amqp.Publishing{Body: []byte("three")})
	n.query("select mbus4.post('q', 'k=>v', iid := 'q.s1')")
	n.tells("queued", "JOB.STATUS", "q", "m1")
	n.tells("ALREADYQUEUED job 'm1' is already queued", "JOB.ENQUEUE", "q", "x", "ID", "m1")
	n.tells("ALREADYQUEUED job 'q.s1' is already queued", "JOB.ENQUEUE", "q", "x", "ID", "q.s1")

	j := n.lease("q", "LOCK", 60_000)
	if j.mid != "m1" || j.body != "one" || j.attempt != 1 || j.lock != 5000 || j.enqueued != at.UnixMilli() || !maps.Equal(j.headers, map[string]any{"n": int64(7)}) {
		t.Errorf("%+v", j)
	}
	for i, body := range []string{"two", "three"} {
		if j := n.lease("q"); j.mid != fmt.Sprintf("@%d", i+2) || j.body != body || j.enqueued != 0 {
			t.Errorf("%+v", j)
		}
	}
	if j := n.lease("q"); j.mid != "q.s1" || j.body != `"k"=>"v"` {
		t.Errorf("%+v", j)
	}

	// An update of a persistent AMQP message keeps its place. A second version waits behind a
	// message that AMQP holds.
	n.publish("", "q", amqp.Publishing{Body: []byte("old"), MessageId: "m2", DeliveryMode: amqp.Persistent})
	n.publish("", "q", amqp.Publishing{Body: []byte("next"), MessageId: "m3"})
	n.tells("[updated m2]", "JOB.ENQUEUE", "q", "new", "ID", "m2", "UPDATE")
	d := n.get("q")
	if string(d.Body) != "new" || d.MessageId != "m2" || d.DeliveryMode != amqp.Persistent {
		t.Errorf("%q %s %d", d.Body, d.MessageId, d.DeliveryMode)
	}
	n.tells("locked", "JOB.STATUS", "q", "m2")
	n.tells("LOCKED job 'm2' is locked", "JOB.ENQUEUE", "q", "again", "ID", "m2")
	n.tells("LOCKED job 'm2' is locked", "JOB.CANCEL", "q", "m2")
	n.tells("[added m2]", "JOB.ENQUEUE", "q", "again", "ID", "m2", "REQUEUE")
	n.tells("locked-with-requeue", "JOB.STATUS", "q", "m2")
	must(t, d.Ack(false))
	n.eventually("the second version is queued", func() bool { return n.do("JOB.STATUS", "q", "m2") == "queued" })
	if j := n.lease("q"); j.body != "next" || j.mid != "m3" {
		t.Errorf("%+v", j)
	}
	if got := n.sqlBody("q"); got != "again" {
		t.Errorf("SQL has %q", got)
	}
	n.tells("nil", "JOB.STATUS", "q", "m2")
}

// jobsAreMessages checks that JOB.ENQUEUE sends messages with the properties in the table of the
// page.
func jobsAreMessages(t *testing.T, n *quartet) {
	n.declare("q", amqp.Table{"x-max-priority": int32(9)})
	before := time.Now().UnixMilli()
	n.tells("[added j1]", "JOB.ENQUEUE", "q", "b", "ID", "j1", "LOCK", 9000, "PRIORITY", 4, "EXPIRE", 600_000, "HEADERS", "lang", "en")
	d := n.get("q")
	first, _ := d.Headers["x-first-enqueued"].(int64)
	if d.MessageId != "j1" || d.Exchange != "" || d.RoutingKey != "q" || d.DeliveryMode != 2 || d.Priority != 4 || d.Expiration != "600000" || d.ContentType != "" ||
		d.Headers["lang"] != "en" || d.Headers["x-lock-ms"] != int64(9000) || first < before || len(d.Headers) != 3 {
		t.Errorf("%+v", d)
	}
	must(t, d.Nack(false, true))
	n.eventually("it is back", func() bool { return n.do("JOB.STATUS", "q", "j1") == "queued" })
	var properties, headers, data pairs
	var iid string
	err := n.sql.conn.QueryRow(t.Context(), `select iid, akeys(data), avals(data), akeys(headers), avals(headers), akeys(properties), avals(properties)
		from mbus4.consume('q')`).Scan(&iid, &data.keys, &data.values, &headers.keys, &headers.values, &properties.keys, &properties.values)
	must(t, err)
	if iid != "j1" || *data.get("body") != "b" || *properties.get("lang") != "en" || *properties.get("x-lock-ms") != "9000" || *headers.get("priority") != "4" ||
		*headers.get("expiration") != "600000" {
		t.Errorf("%s %v %v %v", iid, data, headers, properties)
	}

	n.tells("1", "LPUSH", "q", "bare")
	d = n.get("q")
	if string(d.Body) != "bare" || d.Exchange != "" || d.RoutingKey != "q" || d.DeliveryMode != 2 || d.MessageId != "" || d.ContentType != "" || len(d.Headers) != 0 {
		t.Errorf("%+v", d)
	}
}

// attempts checks that returns by any protocol and expired locks count as attempts, and that AMQP
// sees the job as redelivered.
func attempts(t *testing.T, n *quartet) {
	n.declare("q", amqp.Table{"x-queue-type": "quorum"}) // its consumers see the count
	n.tells("[added j]", "JOB.ENQUEUE", "q", "b", "ID", "j")
	d := n.get("q")
	if d.Redelivered || d.Headers["x-delivery-count"] != nil {
		t.Errorf("%+v", d)
	}
	must(t, d.Nack(false, true))
	n.eventually("AMQP gave it back", func() bool { return n.do("JOB.STATUS", "q", "j") == "queued" })
	j := n.lease("q")
	n.tells("OK", "JOB.RETRY", "q", "j", j.token)
	if j.attempt != 2 {
		t.Errorf("%+v", j)
	}
	j = n.lease("q", "LOCK", 1)
	n.eventually("the lock ran out", func() bool { return n.do("JOB.STATUS", "q", "j") == "queued" })
	n.tells("STALE the lock on job 'j' is over", "JOB.DONE", "q", "j", j.token)
	d = n.get("q")
	if !d.Redelivered || d.Headers["x-delivery-count"] != int64(3) || j.attempt != 3 {
		t.Errorf("%+v, attempt %d", d, j.attempt)
	}
	must(t, d.Ack(false))
	n.eventually("it is done", func() bool { return n.do("JOB.STATUS", "q", "j") != "locked" })
	n.tells("0", "LLEN", "q")
}

// transactionsHoldJobs checks that what an SQL transaction has consumed is locked, comes back with
// ROLLBACK, and is gone with COMMIT.
func transactionsHoldJobs(t *testing.T, n *quartet) {
	n.tells("[added j]", "JOB.ENQUEUE", "q", "b", "ID", "j")
	n.query("begin")
	if got := n.sqlBody("q"); got != "b" {
		t.Fatalf("%q", got)
	}
	n.tells("locked", "JOB.STATUS", "q", "j")
	n.tells("[]", "JOB.TAKE", "q")
	n.tells("nil", "RPOP", "q")
	n.tells("LOCKED job 'j' is locked", "JOB.ENQUEUE", "q", "b", "ID", "j")
	n.query("rollback")
	n.tells("queued", "JOB.STATUS", "q", "j")
	j := n.lease("q")
	if j.attempt != 1 { // a rollback does not count as a failure
		t.Errorf("%+v", j)
	}
	if got := n.sqlBody("q"); got != "" {
		t.Errorf("a transaction has %q, which is locked", got)
	}
	n.tells("OK", "JOB.RETRY", "q", "j", j.token)
	n.query("begin")
	n.query("select mbus4.post('q', 'k=>v')")
	n.sqlBody("q")
	n.tells("0", "LLEN", "q") // before COMMIT, posted messages do not exist, and consumed ones are not available
	n.query("commit")
	n.tells("nil", "JOB.STATUS", "q", "j")
	n.tells(`"k"=>"v"`, "RPOP", "q")
}

// deadJobs checks that jobs that failed, expired or were returned too often reach AMQP and SQL
// through the dead-letter exchange.
func deadJobs(t *testing.T, n *quartet) {
	n.query("select mbus4.create_queue('dead', 4)") // with an exchange of that name
	n.declare("letters", nil)
	must(t, n.amqp.ch.QueueBind("letters", "", "dead", false, nil))
	n.declare("q", amqp.Table{"x-dead-letter-exchange": "dead", "x-delivery-limit": int32(1)})
	for _, c := range []struct {
		reason string
		end    func()
	}{
		{"rejected", func() {
			j := n.lease("q")
			n.tells("OK", "JOB.FAIL", "q", "j", j.token, "ERROR", "no such address")
		}},
		{"expired", func() {}},
		{"delivery_limit", func() {
			for range 2 {
				j := n.lease("q")
				n.tells("OK", "JOB.RETRY", "q", "j", j.token)
			}
		}},
	} {
		args := []any{"JOB.ENQUEUE", "q", "b", "ID", "j"}
		if c.reason == "expired" {
			args = append(args, "EXPIRE", 1)
		}
		n.tells("[added j]", append(args, "HEADERS", "lang", "en")...)
		c.end()
		n.eventually(c.reason, func() bool { return n.do("LLEN", "letters") == "1" })
		d := n.get("letters")
		deaths, _ := d.Headers["x-death"].([]any)
		if len(deaths) != 1 || deaths[0].(amqp.Table)["reason"] != c.reason || deaths[0].(amqp.Table)["queue"] != "q" || d.MessageId != "j" || d.Headers["lang"] != "en" {
			t.Errorf("%s: %+v", c.reason, d)
		}
		if why, _ := d.Headers["x-error"].(string); (why == "no such address") != (c.reason == "rejected") {
			t.Errorf("%s: x-error %q", c.reason, why)
		}
		must(t, d.Ack(false))
		m, ok, err := n.sql.take(t.Context(), "dead")
		if err != nil || !ok || m.id != "j" || string(m.body) != "b" || m.header("x-first-death-reason") != c.reason || m.header("lang") != "en" ||
			(m.header("x-error") == "no such address") != (c.reason == "rejected") {
			t.Errorf("%s: SQL has %+v, %v", c.reason, m, err)
		}
		if status := n.do("JOB.STATUS", "q", "j"); status != "nil" && status != "done-awaiting-gc" {
			t.Errorf("%s: the id is %s", c.reason, status)
		}
	}
}

// waiters checks that a client that waits over one protocol is woken by messages of another.
func waiters(t *testing.T, n *quartet) {
	n.query("select mbus4.create_queue('q', 4)")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	send := n.senders()
	waits := map[string]func() (string, error){
		"BRPOP": func() (string, error) {
			v, err := n.r.BRPop(ctx, 0, "q").Result()
			return strings.Join(v, " "), err
		},
		"JOB.TAKE": func() (string, error) {
			j, _, err := lease(ctx, n.r, "q", "BLOCK", 0)
			return "q " + j.body, err
		},
	}
	for by, send := range send {
		for waiter, wait := range waits {
			got := make(chan string, 1)
			go func() {
				v, err := wait()
				got <- fmt.Sprint(v, err)
			}()
			n.eventually(waiter+" waits", func() bool { return strings.Contains(n.do("INFO", "clients"), "blocked_clients:1\r") })
			send("hello by " + by)
			if v := <-got; v != "q hello by "+by+"<nil>" {
				t.Errorf("%s got %s", waiter, v)
			}
		}
	}
	consumed, err := n.amqp.ch.ConsumeWithContext(ctx, "q", "", true, false, false, false, nil)
	must(t, err)
	for by, send := range send {
		send("hello by " + by)
		if d := <-consumed; string(d.Body) != "hello by "+by {
			t.Errorf("a consumer got %q", d.Body)
		}
	}
	cancel()
	n.eventually("the consumer has gone", func() bool {
		q, err := n.amqp.ch.QueueDeclarePassive("q", true, false, false, false, nil)
		return err == nil && q.Consumers == 0
	})
	watch, _, err := n.etcd.consume(t.Context(), "q", "w")
	must(t, err)
	for by, send := range send {
		send("hello by " + by)
		e := n.event(watch)
		if string(e.Kv.Value) != "hello by "+by {
			t.Errorf("a watch got %q", e.Kv.Value)
		}
		n.del(string(e.Kv.Key), 1)
	}
}

// selectorsAndGroups checks that consumers select by the headers of jobs, and that groups are held
// across protocols.
func selectorsAndGroups(t *testing.T, n *quartet) {
	n.declare("q", nil)
	mails, err := n.amqp.ch.Consume("q", "", true, false, false, false, amqp.Table{"x-selector": "kind = 'mail'"})
	must(t, err)
	for i, kind := range []string{"video", "mail"} {
		n.do("JOB.ENQUEUE", "q", kind, "ID", fmt.Sprint("j", i), "HEADERS", "kind", kind)
	}
	if d := <-mails; d.MessageId != "j1" {
		t.Errorf("%+v", d)
	}
	n.do("JOB.ENQUEUE", "q", "photo", "HEADERS", "kind", "photo")
	var body string
	err = n.sql.conn.QueryRow(t.Context(), `select data->'body' from mbus4.dyn_consume('q', $$t.properties->'kind' = 'photo'$$)`).Scan(&body)
	if err != nil || body != "photo" {
		t.Errorf("SQL chose %q, %v", body, err)
	}
	if j := n.lease("q"); j.mid != "j0" {
		t.Errorf("%+v", j)
	}

	// Messages to the exchange of SQL's queue are routed by the selectors of its consumers. Jobs
	// and lists go directly to a queue.
	n.query("select mbus4.create_queue('orders', 4); select mbus4.create_consumer('orders', 'cold', $$t.properties->'temperature' = 'cold'$$)")
	n.query("select mbus4.post('orders', 'drink=>cola', properties => 'temperature=>cold')")
	n.do("JOB.ENQUEUE", "orders", "tea", "HEADERS", "temperature", "cold")
	if j := n.lease("orders.cold"); j.body != `"drink"=>"cola"` || j.headers["temperature"] != "cold" {
		t.Errorf("%+v", j)
	}
	n.tells("[]", "JOB.TAKE", "orders.cold")
	n.tells("2", "LLEN", "orders")

	n.declare("grouped", amqp.Table{"x-group-header": "customer"})
	for _, m := range []struct{ customer, body string }{{"ann", "ann 1"}, {"ann", "ann 2"}, {"bob", "bob 1"}} {
		n.publish("", "grouped", amqp.Publishing{Body: []byte(m.body), Headers: amqp.Table{"customer": m.customer}})
	}
	first := n.lease("grouped")
	if bob := n.get("grouped"); first.body != "ann 1" || string(bob.Body) != "bob 1" {
		t.Errorf("%q, %q", first.body, bob.Body)
	}
	n.tells("[]", "JOB.TAKE", "grouped")
	n.tells("OK", "JOB.DONE", "grouped", first.mid, first.token)
	if got := n.sqlBody("grouped"); got != "ann 2" {
		t.Errorf("SQL has %q", got)
	}
}
