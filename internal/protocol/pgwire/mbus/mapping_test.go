package mbus

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// publish sends a message like a client of another protocol.
func publish(t *testing.T, s *broker.Session, exchange, key, body string, p message.Properties) {
	t.Helper()
	raw := p.Append(nil)
	peek, err := message.PeekProperties(raw)
	if err != nil {
		t.Fatal(err)
	}
	peek.Body = []byte(body)
	targets, err := s.Route([]byte(exchange), []byte(key), &peek, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := append(message.AppendEnvelopeHeader(nil, exchange, key, raw), body...)
	s.Publish(&shard.Publish{Targets: targets, Env: env, Persistent: peek.Persistent(), TTL: -1})
	s.Flush()
}

func TestMessagesOfAMQP(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	c.call("create_consumer", "q", "big", `(t.properties->'size')::int > 10 and t.headers->'type' = 'order'`)
	publish(t, c.s.own, "q", "some.key", "plain text", message.Properties{
		Flags: message.HasContentType | message.HasHeaders | message.HasDeliveryMode | message.HasPriority | message.HasCorrelationID |
			message.HasMessageID | message.HasTimestamp | message.HasType,
		ContentType: "text/plain", DeliveryMode: 2, Priority: 7, CorrelationID: "c1", MessageID: "m1", Type: "order",
		Timestamp: message.Timestamp(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).Unix()),
		Headers: message.Table{
			{Name: "size", Value: int32(12)}, {Name: "ok", Value: true}, {Name: "text", Value: "t"}, {Name: "none", Value: nil},
			{Name: "when", Value: message.Timestamp(0)}, {Name: "pi", Value: 3.5}, {Name: "price", Value: message.Decimal{Scale: 2, Value: 1999}},
			{Name: "list", Value: message.Array{"a", int64(1), nil}}, {Name: "table", Value: message.Table{{Name: "k", Value: "v"}}},
			{Name: "raw", Value: message.Bytes{0xff, 0}},
		},
	})
	publish(t, c.s.own, "", "q", "\xff\x00", message.Properties{})
	r := c.call("consume", "q")[0]
	if got, want := dataOf(r), `"body"=>"plain text"`; got != want {
		t.Errorf("data %s, want %s", got, want)
	}
	wantProperties := `"ok"=>"true", "pi"=>"3.5", "raw"=>"\\xff00", "list"=>"[\"a\",1,null]", "none"=>NULL, "size"=>"12", "text"=>"t", ` +
		`"when"=>"1970-01-01 00:00:00", "price"=>"19.99", "table"=>"{\"k\":\"v\"}"`
	if got := propertiesOf(r).String(); got != wantProperties {
		t.Errorf("properties\n     %s\nwant %s", got, wantProperties)
	}
	wantHeaders := `"type"=>"order", "seenby"=>"{fiveways}", "exchange"=>"q", "priority"=>"7", "source_db"=>"fiveways", ` +
		`"timestamp"=>"2024-05-06 07:08:09", "destination"=>"q", "routing_key"=>"some.key", "content_type"=>"text/plain", ` +
		`"enqueue_time"=>"2024-05-06 07:08:09", "delivery_mode"=>"2", "correlation_id"=>"c1", "destination_queue"=>"q"`
	if got := headersOf(r).String(); got != wantHeaders {
		t.Errorf("headers\n     %s\nwant %s", got, wantHeaders)
	}
	if r[colIID] != "m1" || string(localtime.Append(nil, r[colAdded].(temporal.Timestamp))) != "2024-05-06 07:08:09" {
		t.Errorf("iid %v, added %v", r[colIID], r[colAdded])
	}
	place := c.call("messages", "q")[0][colIID].(string)
	if again := c.call("take", place)[0][0].(value.Record); dataOf(again) != `"body_base64"=>"/wA="` || again[colIID] != place {
		t.Errorf("a message without an id: %v", again)
	}
	if c.call("peek_q", place)[0][0] != false {
		t.Error("what was taken by its place is still there")
	}
	c.consumesBy("q", "big", `"body"=>"plain text"`)
}

func TestMessagesOfSQL(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	get := func() (message.Properties, string) {
		d, _, ok, err := c.s.own.Get("q", true)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		p, err := message.DecodeProperties(d.Env.Properties())
		if err != nil {
			t.Fatal(err)
		}
		return p, string(d.Env.Body())
	}
	id := c.text("post", "q", `a=>1, b=>NULL`, `correlation_id=>c1, priority=>5, mine=>x, type=>t, expiration=>60000`, `k=>v, n=>NULL`)
	p, body := get()
	want := fmt.Sprintf("%s|%s|%d|%d|%s|%s|%s|%s", contentType, id, 2, 5, "c1", "t", "60000", `"a"=>"1", "b"=>NULL`)
	if got := fmt.Sprintf("%s|%s|%d|%d|%s|%s|%s|%s", p.ContentType, p.MessageID, p.DeliveryMode, p.Priority, p.CorrelationID, p.Type,
		p.Expiration, body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	kept, _ := p.Headers.Get(keptHeader)
	mine, _ := kept.(message.Table).Get("mine")
	v, _ := p.Headers.Get("k")
	if n, ok := p.Headers.Get("n"); mine != "x" || v != "v" || n != nil || !ok {
		t.Errorf("headers %v", p.Headers)
	}
	// a record consumed from AMQP can be posted unchanged
	c.call("post", "q", hstore.New([]hstore.Pair{{Key: "body", Value: "hello"}}), `content_type=>text/plain, delivery_mode=>1`)
	if p, body = get(); body != "hello" || p.ContentType != "text/plain" || p.DeliveryMode != 1 {
		t.Errorf("posted on: %q %+v", body, p)
	}
	c.call("post", "q", hstore.New([]hstore.Pair{{Key: "body_base64", Value: "/wA="}}), `content_type=>image/x`)
	if _, body = get(); body != "\xff\x00" {
		t.Errorf("posted on: %q", body)
	}
}

// TestRecordsSurvive posts random records and compares them with what is received.
func TestRecordsSurvive(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	keys := []string{
		"a", "", "key with blanks", "ключ", "mbus", "consume_after ", "content_type", "delivery_mode", "priority", "timestamp", "user_id", "expires",
		"delayed_until", "=x", "exchange", "data", "properties", "destination_queue", "source_db", "message_id", "expiration", "seenby_", "type",
	}
	values := []string{"", "1", "2", "255", "256", "x", `quo"te\`, "2024-01-02 03:04:05", "2024-01-02 03:04:05.5", "guest", "application/x-hstore", "007"}
	pick := func(but string) hstore.Map {
		var pairs []hstore.Pair
		for range r.IntN(6) {
			p := hstore.Pair{Key: keys[r.IntN(len(keys))], Value: values[r.IntN(len(values))], Null: r.IntN(5) == 0}
			if p.Key != but {
				pairs = append(pairs, p)
			}
		}
		return hstore.New(pairs)
	}
	for range 2000 {
		data, headers, properties := pick(""), pick("expiration"), pick("")
		args := []any{"q", data, headers, properties}
		if r.IntN(4) == 0 {
			args[1] = nil
		}
		if r.IntN(4) == 0 {
			args[3] = nil
		}
		c.call("post", args...)
		rows := c.call("consume", "q")
		if len(rows) != 1 {
			t.Fatalf("%v: %d rows", args, len(rows))
		}
		got := rows[0]
		supplied := hstore.New([]hstore.Pair{{Key: "source_db", Value: "fiveways"}, {Key: "destination_queue", Value: "q"}})
		want := supplied.Concat(headers)
		gotHeaders := headersOf(got).DeleteKeys([]string{"enqueue_time", "seenby", "destination"})
		if !gotHeaders.Equal(want) {
			t.Fatalf("headers %s\ncame as %s", want, gotHeaders)
		}
		for column, sent := range map[int]any{colData: args[1], colProperties: args[3]} {
			m, isMap := got[column].(hstore.Map)
			if isMap != (sent != nil) || isMap && !m.Equal(sent.(hstore.Map)) {
				t.Fatalf("column %d: %v came as %v", column, sent, got[column])
			}
		}
	}
}
