package amqp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/bench/process"
)

// options returns options for a short run against b that ends by count.
func options(b *toyBroker, change func(*Options)) Options {
	o := DefaultOptions()
	o.URL = "amqp://" + b.addr
	o.Duration = time.Minute
	o.Count = 1000
	if change != nil {
		change(&o)
	}
	return o
}

func TestRunCountsWhatTheBrokerSaw(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"plain":           nil,
		"no ack":          func(o *Options) { o.NoAck = true },
		"confirms":        func(o *Options) { o.Confirm = 10 },
		"one in flight":   func(o *Options) { o.Confirm, o.Count = 1, 50 },
		"several":         func(o *Options) { o.Publishers, o.Consumers, o.Queues, o.Confirm = 3, 3, 3, 7 },
		"split bodies":    func(o *Options) { o.Size, o.Count = 20_000, 20 },
		"empty bodies":    func(o *Options) { o.Size = 0 },
		"open loop":       func(o *Options) { o.Rate, o.Confirm, o.Count = 20_000, 100, 500 },
		"odd quotas":      func(o *Options) { o.Publishers, o.Count = 4, 11 },
		"only publishing": func(o *Options) { o.Consumers, o.Confirm, o.Queue = 0, 5, "kept" },
	} {
		t.Run(name, func(t *testing.T) {
			b := startToyBroker(t, &toyBroker{})
			o := options(b, change)
			res, err := Run(t.Context(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if res.Published.Count != o.Count || uint64(b.published) != o.Count {
				t.Errorf("published %d by the result, %d by the broker, want %d", res.Published.Count, b.published, o.Count)
			}
			if o.Consumers > 0 && res.Received.Count != o.Count {
				t.Errorf("received %d of %d", res.Received.Count, o.Count)
			}
			if o.Confirm > 0 && (res.Confirmed.Count != o.Count || res.ConfirmLatency == nil || res.ConfirmLatency.Count != o.Count) {
				t.Errorf("confirmed %+v, latency %+v", res.Confirmed, res.ConfirmLatency)
			}
			if stamped := o.Consumers > 0 && o.Size >= stampBytes; stamped != (res.EndToEndLatency != nil) {
				t.Errorf("end-to-end latency %+v", res.EndToEndLatency)
			} else if stamped && (res.EndToEndLatency.Count != o.Count || res.EndToEndLatency.P50 <= 0 || res.EndToEndLatency.Max < res.EndToEndLatency.P50) {
				t.Errorf("end-to-end latency %+v", res.EndToEndLatency)
			}
			if own := o.Queue == ""; own != (len(b.deleted) == o.Queues) {
				t.Errorf("deleted queues %q", b.deleted)
			}
		})
	}
}

func TestRunConsumesWhatIsThere(t *testing.T) {
	b := startToyBroker(t, &toyBroker{})
	for _, change := range []func(*Options){
		func(o *Options) { o.Queue, o.Persist, o.Consumers = "backlog", true, 0 },
		func(o *Options) { o.Queue, o.Persist, o.Publishers = "backlog", true, 0 },
	} {
		res, err := Run(t.Context(), options(b, change), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Published.Count+res.Received.Count != 1000 {
			t.Errorf("published %d, received %d", res.Published.Count, res.Received.Count)
		}
		if res.EndToEndLatency != nil {
			t.Error("the stamps of another run were measured")
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.declared["backlog"] || len(b.deleted) != 0 {
		t.Errorf("declared durable %v, deleted %q", b.declared["backlog"], b.deleted)
	}
}

func TestRunReportsRefusals(t *testing.T) {
	b := startToyBroker(t, &toyBroker{refuse: true})
	res, err := Run(t.Context(), options(b, func(o *Options) { o.Confirm = 10 }), nil)
	if err != nil || res.Nacked != 1000 || res.Confirmed.Count != 0 || res.ConfirmLatency != nil {
		t.Fatalf("%+v, %v", res, err)
	}
}

func TestRunFailsOnABrokenBroker(t *testing.T) {
	b := startToyBroker(t, &toyBroker{breakTags: true})
	if _, err := Run(t.Context(), options(b, func(o *Options) { o.Confirm = 10 }), nil); err == nil || !strings.Contains(err.Error(), "does not wait") {
		t.Fatalf("error %v", err)
	}
}

func TestRunNamesARefusedLogin(t *testing.T) {
	b := startToyBroker(t, &toyBroker{})
	_, err := Run(t.Context(), options(b, func(o *Options) { o.URL = "amqp://guest:wrong@" + b.addr }), nil)
	var closed *CloseError
	if !errors.As(err, &closed) || closed.Code != 403 {
		t.Fatalf("error %v, want the broker's 403", err)
	}
}

func TestResultHidesThePassword(t *testing.T) {
	b := startToyBroker(t, &toyBroker{})
	res, err := Run(t.Context(), options(b, func(o *Options) { o.URL = "amqp://guest:guest@" + b.addr }), nil)
	if want := "amqp://guest:xxxxx@" + b.addr; err != nil || res.Options.URL != want {
		t.Fatalf("url %q, %v; want %q", res.Options.URL, err, want)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	b := startToyBroker(t, &toyBroker{})
	ctx, cancel := context.WithCancel(t.Context())
	res, err := Run(ctx, options(b, func(o *Options) { o.Count = 0; o.Rate = 1000 }), func(Progress) { cancel() })
	if err != nil || res.Published.Count == 0 || res.Seconds >= 60 {
		t.Fatalf("%+v, %v", res, err)
	}
}

func TestRunMeasuresAProcess(t *testing.T) {
	if _, err := process.Read(os.Getpid()); err != nil {
		t.Skip(err)
	}
	b := startToyBroker(t, &toyBroker{})
	res, err := Run(t.Context(), options(b, func(o *Options) { o.PID = os.Getpid() }), nil)
	if err != nil || res.Broker == nil || res.Broker.RSSBytes < 1<<20 {
		t.Fatalf("%+v, %v", res.Broker, err)
	}
	if _, err := Run(t.Context(), options(b, func(o *Options) { o.PID = 1 << 30 }), nil); err == nil {
		t.Error("a process that does not exist was measured")
	}
}

func TestValidateNamesTheOption(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"publishers":  func(o *Options) { o.Publishers = -1 },
		"nothing":     func(o *Options) { o.Publishers, o.Consumers = 0, 0 },
		"queue must":  func(o *Options) { o.Publishers = 0 },
		"size":        func(o *Options) { o.Size = -1 },
		"ack is 2000": func(o *Options) { o.AckEvery = 2000 },
		"prefetch":    func(o *Options) { o.Prefetch = 70_000 },
		"rate":        func(o *Options) { o.Rate = -1 },
		"duration":    func(o *Options) { o.Duration = 0 },
		"url":         func(o *Options) { o.URL = "http://x" },
	} {
		o := DefaultOptions()
		change(&o)
		if err := o.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestResultText(t *testing.T) {
	res := Result{
		Options: Options{Publishers: 1, Consumers: 1, Confirm: 1}, Seconds: 2,
		Published: Flow{10, 5}, Confirmed: Flow{9, 4.5}, Nacked: 1, Received: Flow{8, 4},
		ConfirmLatency: &Latency{Count: 9, P50: 150, P90: 200, P99: 300, P999: 400, Max: 12_345}, Broker: &Usage{0.5, 2.5, 30e6},
	}
	var text strings.Builder
	if err := res.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"published", "confirmed", "received", "refused", "0.150", "12.345", "2.50 µs CPU per message, 30.0 MB"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "end to end") {
		t.Error("shows a latency that was not measured")
	}
	raw, err := json.Marshal(res)
	if err != nil || !strings.Contains(string(raw), `"p99_9_us":400`) || strings.Contains(string(raw), "end_to_end") {
		t.Errorf("%s, %v", raw, err)
	}
}
