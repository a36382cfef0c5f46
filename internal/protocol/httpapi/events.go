package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

const (
	// maxUnsent is how many events a stream buffers for a client that does not read them. When
	// there are more, the stream ends.
	maxUnsent = 10_000
	// heartbeat is the interval of keepalives, which detect a client that is gone and keep proxies
	// from closing the connection.
	heartbeat = 15 * time.Second
	// streamPatience is the timeout of a write to a client.
	streamPatience = 30 * time.Second
)

// eventPaths serves transitions of semaphores as they happen, as Server-Sent Events.
func (a *API) eventPaths() {
	a.Open(rest.Login, "GET /api/semaphores/{vhost}/{key}/events", func(w http.ResponseWriter, r *http.Request) {
		a.stream(w, r, semaphores.WatchOptions{Key: rest.Name(r, "key"), Task: r.URL.Query().Get("task")})
	})
	// This is a path of its own, because a semaphore may be called events.
	a.Open(rest.Login, "GET /api/semaphore-events/{vhost}", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		a.stream(w, r, semaphores.WatchOptions{Key: q.Get("prefix"), Prefix: true, Task: q.Get("task")})
	})
}

// stream sends events until the client is gone, the server drains, or the client is too slow.
func (a *API) stream(w http.ResponseWriter, r *http.Request, o semaphores.WatchOptions) {
	out := &stream{w: w, wake: make(chan struct{}, 1), caller: rest.CallerOf(r.Context())}
	err := a.with(r, func(ctx context.Context, s *broker.Session) error {
		stop, err := a.semaphores.Watch(s, o, out.take)
		if err != nil {
			return err
		}
		defer stop()
		if err := a.begin(s, out, o); err != nil || r.Method == http.MethodHead {
			return err
		}
		out.run(ctx)
		return nil
	})
	if err != nil { // nothing has been sent yet
		a.Refuse(w, r, err)
	}
}

// begin sends the client the current state. It is read after the watch has begun, so that the
// client misses no later change.
func (a *API) begin(s *broker.Session, out *stream, o semaphores.WatchOptions) error {
	var opened any = struct{}{}
	var states []semaphores.State
	if !o.Prefix {
		look := semaphores.Look{Of: semaphores.Of{Key: o.Key}}
		if err := a.doIn(s, &look, &look.Err); err != nil {
			return err
		}
		opened = semjson.OfInfo(s.VHost(), &look.Info)
		if o.Task != "" {
			look := semaphores.Status{Of: semaphores.Of{Key: o.Key}, Tasks: []string{o.Task}}
			if err := a.doIn(s, &look, &look.Err); err != nil {
				return err
			}
			states = look.States
		}
	}
	h := out.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the response
	out.text = appendEvent(append(out.text, "retry: 1000\n"...), "open", 0, opened)
	for i := range states {
		out.text = appendEvent(out.text, "state", 0, semjson.OfState(o.Task, &states[i]))
	}
	return nil
}

// stream is the response to a client that watches events.
type stream struct {
	w      http.ResponseWriter
	caller *rest.Caller
	wake   chan struct{} // 1 slot: there is something to send
	text   []byte        // to be sent next

	mu      sync.Mutex
	unsent  []semaphores.Event // guarded by mu
	overrun bool               // guarded by mu: the client was too slow, and events after unsent are lost
}

// take buffers events that have happened. It must not block.
func (s *stream) take(events []semaphores.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.overrun {
		return
	}
	if room := maxUnsent - len(s.unsent); len(events) > room {
		events, s.overrun = events[:room], true
	}
	s.unsent = append(s.unsent, events...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends buffered events until the stream ends.
func (s *stream) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.caller.WhenEnding(cancel)()
	s.caller.TakesTime(0)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var events []semaphores.Event
	for s.send() {
		over := false
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			s.text = append(s.text, ":\n\n"...)
		case <-s.wake:
			events, over = s.swap(events)
			for i := range events {
				e := &events[i]
				s.text = appendEvent(s.text, e.Event.String(), e.Seq, semjson.OfEvent(e))
			}
		}
		if over {
			s.text = appendEvent(s.text, "overrun", 0, rest.Refusal{Error: "overrun", Reason: "events are missing: they were not read fast enough"})
			s.send()
			return
		}
	}
}

// swap returns the unsent events and replaces them by the empty slice. It reports whether no more
// will follow.
func (s *stream) swap(empty []semaphores.Event) (events []semaphores.Event, over bool) {
	clear(empty)
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.unsent = s.unsent, empty[:0]
	return events, s.overrun
}

// send writes the pending text and reports whether the client accepts more.
func (s *stream) send() bool {
	conn := s.caller.Conn
	_ = conn.SetWriteDeadline(time.Now().Add(streamPatience)) // only writers of tests do not support deadlines
	_, err := s.w.Write(s.text)
	if err == nil {
		err = conn.Flush()
	}
	if s.text = s.text[:0]; cap(s.text) > 64<<10 {
		s.text = nil
	}
	return err == nil
}

// appendEvent appends an event in the format of Server-Sent Events. If seq is 0, the event has no
// id.
func appendEvent(text []byte, event string, seq uint64, data any) []byte {
	body, err := json.Marshal(data)
	if err != nil {
		panic("httpapi: an event cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	text = append(append(text, "event: "...), event...)
	if seq != 0 {
		text = strconv.AppendUint(append(text, "\nid: "...), seq, 10)
	}
	text = append(append(text, "\ndata: "...), body...)
	return append(text, "\n\n"...)
}
