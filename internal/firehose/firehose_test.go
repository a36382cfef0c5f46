package firehose

import (
	"reflect"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

func told(t *testing.T, of *shard.Tapped) (key string, headers message.Table, body string) {
	t.Helper()
	_, k, props, b := Of("node")(of).Split()
	p, err := message.DecodeProperties(props)
	if err != nil {
		t.Fatal(err)
	}
	if p.Flags != message.HasHeaders {
		t.Errorf("it has the properties %016b", p.Flags)
	}
	return string(k), p.Headers, string(b)
}

func sent(key string, p message.Properties) message.Envelope {
	return append(message.AppendEnvelopeHeader(nil, "x", key, p.Append(nil)), "body"...)
}

// test/oracle has what RabbitMQ says; here is what it cannot be asked.
func TestHeaders(t *testing.T) {
	p := message.Properties{
		Flags: message.HasHeaders | message.HasTimestamp, Timestamp: 1 << 33,
		Headers: message.Table{{Name: "CC", Value: message.Array{"a", int32(1), "b"}}},
	}
	key, got, body := told(t, &shard.Tapped{
		Env: sent("k", p), VHost: "v", User: "u", Client: "c", Channel: 2, HandedOut: true, Queue: "q", Redelivered: true,
	})
	want := message.Table{
		{Name: "exchange_name", Value: "x"},
		{Name: "routing_keys", Value: message.Array{"k", "a", "b"}},
		{Name: "properties", Value: message.Table{{Name: "timestamp", Value: int64(1 << 33)}, {Name: "headers", Value: p.Headers}}},
		{Name: "node", Value: "node"},
		{Name: "redelivered", Value: int32(1)},
		{Name: "vhost", Value: "v"},
		{Name: "connection", Value: "c"},
		{Name: "channel", Value: int32(2)},
		{Name: "user", Value: "u"},
	}
	if key != "deliver.q" || body != "body" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %s %s\n%v\nwant\n%v", key, body, got, want)
	}
}

// Names may be as long as a routing key by themselves.
func TestLongNames(t *testing.T) {
	env := sent("k", message.Properties{})
	key, _, _ := told(t, &shard.Tapped{Env: env, HandedOut: true, Queue: strings.Repeat("q", message.MaxShortStr)})
	if want := "deliver." + strings.Repeat("q", message.MaxShortStr-len("deliver.")); key != want {
		t.Errorf("got %d bytes: %s", len(key), key)
	}
}

// Properties that cannot be read are left out; the message is told of all the same.
func TestUnreadableProperties(t *testing.T) {
	deep := message.Table{}
	for range message.MaxTableDepth + 1 {
		deep = message.Table{{Name: "t", Value: deep}}
	}
	env := sent("k", message.Properties{Flags: message.HasHeaders, Headers: deep})
	key, headers, body := told(t, &shard.Tapped{Env: env, Queues: []string{"q1", "q2"}})
	props, _ := headers.Get("properties")
	queues, _ := headers.Get("routed_queues")
	if key != "publish.x" || body != "body" || len(props.(message.Table)) > 0 || !reflect.DeepEqual(queues, message.Array{"q1", "q2"}) {
		t.Errorf("%s %s %v", key, body, headers)
	}
}
