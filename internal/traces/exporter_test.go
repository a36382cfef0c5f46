package traces

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/tracing"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// collector accepts or rejects spans.
type collector struct {
	*httptest.Server
	refuses atomic.Bool
	bodies  chan string
}

func newCollector(t *testing.T) *collector {
	c := &collector{bodies: make(chan string, 100)}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, %s %s", err, r.URL, r.Header)
		}
		if c.refuses.Load() {
			http.Error(w, "full", http.StatusServiceUnavailable)
			return
		}
		c.bodies <- string(body)
	}))
	t.Cleanup(c.Close)
	return c
}

func start(c *collector, log io.Writer) *Exporter {
	e := New(Options{Endpoint: c.URL + "/", Node: "here", Version: "1", Every: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))})
	e.Start()
	return e
}

// The sent JSON follows the specification of OTLP/JSON.
func TestSpans(t *testing.T) {
	c := newCollector(t)
	e := start(c, io.Discard)
	e.Published(&tracing.Event{Parent: "00-x"})
	e.Delivered(&tracing.Event{Parent: parent, VHost: "/", Queue: "orders", Since: 5, At: 1_700_000_000_000_000_001, Bytes: 7, Redelivered: true})
	var got request
	body := <-c.bodies
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	e.Stop()
	spans := got.Resources[0].Scopes[0].Spans
	if len(spans) != 1 || len(spans[0].ID) != 16 {
		t.Fatal(body)
	}
	want := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"fiveways"}},` +
		`{"key":"service.instance.id","value":{"stringValue":"here"}},{"key":"service.version","value":{"stringValue":"1"}}]},` +
		`"scopeSpans":[{"scope":{"name":"fiveways","version":"1"},"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"` + spans[0].ID +
		`","parentSpanId":"00f067aa0ba902b7","name":"deliver orders","kind":1,"startTimeUnixNano":"5","endTimeUnixNano":"1700000000000000001","attributes":[` +
		`{"key":"messaging.system","value":{"stringValue":"fiveways"}},{"key":"messaging.operation.name","value":{"stringValue":"deliver"}},` +
		`{"key":"messaging.destination.name","value":{"stringValue":"orders"}},{"key":"messaging.message.body.size","value":{"intValue":"7"}},` +
		`{"key":"fiveways.vhost","value":{"stringValue":"/"}},{"key":"fiveways.redelivered","value":{"boolValue":true}}]}]}]}]}`
	if body != want {
		t.Errorf("\n got %s\nwant %s", body, want)
	}
	if s := e.Stats(); s != (Stats{Sent: 1}) {
		t.Errorf("%+v", s)
	}
}

// The exporter never waits for a collector: spans that it does not accept are dropped and counted,
// and reported once.
func TestDropped(t *testing.T) {
	c := newCollector(t)
	c.refuses.Store(true)
	var log strings.Builder
	e := New(Options{Endpoint: c.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range mostWaiting + 10 { // the sender is not running yet
		e.Published(&tracing.Event{Parent: parent, Queue: "q"})
	}
	if s := e.Stats(); s != (Stats{Dropped: 10}) {
		t.Errorf("%+v", s)
	}
	e.Start()
	e.Stop()
	if s := e.Stats(); s != (Stats{Dropped: mostWaiting + 10}) {
		t.Errorf("%+v", s)
	}
	if n := strings.Count(log.String(), "does not accept spans"); n != 1 || !strings.Contains(log.String(), "503") {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

func TestParse(t *testing.T) {
	for text, good := range map[string]bool{
		parent: true, "": false, "01" + parent[2:]: false, strings.ToUpper(parent): false, strings.Replace(parent, "4bf9", "4bfg", 1): false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false, "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": false, parent + "-x": false,
	} {
		if _, _, ok := parse(text); ok != good {
			t.Errorf("%s: %v", text, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(parent)
	f.Fuzz(func(t *testing.T, text string) {
		trace, span, ok := parse(text)
		if ok && !strings.HasPrefix(text, "00-"+trace+"-"+span+"-") {
			t.Errorf("%s: %s, %s", text, trace, span)
		}
	})
}
