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
	// maxUnsent is how many events a stream holds for a client that does not read them; then it
	// ends.
	maxUnsent = 10_000
	// heartbeat is how often a stream says something, so that a client that is gone is found, and
	// proxies keep the connection.
	heartbeat = 15 * time.Second
	// streamPatience is how long a client may take for what is sent at once.
	streamPatience = 30 * time.Second
)

// eventPaths serves transitions as they happen, as Server-Sent Events.
func (a *API) eventPaths() {
	a.Open(rest.Login, "GET /api/semaphores/{vhost}/{key}/events", func(w http.ResponseWriter, r *http.Request) {
		a.stream(w, r, semaphores.WatchOptions{Key: rest.Name(r, "key"), Task: r.URL.Query().Get("task")})
	})
	// A path of its own, for a semaphore may be called events.
	a.Open(rest.Login, "GET /api/semaphore-events/{vhost}", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		a.stream(w, r, semaphores.WatchOptions{Key: q.Get("prefix"), Prefix: true, Task: q.Get("task")})
	})
}

// stream answers with events until the client is gone, the server drains, or the client is too
// slow.
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
	if err != nil { // nothing was sent yet
		a.Refuse(w, r, err)
	}
}

// begin tells the client how things stood when the watch was already on: nothing that happens after
// it is missed.
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
	h.Set("X-Accel-Buffering", "no") // nginx sends on what comes, then
	out.text = appendEvent(append(out.text, "retry: 1000\n"...), "open", 0, opened)
	for i := range states {
		out.text = appendEvent(out.text, "state", 0, semjson.OfState(o.Task, &states[i]))
	}
	return nil
}

// stream is the answer to one client that follows events.
type stream struct {
	w      http.ResponseWriter
	caller *rest.Caller
	wake   chan struct{} // 1 slot: something is there to be sent
	text   []byte        // to be sent next

	mu      sync.Mutex
	unsent  []semaphores.Event // guarded by mu
	overrun bool               // guarded by mu: the client was too slow, and an event is missing behind unsent
}

// take is called with what has happened. It must not block.
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

// run sends what is taken, until the stream is over.
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

// swap takes what is unsent, for an empty slice, and reports whether that is all there will be.
func (s *stream) swap(empty []semaphores.Event) (events []semaphores.Event, over bool) {
	clear(empty)
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.unsent = s.unsent, empty[:0]
	return events, s.overrun
}

// send writes the text that is there and reports whether the client takes more.
func (s *stream) send() bool {
	conn := s.caller.Conn
	_ = conn.SetWriteDeadline(time.Now().Add(streamPatience)) // writers that know no deadlines are those of tests
	_, err := s.w.Write(s.text)
	if err == nil {
		err = conn.Flush()
	}
	if s.text = s.text[:0]; cap(s.text) > 64<<10 {
		s.text = nil
	}
	return err == nil
}

// appendEvent appends an event as the client gets it; 0 is no number.
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
