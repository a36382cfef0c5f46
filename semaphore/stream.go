package semaphore

import (
	"context"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/respclient"
)

// stream holds the watches of one connection, which is established for the first watch and
// re-established when it breaks. After that every watch gets EventMissed, once it is confirmed
// again.
type stream struct {
	connect func(ctx context.Context) (*respclient.Conn, error)
	closed  context.Context // ends the stream

	mu      sync.Mutex
	entries map[watchName]*entry // guarded by mu
	out     [][]string           // guarded by mu: requests to send
	wake    chan struct{}        // capacity 1: out has grown
	asked   []*entry             // guarded by mu: entries of the next answers; nil if not needed
	online  bool                 // guarded by mu: out is being sent
	running bool                 // guarded by mu: run is running
	busy    sync.WaitGroup       // goroutines; incremented with mu held, unless closed has ended
}

// watchName identifies a watch of a connection. A connection watches either tasks or a single
// pattern, so each event belongs to one watch.
type watchName struct{ pattern, task string }

// entry is one watch, shared by its subscribers.
type entry struct {
	name  watchName
	all   bool          // also events that are not transitions
	ready chan struct{} // closed when the broker has answered or cannot be reached
	err   error         // set before ready is closed
	told  bool          // guarded by stream.mu: ready is closed
	users []*user       // guarded by stream.mu
}

type user struct{ fn func(Event) }

const (
	beat       = 20 * time.Second // a connection without input for two beats is dead
	againFirst = 50 * time.Millisecond
	againLast  = 2 * time.Second
)

func newStream(closed context.Context, connect func(context.Context) (*respclient.Conn, error)) *stream {
	return &stream{connect: connect, closed: closed, entries: map[watchName]*entry{}, wake: make(chan struct{}, 1)}
}

// watch starts a watch and returns when the broker has confirmed it.
func (s *stream) watch(ctx context.Context, n watchName, all bool, fn func(Event)) (stop func(), err error) {
	u := &user{fn}
	s.mu.Lock()
	if s.closed.Err() != nil {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	e := s.entries[n]
	if e == nil {
		e = &entry{name: n, all: all, ready: make(chan struct{})}
		s.entries[n] = e
		if s.online {
			s.ask(e, e.request("SEM.WATCH"))
		}
	}
	e.users = append(e.users, u)
	if !s.running {
		s.running = true
		s.busy.Go(s.run)
	}
	s.mu.Unlock()
	select {
	case <-e.ready:
		err = e.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.end(e, u)
		return nil, err
	}
	return func() { s.end(e, u) }, nil
}

// end removes a user of a watch. The last one ends the watch.
func (s *stream) end(e *entry, u *user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.users = slices.DeleteFunc(e.users, func(one *user) bool { return one == u })
	if len(e.users) > 0 || s.entries[e.name] != e {
		return
	}
	delete(s.entries, e.name)
	if s.online {
		s.ask(nil, e.request("SEM.UNWATCH"))
	}
}

func (e *entry) request(command string) []string {
	words := []string{command, e.name.pattern}
	if e.name.task != "" {
		words = append(words, "TASK", e.name.task)
	}
	if e.all && command == "SEM.WATCH" {
		words = append(words, "ALL")
	}
	return words
}

// ask queues a request for an entry. The caller holds mu.
func (s *stream) ask(e *entry, words []string) {
	s.asked = append(s.asked, e)
	s.out = append(s.out, words)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run maintains the connection until the stream is closed, or until the connection breaks and there
// are no watches.
func (s *stream) run() {
	for pause := againFirst; ; pause = min(2*pause, againLast) {
		conn, err := s.connect(s.closed)
		if err == nil {
			pause = againFirst
			s.serve(conn)
		}
		if !s.goOn(err) {
			return
		}
		select {
		case <-time.After(pause):
		case <-s.closed.Done():
		}
	}
}

// goOn reports whether another connection is needed. If connecting has failed, subscribers that
// still wait for their first answer get the error.
func (s *stream) goOn(failed error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.closed.Err() != nil
	for _, e := range s.entries {
		switch {
		case closed:
			s.answer(e, ErrClosed)
		case failed != nil && !e.told:
			s.answer(e, meaning(failed))
		}
	}
	s.running = !closed && len(s.entries) > 0
	return s.running
}

// answer ends the wait for an entry; with an error it also removes the entry. An entry without
// waiters stays even if it is refused: it is requested again on the next connection. The caller
// holds mu.
func (s *stream) answer(e *entry, err error) {
	if e.told {
		return
	}
	e.told, e.err = true, err
	close(e.ready)
	if err != nil && s.entries[e.name] == e {
		delete(s.entries, e.name)
	}
}

// serve uses a connection until it breaks.
func (s *stream) serve(conn *respclient.Conn) {
	defer context.AfterFunc(s.closed, func() { conn.Close() })()
	defer conn.Close()
	s.mu.Lock()
	s.online, s.out, s.asked = true, nil, nil
	for _, e := range s.entries {
		s.ask(e, e.request("SEM.WATCH"))
	}
	s.mu.Unlock()
	over := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { s.write(conn, over) })
	s.read(conn)
	s.mu.Lock()
	s.online = false
	s.mu.Unlock()
	close(over)
	conn.Close()
	writer.Wait()
}

// write sends requests, and a PING at each beat.
func (s *stream) write(conn *respclient.Conn, over chan struct{}) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for {
		s.mu.Lock()
		out := s.out
		s.out = nil
		s.mu.Unlock()
		if len(out) > 0 && conn.Send(out...) != nil {
			conn.Close() // this ends read
			return
		}
		select {
		case <-s.wake:
		case <-beats.C:
			s.mu.Lock()
			s.ask(nil, []string{"PING"})
			s.mu.Unlock()
		case <-over:
			return
		}
	}
}

// read handles everything that the broker sends.
func (s *stream) read(conn *respclient.Conn) {
	for {
		conn.SetReadDeadline(time.Now().Add(2 * beat)) //nolint:errcheck // Receive fails
		got, err := conn.Receive()
		if err != nil {
			return
		}
		if p, ok := got.(respclient.Push); ok && len(p) == 4 && p[0] == "sem.event" {
			s.tell(respclient.Text(p[1]), respclient.Text(p[2]), respclient.FieldsOf(p[3]))
			continue
		}
		refused, _ := got.(respclient.Refusal)
		s.answered(refused)
	}
}

// answered handles the answer to the oldest outstanding request.
func (s *stream) answered(refused respclient.Refusal) {
	s.mu.Lock()
	if len(s.asked) == 0 {
		s.mu.Unlock()
		return
	}
	e := s.asked[0]
	s.asked = s.asked[1:]
	if e == nil {
		s.mu.Unlock()
		return
	}
	var again []*user
	if e.told { // it was confirmed on an earlier connection
		again = slices.Clone(e.users)
	}
	var err error
	if refused != "" {
		err = meaning(refused)
	}
	s.answer(e, err)
	s.mu.Unlock()
	for _, u := range again {
		u.fn(Event{Kind: EventMissed})
	}
}

// tell passes an event to the watchers.
func (s *stream) tell(pattern, key string, f respclient.Fields) {
	e := Event{
		Kind: Kind(f.Text("event")), Key: key, Task: f.Text("task"), Status: Status(f.Text("status")), Priority: f.Float("priority"),
		Seq: uint64(f.Number("seq")),
	}
	s.mu.Lock()
	var users []*user
	for _, task := range []string{"", e.Task} {
		if w := s.entries[watchName{pattern, task}]; w != nil {
			users = slices.Clone(w.users)
		}
	}
	s.mu.Unlock()
	for _, u := range users {
		u.fn(e)
	}
}
