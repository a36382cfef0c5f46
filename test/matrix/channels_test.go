package matrix

import (
	"maps"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// channels checks that what is published to a channel, its exchange or SQL's queue of that name
// reaches the listeners of all three.
func channels(t *testing.T, n *quartet) {
	n.query("select mbus4.create_queue('news', 4)")
	own, err := n.amqp.ch.QueueDeclare("", false, true, true, false, nil)
	must(t, err)
	must(t, n.amqp.ch.QueueBind(own.Name, "", "news", false, nil))
	consumed, err := n.amqp.ch.Consume(own.Name, "", true, false, false, false, nil)
	must(t, err)
	channel, pattern := n.r.Subscribe(t.Context(), "news"), n.r.PSubscribe(t.Context(), "n*")
	defer channel.Close()
	defer pattern.Close()
	for _, s := range []*redis.PubSub{channel, pattern} {
		if _, err := s.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		body string
		send func()
	}{
		{"by AMQP", func() { n.publish("news", "key", amqp.Publishing{Body: []byte("by AMQP")}) }},
		{"by SQL", func() {
			n.query("select mbus4.post('news', hstore('body', 'by SQL'), headers := 'content_type=>text/plain')")
		}},
		{"by PUBLISH", func() { n.tells("4", "PUBLISH", "news", "by PUBLISH") }}, // two subscribers and two queues
	} {
		c.send()
		d := <-consumed
		if string(d.Body) != c.body {
			t.Errorf("AMQP got %q, want %q", d.Body, c.body)
		}
		if c.body == "by PUBLISH" && (d.DeliveryMode != amqp.Transient || d.RoutingKey != "news" || d.Exchange != "news") {
			t.Errorf("%+v", d)
		}
		if m, err := channel.ReceiveMessage(t.Context()); err != nil || m.Payload != c.body || m.Channel != "news" {
			t.Errorf("a subscriber got %v, %v, want %q", m, err, c.body)
		}
		if got := n.sqlBody("news"); got != c.body {
			t.Errorf("SQL got %q, want %q", got, c.body)
		}
	}
	if m, err := pattern.ReceiveMessage(t.Context()); err != nil || m.Payload != "by PUBLISH" { // pattern subscriptions get nothing else
		t.Errorf("a pattern got %v, %v", m, err)
	}
	n.tells("4", "PUBLISH", "news", "a job")
	if j := n.lease("news"); j.body != "a job" || j.mid[0] != '@' {
		t.Errorf("%+v", j)
	}
	n.tells("1", "LPUSH", "news", "straight to the queue")
	n.tells("4", "PUBLISH", "news", "last")
	if m, err := channel.ReceiveMessage(t.Context()); err != nil || m.Payload != "a job" {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := channel.ReceiveMessage(t.Context()); err != nil || m.Payload != "last" { // not what LPUSH sent
		t.Errorf("%v, %v", m, err)
	}
}

// streamsOfAll checks that AMQP and SQL messages to a stream become entries, and that AMQP and SQL
// can consume the entries of XADD.
func streamsOfAll(t *testing.T, n *quartet) {
	ctx := t.Context()
	n.tells("OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	n.publish("", "s", amqp.Publishing{Body: []byte("one"), MessageId: "m1", Headers: amqp.Table{"n": int32(7), "at": amqp.Decimal{Scale: 2, Value: 12345}}})
	n.query("select mbus4.post('s', 'body=>two'::hstore, headers := 'content_type=>text/plain', properties => 'kind=>x')")
	n.query("select mbus4.post('s', 'k=>v')")
	read, err := n.r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "me", Streams: []string{"s", ">"}}).Result()
	if err != nil || len(read) != 1 || len(read[0].Messages) != 3 {
		t.Fatalf("%v, %v", read, err)
	}
	for i, want := range []map[string]any{
		{"body": "one", "n": "7", "at": "123.45"}, {"body": "two", "kind": "x"}, {"body": `"k"=>"v"`},
	} {
		got := read[0].Messages[i].Values
		maps.DeleteFunc(got, func(name string, _ any) bool { return kept(name) })
		if !maps.Equal(got, want) {
			t.Errorf("entry %d is %v, want %v", i, got, want)
		}
	}
	n.tells("3", "XLEN", "s")
	for _, command := range [][]any{{"JOB.TAKE", "s"}, {"LPUSH", "s", "x"}, {"JOB.ENQUEUE", "s", "x"}, {"RPOP", "s"}} {
		n.tells("WRONGTYPE Operation against a key holding the wrong kind of value", command...)
	}

	// An entry that another protocol settles is deleted for the consumer groups too.
	if d := n.get("s"); string(d.Body) != "one" {
		t.Errorf("%+v", d)
	} else if err := d.Ack(false); err != nil {
		t.Fatal(err)
	}
	n.eventually("the entry is gone", func() bool { return n.do("XLEN", "s") == "2" })
	if got := n.sqlBody("s"); got != "two" {
		t.Errorf("SQL has %q", got)
	}
	n.tells("1", "XLEN", "s")
	if err := n.r.XAck(ctx, "s", "g", read[0].Messages[0].ID).Err(); err != nil {
		t.Error(err)
	}
	n.tells("1", "XTRIM", "s", "MAXLEN", 0)

	must(t, n.r.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []string{"body", "b", "z", "1", "a", "2"}}).Err())
	d := n.get("s")
	if string(d.Body) != "b" || d.DeliveryMode != 2 || d.RoutingKey != "s" || len(d.Headers) != 2 || d.Headers["z"] != "1" || d.Headers["a"] != "2" {
		t.Errorf("%+v", d)
	}
	must(t, d.Nack(false, true))
	n.tells("1", "XLEN", "s")
	n.eventually("SQL can have it", func() bool {
		m, ok, err := n.sql.take(ctx, "s")
		return err == nil && ok && string(m.body) == "b" && m.header("z") == "1" && m.header("a") == "2"
	})
	n.tells("0", "XLEN", "s")
}

// listsOfAll checks that the ends of a list are the ends of the queue, for pushes and publishes.
func listsOfAll(t *testing.T, n *quartet) {
	n.tells("1", "LPUSH", "q", "2")
	n.publish("", "q", amqp.Publishing{Body: []byte("3")})
	n.query("select mbus4.post('q', 'body=>4'::hstore, headers := 'content_type=>text/plain')")
	n.tells("[added j]", "JOB.ENQUEUE", "q", "5", "ID", "j")
	n.tells("5", "RPUSH", "q", "1")
	n.tells("[5 4 3 2 1]", "LRANGE", "q", 0, -1)
	n.tells("list", "TYPE", "q")
	n.tells("1", "LMOVE", "q", "r", "RIGHT", "LEFT")
	n.tells("5", "LMOVE", "q", "r", "LEFT", "LEFT") // a job moves with all its data
	n.tells("queued", "JOB.STATUS", "r", "j")
	n.tells("nil", "JOB.STATUS", "q", "j")
	var got []string
	for range 2 {
		got = append(got, n.sqlBody("q"))
	}
	d := n.get("q")
	got = append(got, string(d.Body))
	n.tells("0", "LLEN", "q")      // a message held by a consumer is not visible
	n.tells("none", "TYPE", "q")   // nor is the list
	n.tells("[]", "JOB.TAKE", "q") // nor is a job
	must(t, d.Nack(false, true))
	n.eventually("it is back", func() bool { return n.do("LLEN", "q") == "1" })
	got = append(got, n.do("RPOP", "q"), n.sqlBody("r"), string(n.get("r").Body))
	if want := []string{"2", "3", "4", "4", "1", "5"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
