package inprocess

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

func open(t *testing.T) *broker.Broker {
	t.Helper()
	b := enginetest.Open(t, vfs.NewMem(), nil)
	t.Cleanup(func() { enginetest.Close(t, b) })
	return b
}

func TestConformance(t *testing.T) {
	b := open(t)
	workertest.Conformance(t, workertest.Suite{Open: func(*testing.T) worker.Jobs { return New(b, "/") }})
}

// TestBrokerCloses: a waiting call ends with an error when the broker closes.
func TestBrokerCloses(t *testing.T) {
	b := open(t)
	j := New(b, "/")
	ended := make(chan error)
	go func() {
		_, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{"q", "r"}, Wait: time.Hour})
		ended <- err
	}()
	enginetest.Close(t, b)
	if err := <-ended; !errors.Is(err, worker.ErrClosed) {
		t.Errorf("a take that waited: %v, want ErrClosed", err)
	}
	if _, err := j.Enqueue(context.Background(), "q", nil, worker.EnqueueOptions{}); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("an enqueue: %v, want ErrClosed", err)
	}
}

// TestNoToken: a malformed token is as stale as an expired one.
func TestNoToken(t *testing.T) {
	j := New(open(t), "/")
	l := worker.Lease{Queue: "q", MID: "m", Token: "what?"}
	for name, err := range map[string]error{
		"done": j.Done(t.Context(), l, 0), "retry": j.Retry(t.Context(), l, 0, ""), "fail": j.Fail(t.Context(), l, ""), "extend": j.Extend(t.Context(), l, time.Hour),
	} {
		if !errors.Is(err, worker.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", name, err)
		}
	}
}

func TestUnknownVirtualHost(t *testing.T) {
	if _, err := New(open(t), "nowhere").Names(t.Context()); !errors.Is(err, failure.ErrVHostNotFound) {
		t.Errorf("%v, want ErrVHostNotFound", err)
	}
}

// TestAlarm: a broker that is short of disk space accepts no jobs, but continues with those it has.
func TestAlarm(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.DiskFreeLimit = 1 << 62 })
	t.Cleanup(func() { enginetest.Close(t, b) })
	j := New(b, "/")
	for b.Alarm() == nil { // the watchdog checks several times a second
		runtime.Gosched()
	}
	if _, err := j.Enqueue(t.Context(), "q", nil, worker.EnqueueOptions{}); !errors.Is(err, worker.ErrNoRoom) {
		t.Errorf("an enqueue: %v, want ErrNoRoom", err)
	}
	if _, err := j.EnqueueAll(t.Context(), []worker.EnqueueRequest{{Queue: "q"}}); !errors.Is(err, worker.ErrNoRoom) {
		t.Errorf("several: %v, want ErrNoRoom", err)
	}
	if jobs, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{"q"}}); err != nil || len(jobs) > 0 {
		t.Errorf("a take: %v, %v", jobs, err)
	}
}
