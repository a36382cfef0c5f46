package messages

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// producing serves the path for programs that publish to a queue.
func (a *api) producing() {
	a.Handle(rest.Login, "POST /api/queues/{vhost}/{queue}/messages", a.produce)
}

func (a *api) produce(r *http.Request) (rest.Answer, error) {
	name := rest.Name(r, "queue")
	m, notBefore, err := readOutgoing(r)
	if err != nil {
		return rest.Answer{}, err
	}
	m.key = name
	m.complete()
	m.trace(r)
	err = a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		if err := a.heldBack(); err != nil {
			return err
		}
		p, err := m.prepare(s)
		if err != nil {
			return err
		}
		post := broker.Post{
			OnQueue: broker.OnQueue{Queue: name}, Env: p.env, Persistent: p.peek.Persistent(), Priority: p.peek.Priority, TTL: p.ttl,
			NotBefore: max(p.notBefore, notBefore),
		}
		if err := s.Do(&post); err != nil {
			return err
		}
		return errFull(post.Err, name)
	})
	return rest.Answer{Status: http.StatusCreated, Body: Published{m.props.MessageID}}, err
}

// complete adds what the sender left out: a message id, and persistence.
func (m *outgoing) complete() {
	if m.props.MessageID == "" {
		m.props.MessageID = rand.Text()
	}
	if !m.props.Has(message.HasDeliveryMode) {
		m.props.DeliveryMode = message.Persistent
	}
	m.props.Flags |= message.HasMessageID | message.HasDeliveryMode
}

// traceFields are the headers of HTTP and of messages that carry the trace context (W3C Trace
// Context).
var traceFields = []string{tracing.Parent, "tracestate"}

// trace adds the trace context of the request to the message, unless it has its own.
func (m *outgoing) trace(r *http.Request) {
	if _, ok := m.props.Headers.Get(tracing.Parent); ok || r.Header.Get(tracing.Parent) == "" {
		return
	}
	for _, name := range traceFields {
		if v := r.Header.Get(name); v != "" {
			m.props.Headers.Set(name, v)
			m.props.Flags |= message.HasHeaders
		}
	}
}

// readOutgoing reads a message from a request, and its earliest time of delivery (unix ms, 0: at
// once). With a Content-Type of its own or with ?raw=true, the body is the message itself;
// otherwise it is a JSON object that describes the message.
func readOutgoing(r *http.Request) (m outgoing, notBefore int64, err error) {
	raw, err := rest.Truth(r, "raw")
	if err != nil {
		return m, 0, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m, 0, err
	}
	switch kind {
	case "", "application/json", formType:
		if !raw {
			return readObject(body)
		}
	}
	return readRaw(r, body)
}

// formType is the default Content-Type of curl and of HTML forms.
const formType = "application/x-www-form-urlencoded"

// readObject reads a message from the JSON object that describes it.
func readObject(body []byte) (m outgoing, notBefore int64, err error) {
	var in Outgoing
	if err := decodeNumbers(body, &in); err != nil {
		return m, 0, rest.BadRequest("the body is not the JSON object expected here; with ?raw=true, or a Content-Type that is not JSON, it is the message itself")
	}
	if m.body, err = rest.ReadBytes(in.Payload, in.Encoding); err != nil {
		return m, 0, err
	}
	if m.props, err = readProperties(in.Properties); err != nil {
		return m, 0, err
	}
	if in.NotBefore != nil {
		notBefore = max(in.NotBefore.Add(time.Millisecond-1).UnixMilli(), 0) // rounded up
	}
	return m, max(notBefore, afterDelay(in.DelayMS)), nil
}

// afterDelay returns the time (unix ms) this many ms from now, or 0 if ms is 0.
func afterDelay(ms int64) int64 {
	if ms <= 0 {
		return 0
	}
	// The current millisecond may be almost over.
	return min(time.Now().UnixMilli()+1+min(ms, declareargs.LatestTime), declareargs.LatestTime)
}

// Header prefixes of a request whose body is the message itself. The rest of the first is the name
// of a property, with - for _; the rest of the second is the name of a header, whose value is a
// string.
const (
	propertyField = "X-Fiveways-"
	headerField   = "X-Fiveways-Header-"
	delayField    = "X-Fiveways-Delay"
)

// readRaw reads a message whose body is the body of the request.
func readRaw(r *http.Request, body []byte) (m outgoing, notBefore int64, err error) {
	m.body = body
	in, headers := map[string]any{}, map[string]any{}
	if kind := r.Header.Get("Content-Type"); kind != "" && kind != formType {
		in["content_type"] = kind
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" {
		in["content_encoding"] = coding
	}
	for name, values := range r.Header {
		if name == delayField {
			d, err := rest.ParseSpan(values[0])
			if err != nil {
				return m, 0, err
			}
			notBefore = afterDelay(d.Milliseconds())
		} else if header, ok := strings.CutPrefix(name, headerField); ok {
			headers[strings.ToLower(header)] = values[0]
		} else if property, ok := strings.CutPrefix(name, propertyField); ok {
			property = strings.ReplaceAll(strings.ToLower(property), "-", "_")
			in[property] = propertyText(property, values[0])
		}
	}
	if len(headers) > 0 {
		in["headers"] = headers
	}
	m.props, err = readProperties(in)
	return m, notBefore, err
}

// propertyText converts the text of a property to its JSON form.
func propertyText(property, text string) any {
	switch property {
	case "priority", "delivery_mode", "timestamp":
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.Number(text)
		}
	}
	return text
}
