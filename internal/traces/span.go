package traces

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/tracing"
)

// The names below are those of OTLP/JSON, version 1.

type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value holds a value of one type; the other fields are nil.
type value struct {
	Text  *string `json:"stringValue,omitempty"`
	Int   *string `json:"intValue,omitempty"`
	Truth *bool   `json:"boolValue,omitempty"`
}

type request struct {
	Resources []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource resource     `json:"resource"`
	Scopes   []scopeSpans `json:"scopeSpans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// internalKind is the kind of a span within a service. The publisher and the consumer have spans of
// their own kinds.
const internalKind = 1

func text(key, v string) attribute { return attribute{key, value{Text: &v}} }

func number(key string, n int) attribute {
	v := strconv.Itoa(n)
	return attribute{key, value{Int: &v}}
}

func truth(key string, v bool) attribute { return attribute{key, value{Truth: &v}} }

// newSpan returns the span of an event of a message. ok is false if the parent is invalid.
func newSpan(what string, t *tracing.Event) (s span, ok bool) {
	trace, parent, ok := parse(t.Parent)
	if !ok {
		return s, false
	}
	var id [8]byte
	rand.Read(id[:]) //nolint:errcheck // it never fails
	return span{
		Trace: trace, Parent: parent, ID: hex.EncodeToString(id[:]), Name: what + t.Queue, Kind: internalKind,
		Start: strconv.FormatInt(t.Since, 10), End: strconv.FormatInt(t.At, 10),
		Attributes: []attribute{
			text("messaging.system", "fiveways"), text("messaging.operation.name", strings.TrimSpace(what)), text("messaging.destination.name", t.Queue),
			number("messaging.message.body.size", t.Bytes), text("fiveways.vhost", t.VHost), truth("fiveways.redelivered", t.Redelivered),
		},
	}, true
}

// parse parses a traceparent, "00-{trace}-{span}-{flags}" in hexadecimal digits.
func parse(parent string) (trace, span string, ok bool) {
	parts := strings.Split(parent, "-")
	if len(parts) != 4 || parts[0] != "00" {
		return "", "", false
	}
	return parts[1], parts[2], isID(parts[1], 32) && isID(parts[2], 16)
}

// isID reports whether a text is an ID with this number of lower-case hexadecimal digits, not all
// 0.
func isID(id string, digits int) bool {
	return len(id) == digits && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

// request returns the body of a request.
func (e *Exporter) request(batch []span) *request {
	of := []attribute{text("service.name", "fiveways"), text("service.instance.id", e.o.Node), text("service.version", e.o.Version)}
	return &request{[]resourceSpans{{resource{of}, []scopeSpans{{scope{"fiveways", e.o.Version}, batch}}}}}
}
