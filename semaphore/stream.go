package semaphore

import (
	"context"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/respclient"
)

// stream is the watches of one connection, which is made when there is one to begin and made again
// when it breaks. After that every watch is told EventMissed, once it is there again.
type stream struct {
	connect func(ctx context.Context) (*respclient.Conn, error)
	closed  context.Context // ends it

	mu      sync.Mutex
	entries map[watchName]*entry // guarded by mu
	out     [][]string           // guarded by mu: requests to be sent
	wake    chan struct{}        // out has grown; one place
	asked   []*entry             // guarded by mu: what the next answers are about, nil for what needs none
	online  bool                 // guarded by mu: out is sent
	running bool                 // guarded by mu: run is at it
	busy    sync.WaitGroup       // goroutines; grows with mu held, while closed has not ended
}

// watchName names a watch of a connection: it has one of a name. A connection watches tasks, or one
// pattern: an event is one watch's.
type watchName struct{ pattern, task string }

// entry is one watch, shared by its subscribers.
type entry struct {
	name  watchName
	all   bool          // also what is no transition
	ready chan struct{} // closed when the broker has answered, or cannot be reached
	err   error         // set before ready is closed
	told  bool          // guarded by stream.mu: ready is closed
	users []*user       // guarded by stream.mu
}

type user struct{ fn func(Event) }

const (
	beat       = 20 * time.Second // a connection on which nothing comes for longer than two of them is dead
	againFirst = 50 * time.Millisecond
	againLast  = 2 * time.Second
)

func newStream(closed context.Context, connect func(context.Context) (*respclient.Conn, error)) *stream {
	return &stream{connect: connect, closed: closed, entries: map[watchName]*entry{}, wake: make(chan struct{}, 1)}
}

// watch begins a watch and returns when the broker has confirmed it.
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

// end takes a user of a watch away; the last one ends it.
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

// ask sends a request about an entry. mu is held.
func (s *stream) ask(e *entry, words []string) {
	s.asked = append(s.asked, e)
	s.out = append(s.out, words)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run keeps the connection until the stream is closed, or it is broken and has no watchers any
// more.
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

// goOn reports whether another connection is needed. Subscribers that wait for their first one get
// the error.
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

// answer ends the wait for an entry, and with an error the entry. An entry without waiters is
// rejected for a time at most: it is requested again on the next connection. mu is held.
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

// write sends requests, and a PING now and then.
func (s *stream) write(conn *respclient.Conn, over chan struct{}) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for {
		s.mu.Lock()
		out := s.out
		s.out = nil
		s.mu.Unlock()
		if len(out) > 0 && conn.Send(out...) != nil {
			conn.Close() // read ends
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

// read hands on what comes.
func (s *stream) read(conn *respclient.Conn) {
	for {
		conn.SetReadDeadline(time.Now().Add(2 * beat)) //nolint:errcheck // reading tells
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

// answered is the answer to the first of what was asked.
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
	if e.told { // it was there before the connection broke
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
