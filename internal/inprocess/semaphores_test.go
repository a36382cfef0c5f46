package inprocess

import (
	"errors"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/semaphore/semaphoretest"
)

// openLines starts an engine with semaphores. stop closes it, once.
func openLines(t *testing.T) (b *broker.Broker, m *semaphores.Manager, stop func()) {
	t.Helper()
	m = semaphores.New(semaphores.Options{Logger: slog.New(slog.DiscardHandler)})
	b = enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.StateMachines = protocoltest.Machines(m, nil) })
	if err := m.Start(b); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		m.Stop()
		enginetest.Close(t, b)
	}
	t.Cleanup(stop)
	return b, m, stop
}

func TestSemaphoresConformance(t *testing.T) {
	b, m, _ := openLines(t)
	semaphoretest.Conformance(t, semaphoretest.Suite{Open: func(*testing.T) *semaphore.Manager { return semaphore.New(NewSemaphores(b, m, "/")) }})
}

// TestEngineStops: calls that wait, hold or watch get an error when the engine closes.
func TestEngineStops(t *testing.T) {
	b, m, stop := openLines(t)
	s := semaphore.New(NewSemaphores(b, m, "/"))
	defer s.Close()
	crowd, err := s.GetOrCreate(t.Context(), "crowd", semaphore.Settings{Active: new(1)})
	if err != nil {
		t.Fatal(err)
	}
	held, err := crowd.Acquire(t.Context(), "holds", 2)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := crowd.Acquire(t.Context(), "waits", 1)
		ended <- err
	}()
	stop()
	if err := <-ended; !errors.Is(err, semaphore.ErrClosed) {
		t.Errorf("an acquire that waited: %v, want ErrClosed", err)
	}
	<-held.Done()
	if _, err := crowd.Enqueue(t.Context(), "late", 1); !errors.Is(err, semaphore.ErrClosed) {
		t.Errorf("an enqueue: %v, want ErrClosed", err)
	}
}

func TestSemaphoresOfUnknownVirtualHost(t *testing.T) {
	b, m, _ := openLines(t)
	s := semaphore.New(NewSemaphores(b, m, "nowhere"))
	defer s.Close()
	if _, err := s.GetOrCreate(t.Context(), "crowd", semaphore.Settings{}); !errors.Is(err, failure.ErrVHostNotFound) {
		t.Errorf("%v, want ErrVHostNotFound", err)
	}
	if _, err := s.Acquire(t.Context(), "crowd", "t", 1); !errors.Is(err, failure.ErrVHostNotFound) {
		t.Errorf("%v, want ErrVHostNotFound", err)
	}
}
