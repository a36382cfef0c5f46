package matrix

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

var httpProtocol = protocol{
	name: "http", typed: true, plain: true, marks: true, volatile: true, said: saidByHTTP, value: valueInJSON, dial: dialHTTP,
}

// saidByHTTP reduces a message to what JSON can express: headers that are strings, booleans,
// numbers, and objects and lists of these. A number is a long or a double.
func saidByHTTP(m message) message {
	var headers []header
	for _, h := range m.headers {
		if v, ok := saidInJSON(h.value); ok {
			headers = append(headers, header{h.name, v, h.text})
		}
	}
	m.headers = headers
	return m
}

func saidInJSON(v any) (any, bool) {
	switch v := v.(type) {
	case string, bool, int64, float64:
		return v, true
	case int32:
		return int64(v), true
	case amqp.Table:
		out := amqp.Table{}
		for name, inner := range v {
			said, ok := saidInJSON(inner)
			if !ok {
				return nil, false
			}
			out[name] = said
		}
		return out, true
	}
	return nil, false // void, bytes, timestamps, decimals, and lists with a null
}

// valueInJSON converts a header to the form in JSON.
func valueInJSON(v any) (any, bool) {
	switch v := v.(type) {
	case nil:
		return "undefined", true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case time.Time:
		return float64(v.Unix()), true
	case amqp.Decimal:
		return float64(v.Value) / 100, true // the decimals in the cases have two digits
	case []byte:
		if utf8.Valid(v) {
			return string(v), true
		}
		return base64.StdEncoding.EncodeToString(v), true
	case amqp.Table:
		out := map[string]any{}
		for name, inner := range v {
			out[name], _ = valueInJSON(inner)
		}
		return out, true
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i], _ = valueInJSON(v[i])
		}
		return out, true
	}
	return v, true
}

// httpEnd is a client of the HTTP API.
type httpEnd struct{ root string }

func dialHTTP(_ context.Context, b *brokertest.Broker) (endpoint, error) {
	return &httpEnd{"http://guest:guest@" + b.HTTPAddr() + "/api/"}, nil
}

func (e *httpEnd) close() {}

// of returns the path of a queue.
func of(queue string) string { return "queues/%2F/" + url.PathEscape(queue) }

// do sends a request with a JSON object, and decodes the answer into out unless that is nil.
func (e *httpEnd) do(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, e.root+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		return err
	}
	if w.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, w.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

func (e *httpEnd) declare(ctx context.Context, queue string, priorities int) error {
	arguments := map[string]any{}
	if priorities > 0 {
		arguments["x-max-priority"] = priorities
	}
	return e.do(ctx, "PUT", of(queue), map[string]any{"durable": true, "arguments": arguments}, nil)
}

// inJSON returns a message in the form of the API.
func inJSON(m message) map[string]any {
	properties := map[string]any{}
	for name, v := range m.properties {
		switch name {
		case "priority", "delivery_mode":
			n, _ := strconv.Atoi(v)
			properties[name] = n
		case "timestamp":
			at, _ := time.Parse(time.DateTime, v)
			properties[name] = at.Unix()
		default:
			properties[name] = v
		}
	}
	if m.id != "" {
		properties["message_id"] = m.id
	}
	if m.expires > 0 {
		properties["expiration"] = strconv.FormatInt(m.expires.Milliseconds(), 10)
	}
	headers := map[string]any{}
	for _, h := range saidByHTTP(m).headers {
		headers[h.name] = h.value
	}
	if len(headers) > 0 {
		properties["headers"] = headers
	}
	out := map[string]any{"properties": properties, "payload": string(m.body), "payload_encoding": "string"}
	if !utf8.Valid(m.body) {
		out["payload"], out["payload_encoding"] = base64.StdEncoding.EncodeToString(m.body), "base64"
	}
	return out
}

func (e *httpEnd) send(ctx context.Context, queue string, m message) error {
	in := inJSON(m)
	in["delay_ms"] = m.delayed.Milliseconds()
	return e.do(ctx, "POST", of(queue)+"/messages", in, nil)
}

// taken is a message as the API returns it.
type taken struct {
	Token       string         `json:"token"`
	MessageID   string         `json:"message_id"`
	Redelivered bool           `json:"redelivered"`
	Properties  map[string]any `json:"properties"`
	Payload     string         `json:"payload"`
	Encoding    string         `json:"payload_encoding"`
}

// message converts it to what all protocols have in common.
func (t *taken) message() (m message, err error) {
	m = message{id: t.MessageID, again: t.Redelivered, body: []byte(t.Payload), properties: map[string]string{}}
	if t.Encoding == "base64" {
		m.body, err = base64.StdEncoding.DecodeString(t.Payload)
	}
	for name, v := range t.Properties {
		switch v := v.(type) {
		case string:
			m.properties[name] = v
		case float64:
			m.properties[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case map[string]any:
			for name, v := range v {
				if !kept(name) {
					m.headers = append(m.headers, header{name: name, value: v})
				}
			}
		}
	}
	delete(m.properties, "message_id")
	if v := m.properties["timestamp"]; v != "" {
		n, _ := strconv.ParseInt(v, 10, 64)
		m.properties["timestamp"] = time.Unix(n, 0).UTC().Format(time.DateTime)
	}
	return m, err
}

// lend takes the next message, which stays leased. It returns false if none is available now.
func (e *httpEnd) lend(ctx context.Context, queue string) (t taken, ok bool, err error) {
	var out struct{ Messages []taken }
	if err = e.do(ctx, "POST", of(queue)+"/messages/take", nil, &out); err != nil || len(out.Messages) == 0 {
		return t, false, err
	}
	return out.Messages[0], true, nil
}

// settle acknowledges or returns a message that was taken.
func (e *httpEnd) settle(ctx context.Context, queue, how, token string) error {
	var out struct {
		Acked, Nacked int
		Stale         []string
	}
	err := e.do(ctx, "POST", of(queue)+"/messages/"+how, map[string]any{"tokens": []string{token}}, &out)
	if err == nil && out.Acked+out.Nacked != 1 {
		err = fmt.Errorf("%s of one message: %+v", how, out)
	}
	return err
}

func (e *httpEnd) take(ctx context.Context, queue string) (m message, ok bool, err error) {
	t, ok, err := e.lend(ctx, queue)
	if err != nil || !ok {
		return m, false, err
	}
	if m, err = t.message(); err != nil {
		return m, false, err
	}
	return m, true, e.settle(ctx, queue, "ack", t.Token)
}

func (e *httpEnd) giveBack(ctx context.Context, queue string) error {
	t, ok, err := e.lend(ctx, queue)
	if err != nil || !ok {
		return fmt.Errorf("nothing to give back: %v", err)
	}
	return e.settle(ctx, queue, "nack", t.Token)
}

// follow opens a stream of a queue. Each call of next waits for a message.
func (e *httpEnd) follow(ctx context.Context, queue string) (next func() (taken, error), err error) {
	r, err := http.NewRequestWithContext(ctx, "GET", e.root+of(queue)+"/stream?prefetch=100", nil)
	if err != nil {
		return nil, err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if w.StatusCode != http.StatusOK {
		w.Body.Close()
		return nil, fmt.Errorf("no stream: %s", w.Status)
	}
	context.AfterFunc(ctx, func() { w.Body.Close() })
	lines := bufio.NewScanner(w.Body)
	return func() (t taken, err error) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return t, json.Unmarshal([]byte(data), &t)
			}
		}
		return t, fmt.Errorf("the stream ended: %v", lines.Err())
	}, nil
}
