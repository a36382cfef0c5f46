package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/semaphores"
)

// crowded returns a node with a semaphore k of capacity 1, held by task a; task b waits.
func crowded(t *testing.T, so ServerOptions) *node {
	t.Helper()
	return crowd(t, serve, so)
}

// crowdedInBubble is crowded in a synctest bubble.
func crowdedInBubble(t *testing.T, so ServerOptions) *node {
	t.Helper()
	return crowd(t, serveInBubble, so)
}

type server func(t *testing.T, b *broker.Broker, o Options, so ServerOptions) *node

func crowd(t *testing.T, serve server, so ServerOptions) *node {
	t.Helper()
	b, m := openSemaphores(t)
	addUsers(t, b, "reader")
	if _, err := b.SetPermission(catalog.Permission{User: "reader", VHost: "/", Read: ".*", Write: ".*"}); err != nil {
		t.Fatal(err)
	}
	n := serve(t, b, Options{Semaphores: m}, so)
	n.must(t, "PUT", "", `{"active":1,"try_release":1}`)
	n.must(t, "PUT", "/tasks/a", `{"priority":5}`)
	n.must(t, "PUT", "/tasks/b", `{"priority":1}`)
	return n
}

const k = "/api/semaphores/%2F/k"

// must sends a request about k as guest and requires success.
func (n *node) must(t *testing.T, method, path, body string) string {
	t.Helper()
	code, got := resttest.Request(t, n.api, method+" "+k+path+" "+body)
	if code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, got)
	}
	return got
}

// later is a pending answer.
type later struct {
	code int
	text string
}

// start sends a request as user reader and returns a channel for its answer.
func (n *node) start(t *testing.T, method, path, body string) <-chan later {
	got := make(chan later, 1)
	go func() {
		w := n.request(t, method, k+path, "reader:reader", body)
		text, _ := io.ReadAll(w.Body)
		got <- later{w.StatusCode, string(text)}
	}()
	return got
}

func (l later) check(t *testing.T, code int, want string) {
	t.Helper()
	if l.code != code || !strings.Contains(l.text, want) {
		t.Errorf("%d %s, want %d with %s", l.code, l.text, code, want)
	}
}

// untilThere waits until a task is enqueued.
func (n *node) untilThere(t *testing.T, task string) {
	t.Helper()
	for t.Context().Err() == nil {
		if code, _ := resttest.Request(t, n.api, "GET "+k+"/tasks/"+task+" "+""); code == http.StatusOK {
			return
		}
	}
}

func TestWait(t *testing.T) {
	n := crowded(t, ServerOptions{})
	put := n.start(t, "PUT", "/tasks/c?wait=5m", `{"priority":2}`)
	n.untilThere(t, "c")
	get := n.start(t, "GET", "/tasks/b?wait=300", "")
	n.must(t, "DELETE", "/tasks/a", "")
	(<-put).check(t, 201, `{"task":"c","status":"ACQUIRED","priority":2,"position":1,`)
	n.must(t, "DELETE", "/tasks/c", "")
	(<-get).check(t, 200, `{"task":"b","status":"ACQUIRED","priority":1,"position":1,`)
	(<-n.start(t, "GET", "/tasks/b?wait=5m", "")).check(t, 200, `"status":"ACQUIRED"`) // already
	(<-n.start(t, "GET", "/tasks/none?wait=5m", "")).check(t, 404, "no such task")
}

// When the time is over, the answer shows the current state, even if the wait was longer than the
// timeout for reading a request.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := crowdedInBubble(t, ServerOptions{Patience: time.Second})
		(<-n.start(t, "GET", "/tasks/b?wait=1m", "")).check(t, 200, `"status":"WAIT"`)
		(<-n.start(t, "PUT", "/tasks/b?wait=1m", `{"priority":2}`)).check(t, 200, `"status":"WAIT","priority":2`)
	})
}

func TestWaitForWhatGoes(t *testing.T) {
	n := crowded(t, ServerOptions{})
	wait := n.start(t, "PUT", "/tasks/c?wait=5m", `{"priority":2}`)
	n.untilThere(t, "c")
	n.must(t, "DELETE", "/tasks/c", "")
	(<-wait).check(t, 404, "not_found")
	wait = n.start(t, "PUT", "/tasks/d?wait=5m", `{"priority":2}`)
	n.untilThere(t, "d")
	n.must(t, "DELETE", "", "")
	(<-wait).check(t, 404, "not_found")
}

func TestWaitEndsWithTheUser(t *testing.T) {
	n := crowded(t, ServerOptions{})
	wait := n.start(t, "PUT", "/tasks/c?wait=5m", `{"priority":2}`)
	n.untilThere(t, "c")
	if err := n.api.Broker.DeleteUser("reader"); err != nil {
		t.Fatal(err)
	}
	(<-wait).check(t, 401, "the user was deleted")
}

func TestWaitEndsWithTheServer(t *testing.T) {
	n := crowded(t, ServerOptions{})
	wait := n.start(t, "PUT", "/tasks/c?wait=5m", `{"priority":2}`)
	n.untilThere(t, "c")
	if err := n.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	(<-wait).check(t, 201, `"status":"WAIT"`)
}

// No handler waits for a client that has disconnected, and its task stays enqueued.
func TestWaitingClientLeaves(t *testing.T) {
	n := crowded(t, ServerOptions{})
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		r := httptest.NewRequestWithContext(ctx, "PUT", k+"/tasks/c?wait=5m", strings.NewReader(`{"priority":2}`))
		n.api.ServeHTTP(httptest.NewRecorder(), r)
		close(over)
	}()
	n.untilThere(t, "c")
	leave()
	<-over
	if got := n.must(t, "GET", "/tasks/c", ""); !strings.Contains(got, `"status":"WAIT"`) {
		t.Errorf("%s", got)
	}
}

// follow opens a stream of events and returns a function that reads the next event, or "" at the
// end.
func (n *node) follow(t *testing.T, path string) (next func() string) {
	t.Helper()
	w := n.request(t, "GET", path, "reader:reader", "")
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", w.StatusCode, textOf(t, w))
	}
	lines := bufio.NewScanner(w.Body)
	return func() string {
		var parts []string
		for lines.Scan() {
			if lines.Text() == "" {
				return strings.Join(parts, "|")
			}
			parts = append(parts, lines.Text())
		}
		return ""
	}
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = time.Second
		n := crowdedInBubble(t, ServerOptions{Patience: patience})
		next := n.follow(t, k+"/events")
		of := n.follow(t, k+"/events?task=b")
		all := n.follow(t, "/api/semaphore-events/%2F?prefix=k")
		none := n.follow(t, "/api/semaphore-events/%2F?prefix=x")
		expect := func(next func() string, want string) {
			t.Helper()
			if got := next(); !strings.Contains(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
		expect(next, `retry: 1000|event: open|data: {"vhost":"/","key":"k","active":1,"try_release":1,`)
		expect(of, "event: open|")
		expect(of, `event: state|data: {"task":"b","status":"WAIT"`)
		expect(all, "event: open|data: {}")
		expect(none, "event: open|data: {}")
		time.Sleep(2 * patience) // longer than the timeout for reading a request
		n.must(t, "PUT", "/tasks/b", `{"priority":9}`)
		n.must(t, "PUT", "/tasks/b", `{"priority":1}`)
		n.must(t, "DELETE", "/tasks/a", "")
		for _, next := range []func() string{next, all} {
			expect(next, `event: TryRelease|id: 2|data: {"key":"k","task":"a","event":"TryRelease","status":"TRY_RELEASE","priority":5,"seq":2,"time":"20`)
			expect(next, `event: Retained|id: 3|`)
			expect(next, `event: Acquired|id: 4|data: {"key":"k","task":"b","event":"Acquired","status":"ACQUIRED","priority":1,"seq":4,"time":"20`)
		}
		expect(of, "event: Acquired|id: 4|")
		n.must(t, "DELETE", "", "")
		expect(next, `event: Deleted|id: 5|data: {"key":"k","task":"b","event":"Deleted","status":""`)
		if err := n.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if got := none(); got != "" {
			t.Errorf("no event, and got %s", got)
		}
		if code, got := resttest.Request(t, n.api, "HEAD "+"/api/semaphore-events/%2F"+" "+""); code != 200 || got != "" {
			t.Errorf("%d %s", code, got)
		}
		if code, got := resttest.Request(t, n.api, "GET "+"/api/semaphores/%2F/none/events"+" "+""); code != 404 {
			t.Errorf("%d %s", code, got)
		}
	})
}

// A stream ends when its user is deleted.
func TestEventsEndWithTheUser(t *testing.T) {
	n := crowded(t, ServerOptions{})
	next := n.follow(t, k+"/events")
	next()
	if err := n.api.Broker.DeleteUser("reader"); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "" {
		t.Errorf("%s", got)
	}
}

// stuck is a client that does not read until the test lets it.
type stuck struct {
	*httptest.ResponseRecorder
	release chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.release
	return s.ResponseRecorder.Write(b)
}

// A client that does not read is told where events are missing, and uses bounded memory.
func TestSlowReaderOfEvents(t *testing.T) {
	for _, extra := range []int{0, 1} {
		w := &stuck{httptest.NewRecorder(), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		s := &stream{w: w, wake: make(chan struct{}, 1), caller: &rest.Caller{Conn: http.NewResponseController(w)}}
		over := make(chan struct{})
		go func() { s.run(ctx); close(over) }()
		for i := range maxUnsent + extra {
			s.take([]semaphores.Event{{Event: semaphore.EventAcquired, Seq: uint64(i + 1)}})
		}
		close(w.release)
		if extra == 0 {
			for s.left() > 0 {
				runtime.Gosched()
			}
			cancel()
		}
		<-over
		cancel()
		text := w.Body.String()
		if got := strings.Contains(text, "event: overrun\n"); got != (extra > 0) {
			t.Errorf("%d too many: told of it %v", extra, got)
		}
		if extra > 0 && (!strings.Contains(text, fmt.Sprintf("id: %d\n", maxUnsent)) || strings.Contains(text, fmt.Sprintf("id: %d\n", maxUnsent+1))) {
			t.Error("other events are missing than those at the end")
		}
	}
}

func (s *stream) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unsent)
}
