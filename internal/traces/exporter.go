package traces

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/core/tracing"
)

// Options configures an Exporter. For a zero value the default in brackets applies.
type Options struct {
	Endpoint string        // base URL of the collector; spans go to /v1/traces below it
	Node     string        // name of the node, service.instance.id
	Version  string        // of the broker, service.version
	Every    time.Duration // longest delay of a span [1 s]
	Client   *http.Client  // [a client with a timeout of 10 s]
	Log      *slog.Logger  // [slog.Default()]
}

const (
	mostWaiting = 8192 // buffered spans; beyond it new ones are dropped
	batchSize   = 512  // spans per request
)

// Exporter sends spans. It implements tracing.Listener. Any goroutine may call its methods.
type Exporter struct {
	o     Options
	spans chan span
	stop  chan struct{}
	done  chan struct{}

	sent, dropped atomic.Uint64
	failing       bool // the last request failed; reported once
}

// Stats counts spans.
type Stats struct {
	Sent    uint64 // accepted by the collector
	Dropped uint64 // not accepted, or too many
}

// New returns an exporter that sends nothing before Start.
func New(o Options) *Exporter {
	o.Every = cmp.Or(o.Every, time.Second)
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Exporter{o: o, spans: make(chan span, mostWaiting), stop: make(chan struct{}), done: make(chan struct{})}
}

// Start starts sending.
func (e *Exporter) Start() { go e.run() }

// Stop sends the buffered spans, as far as the collector accepts them, and then returns. Later
// spans are dropped.
func (e *Exporter) Stop() {
	close(e.stop)
	<-e.done
}

// Stats returns the counts of spans.
func (e *Exporter) Stats() Stats { return Stats{e.sent.Load(), e.dropped.Load()} }

// Published implements tracing.Listener.
func (e *Exporter) Published(t *tracing.Event) { e.add("publish ", t) }

// Delivered implements tracing.Listener.
func (e *Exporter) Delivered(t *tracing.Event) { e.add("deliver ", t) }

func (e *Exporter) add(what string, t *tracing.Event) {
	s, ok := newSpan(what, t)
	if !ok {
		return
	}
	select {
	case e.spans <- s:
	default:
		e.dropped.Add(1)
	}
}

func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(e.o.Every)
	defer tick.Stop()
	batch := make([]span, 0, batchSize)
	for {
		select {
		case s := <-e.spans:
			if batch = append(batch, s); len(batch) < batchSize {
				continue
			}
		case <-tick.C:
		case <-e.stop:
			e.sendRest(batch)
			return
		}
		e.send(batch)
		batch = batch[:0]
	}
}

// sendRest sends the buffered spans at the end.
func (e *Exporter) sendRest(batch []span) {
	for {
		select {
		case s := <-e.spans:
			if batch = append(batch, s); len(batch) == batchSize {
				e.send(batch)
				batch = batch[:0]
			}
			continue
		default:
		}
		e.send(batch)
		return
	}
}

func (e *Exporter) send(batch []span) {
	if len(batch) == 0 {
		return
	}
	err := e.post(batch)
	if err == nil {
		e.sent.Add(uint64(len(batch)))
	} else {
		e.dropped.Add(uint64(len(batch)))
	}
	switch {
	case err != nil && !e.failing:
		e.o.Log.Warn("traces: the collector does not accept spans; they are dropped until it does", "endpoint", e.o.Endpoint, "err", err)
	case err == nil && e.failing:
		e.o.Log.Info("traces: the collector accepts spans again", "endpoint", e.o.Endpoint)
	}
	e.failing = err != nil
}

// mostAnswer is the maximum number of bytes that are read of a response.
const mostAnswer = 64 << 10

func (e *Exporter) post(batch []span) error {
	body, err := json.Marshal(e.request(batch))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, strings.TrimSuffix(e.o.Endpoint, "/")+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.o.Client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer)) // to the end, for reuse of the connection
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s", answer.Status, text)
	}
	return nil
}
