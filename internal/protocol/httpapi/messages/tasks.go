package messages

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Limits of tasks.
const (
	mostRunning = 50
	keptEnded   = 100 // ended tasks that can still be inspected
)

// States of tasks.
const (
	running = "running"
	done    = "done"
	stopped = "stopped"
	failed  = "failed"
)

// tasks holds the transfers of this server. They end when the server stops.
type tasks struct {
	mu   sync.Mutex
	list []*task // guarded by mu: oldest first
}

func newTasks() *tasks { return &tasks{} }

// task is a transfer that is running or has ended.
type task struct {
	stop context.CancelFunc

	mu   sync.Mutex
	info Task // guarded by mu
}

func (t *task) look() Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info
}

func (t *task) change(fn func(*Task)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fn(&t.info)
}

// add adds a task. It returns an error if too many are running.
func (ts *tasks) add(t *task) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	running, ended := 0, 0
	for _, t := range ts.list {
		if t.look().Ended == "" {
			running++
		} else {
			ended++
		}
	}
	if running >= mostRunning {
		return rest.Fail(http.StatusTooManyRequests, "limit_reached", "50 tasks run; wait for one to end, or stop one")
	}
	ts.list = slices.DeleteFunc(append(ts.list, t), func(t *task) bool {
		if ended < keptEnded || t.look().Ended == "" {
			return false
		}
		ended--
		return true
	})
	return nil
}

func (ts *tasks) all() []*task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Clone(ts.list)
}

// transfers serves the paths that move many messages.
func (a *api) transfers() {
	a.Handle(rest.Management, "POST /api/queues/{vhost}/{queue}/redrive", func(r *http.Request) (rest.Answer, error) { return a.begin(r, "redrive") })
	a.Handle(rest.Management, "POST /api/queues/{vhost}/{queue}/messages/move", func(r *http.Request) (rest.Answer, error) { return a.begin(r, "move") })
	a.Get(rest.Management, "/api/queues/{vhost}/{queue}/tasks", func(r *http.Request) (any, error) {
		out := []Task{}
		err := a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
			for _, t := range a.tasks.all() {
				if info := t.look(); info.VHost == rest.Name(r, "vhost") && info.Queue == rest.Name(r, "queue") {
					out = append(out, info)
				}
			}
			if !s.HasQueue(rest.Name(r, "queue")) {
				return rest.ErrNotThere
			}
			return s.MayConsume(rest.Name(r, "queue"))
		})
		return out, err
	})
	a.Get(rest.Management, "/api/tasks/{id}", func(r *http.Request) (any, error) {
		t, err := a.task(r)
		if err != nil {
			return nil, err
		}
		return t.look(), nil
	})
	a.Delete(rest.Management, "/api/tasks/{id}", func(r *http.Request) error {
		t, err := a.task(r)
		if err == nil {
			t.stop()
		}
		return err
	})
}

// task returns the task that a path names, for callers that may read its queue.
func (a *api) task(r *http.Request) (*task, error) {
	for _, t := range a.tasks.all() {
		info := t.look()
		if info.ID != rest.Name(r, "id") {
			continue
		}
		return t, a.In(r, info.VHost, func(_ context.Context, s *broker.Session) error { return s.MayConsume(info.Queue) })
	}
	return nil, rest.NotFound("no task with that id; tasks end with the server, and the last 100 that ended are kept")
}

// begin starts a task.
func (a *api) begin(r *http.Request, kind string) (rest.Answer, error) {
	var in Transfer
	if err := rest.Decode(r, &in); err != nil {
		return rest.Answer{}, err
	}
	switch {
	case in.Limit < 0 || in.Rate < 0:
		return rest.Answer{}, rest.BadRequest("limit and rate are not negative; 0 is no limit")
	case kind == "move" && in.To == "":
		return rest.Answer{}, rest.BadRequest("to is missing: the name of a queue of the same virtual host")
	}
	filter, err := readFilter(in.Filter)
	if err != nil {
		return rest.Answer{}, err
	}
	caller := rest.CallerOf(r.Context())
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	t := &task{stop: cancel, info: Task{
		ID: rand.Text(), Kind: kind, VHost: rest.Name(r, "vhost"), Queue: rest.Name(r, "queue"), To: in.To, Filter: in.Filter, Limit: in.Limit,
		Rate: in.Rate, State: running, User: caller.Name(), Started: timeText(time.Now().UnixMilli()),
	}}
	s, err := a.Session(r, t.info.VHost, func(error) { cancel() })
	if err != nil {
		cancel()
		return rest.Answer{}, err
	}
	move := &transfer{s: s, queue: t.info.Queue, to: in.To, redrive: kind == "redrive", keep: keep(filter), limit: in.Limit, rate: in.Rate}
	if err = t.prepare(move); err == nil {
		err = a.tasks.add(t)
	}
	if err != nil {
		cancel()
		s.Close()
		return rest.Answer{}, err
	}
	not := caller.WhenEnding(cancel)
	go func() {
		defer not()
		defer cancel()
		defer s.Close()
		t.end(ctx, move.run(ctx))
	}()
	return rest.Answer{Status: http.StatusAccepted, Body: t.look()}, nil
}

// prepare checks that a transfer can begin, and counts the messages to look at.
func (t *task) prepare(m *transfer) error {
	if err := m.s.MayConsume(m.queue); err != nil {
		return err
	}
	st, err := inspect.Queue(m.s, m.queue)
	if err != nil {
		return err
	}
	if m.to != "" {
		if m.to == m.queue {
			return rest.BadRequest("the messages are in queue '" + m.to + "' already")
		}
		if _, err := m.s.Into(m.to); err != nil {
			return err
		}
	}
	t.info.Remaining = st.Ready
	m.moved = func(n int) {
		t.change(func(i *Task) { i.Moved, i.Remaining = i.Moved+n, max(i.Remaining-n, 0) })
	}
	m.left = func(n int) {
		t.change(func(i *Task) { i.Skipped, i.Remaining = i.Skipped+n, max(i.Remaining-n, 0) })
	}
	return nil
}

// end records how a task ended.
func (t *task) end(ctx context.Context, err error) {
	t.change(func(i *Task) {
		i.State, i.Ended = done, timeText(time.Now().UnixMilli())
		switch {
		case errors.Is(err, failure.ErrRejected):
			i.State, i.Reason = failed, "a queue is full and rejects moved messages; messages that were already moved stay moved"
		case err != nil && ctx.Err() == nil:
			i.State, i.Reason = failed, strings.TrimPrefix(err.Error(), "broker: ")
		case ctx.Err() != nil:
			i.State, i.Reason = stopped, "it was stopped; what was moved before stays moved"
		}
	})
}
