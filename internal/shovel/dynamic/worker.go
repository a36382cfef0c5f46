package dynamic

import (
	"bytes"
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/shovel"
)

// States of a shovel, in RabbitMQ's words.
const (
	Starting   = "starting"
	Running    = "running"
	Terminated = "terminated" // it waits before the next attempt, or cannot run at all
)

// Status is the state of a shovel for operators.
type Status struct {
	VHost, Name    string
	State          string
	Since          time.Time
	Reason         string            // reason of Terminated
	Source, Target string            // while it runs: URIs without logins
	Ends           map[string]string // while it runs: src-queue, src-exchange, src-exchange-key, dest-queue and so on
	Moved          uint64            // since its start
}

// worker runs one shovel.
type worker struct {
	m     *Manager
	id    identity
	value json.RawMessage // never changes
	again atomic.Bool     // restart was requested
	stop  context.CancelFunc
	done  chan struct{}

	status atomic.Pointer[Status] // replaced, never changed; without Moved
	moved  atomic.Uint64
	ends   map[string]string
}

func startWorker(ctx context.Context, m *Manager, id identity, value json.RawMessage) *worker {
	w := &worker{m: m, id: id, value: value, done: make(chan struct{})}
	ctx, w.stop = context.WithCancel(ctx)
	w.set(Status{State: Starting})
	go w.run(ctx)
	return w
}

func (w *worker) show() Status {
	s := *w.status.Load()
	s.Moved = w.moved.Load()
	return s
}

func (w *worker) set(s Status) {
	s.VHost, s.Name, s.Since = w.id.VHost, w.id.Name, w.m.o.Now()
	w.status.Store(&s)
}

// run moves messages until the worker is stopped, or has moved the configured amount.
func (w *worker) run(ctx context.Context) {
	defer close(w.done)
	defer w.stop()
	log := w.m.o.Log.With("shovel", w.id.Name, "vhost", w.id.VHost)
	s, err := parse(w.value)
	if err != nil {
		log.Error("shovel: cannot run", "err", err)
		w.set(Status{State: Terminated, Reason: err.Error()})
		return
	}
	w.ends = s.ends()
	if a := s.amount(); !a.some || a.messages > 0 {
		o := s.options(w.id)
		o.Local, o.Progress, o.Change = w.m.o.Local, w.progress, s.change(w.id, w.m.o.ClusterName())
		log.Info("shovel: started")
		if _, err = shovel.Run(ctx, o); err != nil {
			log.Warn("shovel: stopped, and is not restarted", "err", err)
			w.set(Status{State: Terminated, Reason: err.Error()})
			return
		}
	}
	if ctx.Err() != nil {
		log.Info("shovel: stopped", "moved", w.moved.Load())
		return
	}
	log.Info("shovel: all messages are moved", "moved", w.moved.Load())
	w.forget()
}

// progress records the progress of the shovel.
func (w *worker) progress(p shovel.Progress) {
	w.moved.Store(p.Moved)
	switch {
	case p.Running && w.status.Load().State != Running:
		w.set(Status{State: Running, Source: p.Source, Target: p.Target, Ends: w.ends})
	case p.Err != nil:
		w.m.o.Log.Warn("shovel: a connection failed", "shovel", w.id.Name, "vhost", w.id.VHost, "err", p.Err)
		w.set(Status{State: Terminated, Reason: p.Err.Error()})
	}
}

// forget deletes the parameter, unless it has been replaced.
func (w *worker) forget() {
	p, ok := w.m.broker.Parameter(w.id.VHost, Component, w.id.Name)
	if !ok || !bytes.Equal(p.Value, w.value) {
		return
	}
	if err := w.m.broker.DeleteParameter(w.id.VHost, Component, w.id.Name); err != nil {
		w.m.o.Log.Error("shovel: its parameter cannot be deleted; it starts again with the broker", "shovel", w.id.Name, "vhost", w.id.VHost, "err", err)
	}
}
