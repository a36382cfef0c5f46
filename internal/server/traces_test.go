package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/config"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A trace continues through a message from one protocol to another, and the collector gets a span
// for the time in the queue.
func TestTraces(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	type posted struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ TraceID, ParentSpanID, Name string }
			}
		}
	}
	spans := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p posted
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			t.Error(err)
			return
		}
		for _, s := range p.ResourceSpans[0].ScopeSpans[0].Spans {
			spans <- s.TraceID + " " + s.ParentSpanID + " " + s.Name
		}
	}))
	defer collector.Close()
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit, cfg.OTLPEndpoint = t.TempDir(), 0, collector.URL
	cfg.AMQP, cfg.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	cfg.SQL, cfg.Redis, cfg.Etcd, cfg.Metrics = config.Off, config.Off, config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() {
		if err := s.Drain(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	c, err := amqp.Dial("amqp://" + s.Addrs()["amqp"])
	must(t, err)
	defer c.Close()
	ch, err := c.Channel()
	must(t, err)
	if _, err := ch.QueueDeclare("orders", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume("orders", "", true, false, false, false, nil)
	must(t, err)
	r, err := http.NewRequest(http.MethodPost, "http://"+s.Addrs()["http"]+"/api/queues/%2F/orders/messages?raw=true", strings.NewReader("two apples"))
	must(t, err)
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Traceparent", "00-"+trace+"-"+span+"-01")
	r.Header.Set("Tracestate", "a=b")
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatal(answer.Status)
	}
	d := <-deliveries
	if d.Headers["traceparent"] != "00-"+trace+"-"+span+"-01" || d.Headers["tracestate"] != "a=b" {
		t.Errorf("headers %v", d.Headers)
	}
	for _, what := range []string{"publish", "deliver"} {
		if got, want := <-spans, trace+" "+span+" "+what+" orders"; got != want {
			t.Errorf("span %s, want %s", got, want)
		}
	}
}
