package messages

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

const q = "/api/queues/%2F/q%2F1"

func TestBrowse(t *testing.T) {
	n := start(t)
	n.queue("q/1")
	n.put("q/1", "a", "text", message.Field{Name: "tenant", Value: "eu"}, message.Field{Name: "n", Value: int32(7)})
	n.put("q/1", "b", "\xff\x00")
	n.play([]resttest.Step{{`POST ` + q + `/messages {"properties":{"message_id":"c/d"},"not_before":"2999-12-31T23:59:59.9995Z"}`, 201, `{"message_id":"c/d"}`}})
	n.put("q/1", "long", "x"+strings.Repeat("é", shownBytes))
	n.play([]resttest.Step{
		{"GET " + q + "/messages", 200, `"message_id":"a","state":"ready","exchange":"","routing_key":"q/1","redelivered":false,"returns":0,` +
			`"properties":{"delivery_mode":2,"headers":{"n":7,"tenant":"eu"},"message_id":"a"},"payload_bytes":4,"payload":"text","payload_encoding":"string"}`},
		{"GET " + q + "/messages", 200, `"payload":"/wA=","payload_encoding":"base64"`},
		{"GET " + q + "/messages", 200, `éé","payload_encoding":"string"`}, // cut, but not within a character
		{"GET " + q + "/messages?state=scheduled", 200, `"message_id":"c/d","state":"scheduled"`},
		{"GET " + q + "/messages?state=scheduled", 200, `"due":"3000-01-01T00:00:00.000Z"`},
		{"GET " + q + "/messages?state=blocked", 200, `{"messages":[],"scanned":4}`},
		{"GET " + q + "/messages?state=asleep", 400, "state is ready"},
		{"GET " + q + "/messages?limit=0", 400, "limit is a number from 1 to 1000"},
		{"GET " + q + "/messages?filter=tenant%20LIKE%20'e%25'%20AND%20n%3E5", 200, `"message_id":"a"`},
		{"GET " + q + "/messages?filter=tenant='us'", 200, `{"messages":[],"scanned":4}`},
		{"GET " + q + "/messages?filter=tenant%20LIKE", 400, "filter: "},
		{"GET " + q + "/messages?contains=tex", 200, `"message_id":"a"`},
		{"GET " + q + "/messages?contains=eu", 200, `"message_id":"a"`}, // in a header
		{"GET " + q + "/messages?contains=nowhere", 200, `{"messages":[],"scanned":4}`},
		{"GET " + q + "/messages?after=x", 400, "after is what a page before gave"},
		{"GET /api/queues/%2F/none/messages", 404, "no such queue"},
		{"GET /api/queues/none/q/messages", 404, ""},
		{"GET " + q + "/scheduled", 200, `"message_id":"c/d","due":"3000-01-01T00:00:00.000Z","exchange":"","routing_key":"q/1","payload_bytes":0}]}`},
		{"GET " + q + "/scheduled?from=x", 400, "from is what"},
		{"GET /api/exchanges/%2F/amq.direct/scheduled", 200, `{"total":0,"messages":[]}`},
		{"GET /api/exchanges/%2F/none/scheduled", 404, "no such exchange"},
		{`PUT ` + q + `/scheduled/c%2Fd {"due":"3001-01-01T00:00:00Z"}`, 200, `{"messages":1}`},
		{`PUT ` + q + `/scheduled/c%2Fd {"due":"next week"}`, 400, "bad_request"},
		{`PUT ` + q + `/scheduled/c%2Fd {}`, 400, "due"}, // not: now
		{"GET " + q + "/scheduled", 200, `"due":"3001-01-01T00:00:00.000Z"`},
		{"DELETE " + q + "/scheduled/nope", 404, "no message with that id"},
		{"DELETE " + q + "/scheduled/c%2Fd", 200, `{"messages":1}`},
		{"GET " + q + "/scheduled", 200, `{"total":0,"messages":[]}`},
	})
	// A search of a long queue ends when the client disconnects.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	n.h.ServeHTTP(w, httptest.NewRequestWithContext(gone, "GET", q+"/messages", nil))
	if w.Code != 408 {
		t.Errorf("a client that has gone gets %d %s", w.Code, w.Body)
	}
}

// A scheduled message can be cancelled by its position, even without a message id.
func TestScheduledWithoutMessageID(t *testing.T) {
	n := start(t)
	n.queue("q/1")
	n.queue("other")
	must(t, n.s.DeclareExchange(catalog.ExchangeSpec{Name: "later", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}}}))
	must(t, n.s.Bind(catalog.BindSpec{Source: "later", Destination: "q/1"}))
	for _, in := range []struct{ exchange, header, schedule string }{
		{"amq.default", `"not-before":32503680000000`, q + "/scheduled"}, {"later", `"x-delay":3600000`, "/api/exchanges/%2F/later/scheduled"},
	} {
		for range 3 {
			n.play([]resttest.Step{{`POST /api/exchanges/%2F/` + in.exchange + `/publish {"routing_key":"q/1","payload":"x","payload_encoding":"string","properties":{"headers":{` + in.header + `}}}`, 200, `"routed":true`}})
		}
		all := ask[Schedule](n, "GET "+in.schedule).Messages
		if len(all) != 3 || all[0].MessageID != "" || all[0].ID == all[1].ID {
			t.Fatalf("%+v wait", all)
		}
		at := in.schedule + "/at/"
		n.play([]resttest.Step{
			{"DELETE " + at + all[1].ID, 200, `{"messages":1}`}, {"DELETE " + at + all[1].ID, 404, "no message with that id"},
			{`PUT ` + at + all[2].ID + ` {"due":"3001-01-01T00:00:00Z"}`, 200, `{"messages":1}`}, {`PUT ` + at + all[2].ID + ` {}`, 400, "due"},
			{"GET " + in.schedule, 200, `"due":"3001-01-01T00:00:00.000Z"`}, {"GET " + in.schedule, 200, `"total":2`},
			{"DELETE " + at + "x", 400, "invalid message id"}, {"DELETE " + at + "zz-1", 404, "no message with that id"},
			{"DELETE /api/queues/%2F/other/scheduled/at/" + all[0].ID, 404, "no message with that id"},
			{"DELETE /api/exchanges/%2F/amq.direct/scheduled/at/" + all[0].ID, 404, "no message with that id"},
			{"DELETE " + in.schedule + "/" + all[0].ID, 404, "no message with that id"}, // not a message id
		})
	}
}

// Each page continues where the previous one ended, across priorities too, and browsing does not
// mark messages.
func TestPages(t *testing.T) {
	n := start(t)
	n.queue("q/1", func(s *catalog.QueueSpec) { s.Policy.MaxPriority = 2 })
	for i := range 7 {
		n.play([]resttest.Step{{fmt.Sprintf(`POST %s/messages {"payload":"%d","properties":{"priority":%d}}`, q, i, i%3), 201, ""}})
	}
	var got []string
	pages := 0
	for next := ""; pages == 0 || next != ""; pages++ {
		page := ask[Page](n, "GET "+q+"/messages?limit=2&after="+next)
		for _, m := range page.Messages {
			got = append(got, m.Payload)
			if m.Redelivered || m.Returns > 0 {
				t.Errorf("%s was touched", m.Payload)
			}
		}
		next = page.Next
	}
	same(t, got, "2", "5", "1", "4", "0", "3", "6")
	if pages != 4 {
		t.Errorf("%d pages", pages)
	}
}

func TestSingle(t *testing.T) {
	n := start(t)
	n.queue("q/1")
	n.queue("other")
	for _, id := range []string{"a", "b", "c", "d"} {
		n.put("q/1", id, strings.Repeat(id, 2*shownBytes))
	}
	n.play([]resttest.Step{{`POST ` + q + `/messages {"payload":"later","properties":{"message_id":"e"},"delay_ms":3600000}`, 201, ""}})
	id := map[string]string{}
	for _, m := range ask[Page](n, "GET "+q+"/messages").Messages {
		id[m.MessageID] = m.ID
	}
	taken := ask[Taken](n, "POST "+q+"/messages/take?lease=1h").Messages
	if len(taken) != 1 || taken[0].MessageID != "a" {
		t.Fatalf("%+v", taken)
	}
	one := func(name string) string { return q + "/messages/" + id[name] }
	n.play([]resttest.Step{
		{"GET " + one("b"), 200, strings.Repeat("b", 2*shownBytes)}, // the whole body
		{"GET " + one("a"), 200, `"state":"unacked"`},
		{"GET " + one("a"), 200, `"consumer":{"lease_until":"`},
		{"DELETE " + one("a"), 409, "the message is leased until"},
		{`POST ` + one("a") + `/move {"to":"other"}`, 409, "the message is leased until"},
		{"DELETE " + one("b"), 204, ""},
		{"DELETE " + one("b"), 404, "no such message"},
		{"GET " + one("b"), 404, "no such message"},
		{`POST ` + one("c") + `/move {"to":"none"}`, 404, "no such queue"},
		{`POST ` + one("c") + `/move {}`, 400, "to is missing"},
		{`POST ` + one("c") + `/move {"to":"other"}`, 204, ""},
		{`POST ` + one("e") + `/move {"to":"other"}`, 204, ""},
		{"GET " + q + "/messages/zz", 400, "invalid message id"},
		{"GET " + q + "/messages/zz-1", 404, "no such message"}, // the id belongs to a queue that was deleted
		{"GET /api/queues/%2F/other/messages?state=ready", 200, `"message_id":"c"`},
		{"GET /api/queues/%2F/other/messages?state=scheduled", 200, `"message_id":"e"`}, // it is still scheduled
		{"GET " + q + "/messages?state=ready", 200, `"message_id":"d"`},
		{"GET " + q + "/messages?state=scheduled", 200, `"messages":[]`},
	})
	if got := n.bodies("q/1"); len(got) != 1 {
		t.Errorf("%d are left", len(got))
	}
}

// sink is a consumer that ignores deliveries.
type sink chan shard.Delivery

func (s sink) Deliver(ds []shard.Delivery) {
	for _, d := range ds {
		s <- d
	}
}
func (sink) Cancelled(*shard.Consumer) {}

// The consumer of an unacked message is shown only if no other consumer has any.
func TestHolder(t *testing.T) {
	n := start(t)
	n.queue("q/1")
	got := make(sink, 1)
	s, err := n.b.NewSession(broker.SessionOptions{User: "guest", VHost: "/", Name: "127.0.0.1:4000 -> 127.0.0.1:5672", Sink: got})
	must(t, err)
	defer s.Close()
	_, err = s.Consume(shard.ConsumerSpec{Queue: "q/1", Tag: "worker-1"})
	must(t, err)
	n.put("q/1", "a", "x")
	d := <-got
	m := ask[Page](n, "GET "+q+"/messages").Messages[0]
	if m.State != "unacked" || m.Consumer == nil || *m.Consumer != (Holder{Tag: "worker-1", Connection: "127.0.0.1:4000 -> 127.0.0.1:5672"}) {
		t.Errorf("%+v", m)
	}
	n.play([]resttest.Step{{"DELETE " + q + "/messages/" + m.ID, 409, "the consumer worker-1 of connection 127.0.0.1:4000"}})
	s.Reject(d.Queue, d.Consumer, d.Handle, 1)
	s.Flush()
}
