package messages

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

const (
	publishX = "POST /api/exchanges/%2F/amq.default/publish "
	getQ     = "POST /api/queues/%2F/q/get "
)

// TestRabbitMQ compares with the answers of RabbitMQ 3.10.8 to the same requests. Where it gives a
// list as the reason, the reason here is a single text.
func TestRabbitMQ(t *testing.T) {
	n := start(t)
	n.queue("q")
	n.play([]resttest.Step{
		{publishX + `{"properties":{},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 200, `{"routed":true}`},
		{publishX + `{"properties":{"delivery_mode":2,"priority":3,"headers":{"a":1,"b":"x","c":1.5,"d":true,"e":[1,"z"],"f":{"k":1}},` +
			`"content_type":"text/plain","timestamp":1700000000,"message_id":"m1"},"routing_key":"q","payload":"/wA=","payload_encoding":"base64"}`, 200, `{"routed":true}`},
		{`POST /api/exchanges/%2F//publish {"properties":{},"routing_key":"none","payload":"hi","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{publishX + `{"properties":{"nope":5},"routing_key":"none","payload":"hi","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{publishX + `{"properties":{"headers":{"n":null}},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, `"reason":"null_not_allowed"`},
		{publishX + `{"properties":{"priority":"x"},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "not_int: priority"},
		{publishX + `{"properties":{"priority":256},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "priority is a number from 0 to 255"},
		{publishX + `{"properties":{"message_id":5},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "not_string: message_id"},
		{publishX + `{"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, `"reason":"[{key_missing,properties}]"`},
		{publishX + `{"properties":{},"routing_key":"q","payload":"hi","payload_encoding":"xx"}`, 400, "unsupported_encoding: xx"},
		{publishX + `{"properties":{},"routing_key":"q","payload":"h!!i","payload_encoding":"base64"}`, 400, "not_base64"},
		{publishX + `zzz`, 400, `{"error":"bad_request","reason":"not_json"}`},
		{publishX + `[]`, 400, `"reason":"not_json"`},
		{publishX + `null`, 400, `"reason":"not_json"`},
		{publishX + `{"properties":5,"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "properties are"},
		{publishX + `{"properties":{"headers":5},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "headers are"},
		{publishX + `{"properties":{},"routing_key":"q","payload":5,"payload_encoding":"string"}`, 400, `"reason":"payload_not_string"`},
		{`POST /api/exchanges/%2F/none/publish {"properties":{},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400,
			`{"error":"bad_request","reason":"404 NOT_FOUND - no exchange 'none' in vhost '/'"}`},
		{publishX + `{"properties":{"expiration":"x"},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400,
			`{"error":"bad_request","reason":"406 PRECONDITION_FAILED - invalid expiration 'x': no_integer"}`},
		{publishX + `{"properties":{"delivery_mode":7},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400,
			`"reason":"406 PRECONDITION_FAILED - invalid message: {delivery_mode_unknown,7}"`},
		{publishX + `{"properties":{"reply_to":"amq.rabbitmq.reply-to","expiration":"x"},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400,
			`{"error":"bad_request","reason":"406 PRECONDITION_FAILED - fast reply consumer does not exist"}`},
		{publishX + `{"properties":{},"routing_key":"amq.rabbitmq.reply-to.none","payload":"hi","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{publishX + `{"properties":{"headers":{"CC":"q"}},"routing_key":"q","payload":"hi","payload_encoding":"string"}`, 400, "unacceptable_type_in_header"},

		{getQ + `{"count":5,"ackmode":"ack_requeue_true","encoding":"auto"}`, 200,
			`[{"payload_bytes":2,"redelivered":false,"exchange":"","routing_key":"q","message_count":1,"properties":[],"payload":"hi","payload_encoding":"string"},` +
				`{"payload_bytes":2,"redelivered":false,"exchange":"","routing_key":"q","message_count":0,"properties":{"content_type":"text/plain","delivery_mode":2,` +
				`"headers":{"a":1,"b":"x","c":1.5,"d":true,"e":[1,"z"],"f":{"k":1}},"message_id":"m1","priority":3,"timestamp":1700000000},"payload":"/wA=","payload_encoding":"base64"}]`},
		{getQ + `{"count":1,"ackmode":"ack_requeue_true","encoding":"base64","truncate":1}`, 200, `"redelivered":true,"exchange":"","routing_key":"q","message_count":1,"properties":[],"payload":"aA==","payload_encoding":"base64"}]`},
		{getQ + `{"count":"1","ackmode":"reject_requeue_true","encoding":"auto","truncate":50000}`, 200, `"payload":"hi"`},
		{getQ + `{"count":-1,"ackmode":"ack_requeue_true","encoding":"auto"}`, 200, `"message_count":0`},
		{getQ + `{"count":0,"ackmode":"ack_requeue_true","encoding":"auto"}`, 200, `[]`},
		{getQ + `{"count":"x","ackmode":"ack_requeue_true","encoding":"auto"}`, 400, "not_integer: x"},
		{getQ + `{"count":1,"encoding":"auto"}`, 400, `"reason":"[{key_missing,ackmode}]"`},
		{getQ + `{}`, 400, `"reason":"[{key_missing,ackmode},{key_missing,count},{key_missing,encoding}]"`},
		{getQ + `{"count":1,"ackmode":"zz","encoding":"auto"}`, 400, "ackmode is"},
		{getQ + `{"count":1,"ackmode":"ack_requeue_false","encoding":"zz"}`, 400, `"reason":"Unsupported encoding. Please use auto or base64."`},
		{getQ + `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto","truncate":"x"}`, 400, "not_integer: x"},
		{`POST /api/queues/%2F/none/get {"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, 404,
			`{"error":"not_found","reason":"NOT_FOUND - no queue 'none' in vhost '/'"}`},

		{getQ + `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, 200, `"payload":"hi"`},
		{getQ + `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`, 200, `"payload":"/wA="`}, // the other message is gone
		{"DELETE /api/queues/%2F/q/contents", 204, ""},
		{getQ + `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, 200, `[]`},
		{"DELETE /api/queues/%2F/none/contents", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
	})
}

// A stream can be neither read nor emptied. These answers are RabbitMQ's, too.
func TestGetOfStream(t *testing.T) {
	n := start(t)
	n.queue("s", func(s *catalog.QueueSpec) { s.Policy.Stream = true })
	n.play([]resttest.Step{
		{`POST /api/queues/%2F/s/get {"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`, 400,
			`{"error":"bad_request","reason":"540 basic.get not supported by stream queues queue 's' in vhost '/'"}`},
		{`POST /api/queues/%2F/s/get {"count":0,"ackmode":"ack_requeue_true","encoding":"auto"}`, 200, "[]"},
		{"DELETE /api/queues/%2F/s/contents", 400, `{"error":"bad_request","reason":"queue.purge not supported by stream queues queue 's' in vhost '/'"}`},
	})
}

// A direct reply is delivered to the mailbox of the requester. As in RabbitMQ, that does not count
// as routed.
func TestDirectReply(t *testing.T) {
	n := start(t)
	got := make(sink, 2)
	s, err := n.b.NewSession(broker.SessionOptions{User: "guest", VHost: "/", Sink: got})
	must(t, err)
	defer s.Close()
	name, _, err := s.OpenMailbox(shard.ConsumerSpec{Tag: "t"})
	must(t, err)
	n.play([]resttest.Step{
		{publishX + `{"properties":{},"routing_key":"amq.rabbitmq.reply-to.` + name + `","payload":"one","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{publishX + `{"properties":{"headers":{"CC":["amq.rabbitmq.reply-to.` + name + `"]}},"routing_key":"none","payload":"two","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{`POST /api/exchanges/%2F/amq.direct/publish {"properties":{},"routing_key":"amq.rabbitmq.reply-to.` + name + `","payload":"three","payload_encoding":"string"}`, 200, `{"routed":false}`},
	})
	close(got)
	var bodies []string
	for d := range got {
		bodies = append(bodies, string(d.Env.Body()))
	}
	same(t, bodies, "one", "two")
}

// A rejected message is dead-lettered, and a message goes to all routing keys in its headers.
func TestRejectAndCopies(t *testing.T) {
	n := start(t)
	n.queue("dead")
	n.queue("q", deadTo("dead"))
	n.play([]resttest.Step{
		{publishX + `{"properties":{"headers":{"CC":["dead"],"BCC":["q"]}},"routing_key":"none","payload":"x","payload_encoding":"string"}`, 200, `{"routed":true}`},
		{"DELETE /api/queues/%2F/dead/contents", 204, ""},
		{getQ + `{"count":1,"ackmode":"reject_requeue_false","encoding":"auto"}`, 200, `"headers":{"CC":["dead"]}`}, // without BCC
		{"GET /api/queues/%2F/dead/messages", 200, `"x-first-death-reason":"rejected"`},
	})
}

// A full queue that rejects publishes reports that, as it does to publishers of other protocols.
func TestFull(t *testing.T) {
	n := start(t)
	n.queue("q", func(s *catalog.QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 1, catalog.RejectPublish })
	n.play([]resttest.Step{
		{publishX + `{"properties":{},"routing_key":"q","payload":"1","payload_encoding":"string"}`, 200, `{"routed":true}`},
		{publishX + `{"properties":{},"routing_key":"q","payload":"2","payload_encoding":"string"}`, 200, `{"routed":false}`},
		{`POST /api/queues/%2F/q/messages {"payload":"3"}`, 409, "queue 'q' is full"},
	})
	same(t, n.bodies("q"), "1")
}
