package messages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// rabbitmq serves the paths for messages in RabbitMQ's management API.
func (a *api) rabbitmq() {
	a.Handle(rest.Management, "POST /api/exchanges/{vhost}/{exchange}/publish", a.publishTo)
	a.Handle(rest.Management, "POST /api/queues/{vhost}/{queue}/get", a.get)
	a.Delete(rest.Management, "/api/queues/{vhost}/{queue}/contents", func(r *http.Request) error {
		return rest.ByChannel(a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
			name := rest.Name(r, "queue")
			if !s.HasQueue(name) {
				return rest.ErrNotThere
			}
			_, err := s.PurgeQueue(name)
			return asChannel(ofStream(err, "queue.purge", name, s))
		}))
	})
}

// fields returns the members of the JSON object in a request. Numbers are json.Number.
func fields(r *http.Request, needed ...string) (map[string]any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in map[string]any
	if len(text) == 0 {
		text = []byte("{}") // it lacks the required members
	}
	if err := decodeNumbers(text, &in); err != nil || in == nil {
		return nil, rest.BadRequest("not_json")
	}
	var missing []string
	for _, name := range needed {
		if _, ok := in[name]; !ok {
			missing = append(missing, "{key_missing,"+name+"}")
		}
	}
	if len(missing) > 0 {
		return nil, rest.BadRequest("[" + strings.Join(missing, ",") + "]")
	}
	return in, nil
}

// decodeNumbers reads one JSON value and decodes numbers as json.Number.
func decodeNumbers(text []byte, into any) error {
	if !json.Valid(text) {
		return errNotJSON
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

var errNotJSON = rest.BadRequest("not_json")

// Routed reports whether a published message reached a queue.
type Routed struct {
	Routed bool `json:"routed"`
}

func (a *api) publishTo(r *http.Request) (rest.Answer, error) {
	in, err := fields(r, "routing_key", "properties", "payload", "payload_encoding")
	if err != nil {
		return rest.Answer{}, err
	}
	m := outgoing{exchange: rest.Name(r, "exchange")}
	if m.exchange == rest.DefaultExchange {
		m.exchange = ""
	}
	if err := m.read(in); err != nil {
		return rest.Answer{}, err
	}
	var routed bool
	err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) (err error) {
		routed, err = a.publish(ctx, s, &m)
		return asPublisher(err)
	})
	return rest.Answer{Status: http.StatusOK, Body: Routed{routed}}, rest.ByChannel(err)
}

// ofStream returns err, or RabbitMQ's error for a method that streams do not support.
func ofStream(err error, method, queue string, s *broker.Session) error {
	if errors.Is(err, failure.ErrWrongKind) {
		return rest.BadRequest(method + " not supported by stream queues " + amqperr.Resource("queue", queue, s.VHost()))
	}
	return err
}

// asChannel is rest.ByChannel with RabbitMQ's word in front of errors for objects that do not
// exist.
func asChannel(err error) error {
	err = rest.ByChannel(err)
	if re, ok := err.(*rest.Refused); ok && re.Status == http.StatusNotFound {
		return rest.Fail(re.Status, re.Refusal.Error, notFound+strings.TrimPrefix(re.Reason, notFound))
	}
	return err
}

const notFound = "NOT_FOUND - "

// asPublisher is asChannel for publishes, where a missing exchange is not a 404.
func asPublisher(err error) error {
	err = asChannel(err)
	if re, ok := err.(*rest.Refused); ok && re.Status == http.StatusNotFound {
		return rest.BadRequest("404 " + re.Reason)
	}
	return err
}

// read reads the message from the members of a request.
func (m *outgoing) read(in map[string]any) (err error) {
	payload, ok := in["payload"].(string)
	if !ok {
		return rest.BadRequest("payload_not_string")
	}
	encoding, _ := in["payload_encoding"].(string)
	if m.body, err = rest.ReadBytes(payload, encoding); err != nil {
		return err
	}
	if m.key, ok = in["routing_key"].(string); !ok {
		return rest.BadRequest("not_string: routing_key")
	}
	props, ok := in["properties"].(map[string]any)
	if list, isList := in["properties"].([]any); isList && len(list) == 0 { // RabbitMQ's form of no properties
		ok = true
	}
	if !ok {
		return rest.BadRequest("properties are a JSON object")
	}
	m.props, err = readProperties(props)
	return err
}

// Got is a message returned by get.
type Got struct {
	Bytes       int    `json:"payload_bytes"`
	Redelivered bool   `json:"redelivered"`
	Exchange    string `json:"exchange"`
	RoutingKey  string `json:"routing_key"`
	Left        int    `json:"message_count"` // messages in the queue behind it
	Properties  any    `json:"properties"`
	Payload     string `json:"payload"`
	Encoding    string `json:"payload_encoding"`
}

// getting is a request to get messages.
type getting struct {
	count    int // negative: all
	ackmode  string
	base64   bool
	truncate int // limit of a body in bytes; negative: none
}

func readGetting(r *http.Request) (g getting, err error) {
	in, err := fields(r, "ackmode", "count", "encoding")
	if err != nil {
		return g, err
	}
	if g.count, err = integer(in["count"]); err != nil {
		return g, err
	}
	g.truncate = -1
	if v, ok := in["truncate"]; ok {
		if g.truncate, err = integer(v); err != nil {
			return g, err
		}
		g.truncate = max(g.truncate, 0)
	}
	switch g.ackmode, _ = in["ackmode"].(string); g.ackmode {
	case "ack_requeue_true", "ack_requeue_false", "reject_requeue_true", "reject_requeue_false":
	default:
		return g, rest.BadRequest("ackmode is ack_requeue_true, ack_requeue_false, reject_requeue_true or reject_requeue_false")
	}
	switch in["encoding"] {
	case "auto":
	case "base64":
		g.base64 = true
	default:
		return g, rest.BadRequest("Unsupported encoding. Please use auto or base64.")
	}
	return g, nil
}

// integer reads a number, or a string of one, which RabbitMQ accepts.
func integer(v any) (int, error) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	n, err := json.Number(cmp.Or(text, "x")).Int64()
	if err != nil || n != int64(int32(n)) {
		return 0, rest.BadRequest("not_integer: " + text)
	}
	return int(n), nil
}

// gotBytes limits the total size of the bodies that one request gets.
const gotBytes = 64 << 20

func (a *api) get(r *http.Request) (rest.Answer, error) {
	g, err := readGetting(r)
	if err != nil {
		return rest.Answer{}, err
	}
	out := []Got{}
	err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) (err error) {
		name := rest.Name(r, "queue")
		out, err = g.run(ctx, s, name)
		return asChannel(ofStream(err, "540 basic.get", name, s))
	})
	return rest.Answer{Status: http.StatusOK, Body: out}, rest.ByChannel(err)
}

// run gets messages. It requeues messages only after it has got all of them; otherwise it would get
// the first one again and again.
func (g *getting) run(ctx context.Context, s *broker.Session, queueName string) (out []Got, err error) {
	out = []Got{}
	var lent []shard.Delivery
	defer func() { g.end(s, lent) }()
	for size := 0; len(out) != g.count && size < gotBytes && ctx.Err() == nil; {
		d, left, ok, err := s.Get(queueName, g.ackmode == "ack_requeue_false")
		if err != nil || !ok {
			return out, err
		}
		if g.ackmode != "ack_requeue_false" {
			lent = append(lent, d)
		}
		size += len(d.Env)
		out = append(out, g.show(&d, left))
	}
	return out, nil
}

// end settles the messages.
func (g *getting) end(s *broker.Session, lent []shard.Delivery) {
	for _, d := range lent {
		if g.ackmode == "reject_requeue_false" {
			s.Reject(d.Queue, nil, d.Handle, 1)
		} else {
			s.Requeue(d.Queue, nil, d.Handle, 1)
		}
	}
	s.FlushInline()
}

func (g *getting) show(d *shard.Delivery, left int) Got {
	exchange, key, raw, body := d.Env.Split()
	out := Got{Bytes: len(body), Redelivered: d.Redelivered, Exchange: string(exchange), RoutingKey: string(key), Left: left, Properties: []any{}}
	if p, err := message.DecodeProperties(raw); err == nil && p.Flags != 0 {
		out.Properties = shownProperties(&p)
	}
	if g.base64 {
		if g.truncate >= 0 && len(body) > g.truncate {
			body = body[:g.truncate]
		}
		out.Payload, out.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return out
	}
	out.Payload, out.Encoding = rest.ShowBytes(body, g.truncate)
	return out
}
