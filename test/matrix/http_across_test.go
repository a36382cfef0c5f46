package matrix

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// streamsOverHTTP checks that a message of any protocol reaches a stream and a waiting take at
// once, and that an acknowledged message is gone for all protocols.
func streamsOverHTTP(t *testing.T, n *quartet) {
	n.query("select mbus4.create_queue('q', 4)")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for by, send := range n.senders() {
		got := make(chan string, 1)
		go func() {
			var out struct{ Messages []taken }
			err := n.http.do(ctx, "POST", of("q")+"/messages/take?wait=60s", nil, &out)
			if err != nil || len(out.Messages) != 1 {
				got <- "nothing"
				return
			}
			if err := n.http.settle(ctx, "q", "ack", out.Messages[0].Token); err != nil {
				got <- err.Error()
				return
			}
			got <- out.Messages[0].Payload
		}()
		send("waited for " + by)
		if v := <-got; v != "waited for "+by {
			t.Errorf("a take got %q", v)
		}
	}

	// This comes last: until the broker notices that a stream has ended, it leases new messages to
	// the stream.
	next, err := n.http.follow(ctx, "q")
	n.may(err)
	for by, send := range n.senders() {
		send("hello by " + by)
		m, err := next()
		n.may(err)
		if m.Payload != "hello by "+by {
			t.Errorf("the stream got %q by %s", m.Payload, by)
		}
		n.may(n.http.settle(ctx, "q", "ack", m.Token))
		n.tells("0", "LLEN", "q")
	}
}

// httpOfRabbitMQ checks that messages published with RabbitMQ's publish have their properties in
// AMQP, and that RabbitMQ's get returns the properties of AMQP messages.
func httpOfRabbitMQ(t *testing.T, n *quartet) {
	n.declare("q", amqp.Table{"x-max-priority": int32(9)})
	ctx := t.Context()
	publish := func(payload, encoding string, properties map[string]any) {
		t.Helper()
		var out struct{ Routed bool }
		in := map[string]any{"properties": properties, "routing_key": "q", "payload": payload, "payload_encoding": encoding}
		n.may(n.http.do(ctx, "POST", "exchanges/%2F/amq.default/publish", in, &out))
		if !out.Routed {
			t.Error("it was not routed")
		}
	}
	publish("AP8B", "base64", map[string]any{
		"delivery_mode": 2, "priority": 3, "message_id": "m1", "content_type": "application/octet-stream", "timestamp": 1_700_000_000,
		"headers": map[string]any{"s": "v", "n": 7, "f": 1.5, "yes": true, "inner": map[string]any{"k": []any{1, "x"}}},
	})
	d := n.get("q")
	want := amqp.Table{"s": "v", "n": int64(7), "f": 1.5, "yes": true}
	inner, _ := d.Headers["inner"].(amqp.Table)
	delete(d.Headers, "inner")
	if !bytes.Equal(d.Body, []byte{0, 255, 1}) || d.DeliveryMode != 2 || d.Priority != 3 || d.MessageId != "m1" || d.ContentType != "application/octet-stream" ||
		d.Timestamp.Unix() != 1_700_000_000 || !maps.Equal(d.Headers, want) || len(inner["k"].([]any)) != 2 {
		t.Errorf("%+v", d)
	}
	n.may(d.Ack(false))

	n.publish("", "q", amqp.Publishing{
		Body: []byte{0, 255}, MessageId: "m2", DeliveryMode: 2, Priority: 4, Headers: amqp.Table{"n": int32(7)}, Timestamp: time.Unix(1_700_000_000, 0),
	})
	var got []struct {
		taken
		Left int `json:"message_count"`
	}
	in := map[string]any{"count": 5, "ackmode": "ack_requeue_false", "encoding": "auto"}
	n.may(n.http.do(ctx, "POST", of("q")+"/get", in, &got))
	if len(got) != 1 || got[0].Left != 0 {
		t.Fatalf("%+v", got)
	}
	m, err := got[0].message()
	n.may(err)
	if !bytes.Equal(m.body, []byte{0, 255}) || got[0].Properties["message_id"] != "m2" || m.properties["priority"] != "4" || m.properties["delivery_mode"] != "2" ||
		m.properties["timestamp"] != "2023-11-14 22:13:20" || len(m.headers) != 1 || m.headers[0].value != 7.0 {
		t.Errorf("%+v", m)
	}
}

// bodiesAsTheyAre checks that the body of a request may be the message itself, with its properties
// in HTTP header fields.
func bodiesAsTheyAre(t *testing.T, n *quartet) {
	n.declare("q", amqp.Table{"x-max-priority": int32(9)})
	body := random(100_000)
	r, err := http.NewRequestWithContext(t.Context(), "POST", n.http.root+of("q")+"/messages", bytes.NewReader(body))
	n.may(err)
	for name, value := range map[string]string{
		"Content-Type": "image/png", "X-Fiveways-Message-Id": "p1", "X-Fiveways-Priority": "5", "X-Fiveways-Correlation-Id": "c", "X-Fiveways-Header-Kind": "photo",
	} {
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	n.may(err)
	w.Body.Close()
	if w.StatusCode != http.StatusCreated {
		t.Fatal(w.Status)
	}
	n.tells("queued", "JOB.STATUS", "q", "p1")
	d := n.get("q")
	if !bytes.Equal(d.Body, body) || d.MessageId != "p1" || d.ContentType != "image/png" || d.Priority != 5 || d.CorrelationId != "c" || d.DeliveryMode != 2 ||
		!maps.Equal(d.Headers, amqp.Table{"kind": "photo"}) {
		t.Errorf("%d bytes %+v", len(d.Body), d.Headers)
	}
	n.may(d.Ack(false))
}
