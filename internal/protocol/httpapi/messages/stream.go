package messages

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

const (
	defaultPrefetch = 10
	// heartbeat is the interval of keepalives, which detect a client that is gone and keep proxies
	// from closing the connection.
	heartbeat = 15 * time.Second
	// streamPatience is the timeout of a write to a client.
	streamPatience = 30 * time.Second
)

// streams maps each unsettled message to the stream that sent it, because a client acknowledges by
// a separate request.
type streams struct {
	mu   sync.Mutex
	sent map[string]*stream // guarded by mu; by token
}

func newStreams() *streams { return &streams{sent: map[string]*stream{}} }

// settled frees a slot in the stream that sent a message.
func (ss *streams) settled(token string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.sent[token]; s != nil {
		ss.forget(s, token)
	}
}

// forget is settled for callers that hold mu.
func (ss *streams) forget(s *stream, token string) {
	delete(ss.sent, token)
	delete(s.out, token)
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// extended changes the end of a lease.
func (ss *streams) extended(token string, until time.Time) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.sent[token]; s != nil {
		s.out[token] = until
	}
}

// stream is the response to a client that gets messages as they arrive.
type stream struct {
	of       *streams
	w        http.ResponseWriter
	caller   *rest.Caller
	prefetch int
	lease    time.Duration
	room     chan struct{} // 1 slot: a message was settled

	out map[string]time.Time // guarded by of.mu: unsettled messages by token, and when their leases end
}

// stream sends messages with the tokens of their leases as Server-Sent Events. At most prefetch
// messages are unsettled.
func (a *api) stream(w http.ResponseWriter, r *http.Request) {
	s := &stream{of: a.streams, w: w, caller: rest.CallerOf(r.Context()), room: make(chan struct{}, 1), out: map[string]time.Time{}}
	var err error
	if s.prefetch, err = rest.Number(r, "prefetch", defaultPrefetch, mostTaken); err == nil {
		s.lease, err = leaseOf(r)
	}
	if err == nil {
		err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, session *broker.Session) error {
			return s.run(ctx, session, rest.Name(r, "queue"), r.Method == http.MethodHead)
		})
	}
	if err != nil { // nothing has been sent yet
		a.Refuse(w, r, err)
	}
}

// run sends until the client is gone or the server drains. It returns an error only if nothing has
// been sent.
func (s *stream) run(ctx context.Context, session *broker.Session, queueName string, head bool) error {
	look := jobs.Counts{OnQueue: broker.OnQueue{Queue: queueName}}
	if err := session.Do(&look); err != nil || look.Err != nil {
		return errors.Join(err, look.Err)
	}
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the response
	if head {
		return nil
	}
	defer s.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.caller.WhenEnding(cancel)()
	s.caller.TakesTime(0)
	if !s.send([]byte("retry: 1000\n\n")) {
		return nil
	}
	take := &jobs.Take{OnQueue: broker.OnQueue{Queue: queueName}, Lock: s.lease.Milliseconds(), Plain: true}
	for ctx.Err() == nil && s.next(ctx, session, take) {
	}
	return nil
}

// next sends the next messages, or a keepalive. It returns false if the stream must end.
func (s *stream) next(ctx context.Context, session *broker.Session, take *jobs.Take) bool {
	wait, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	free, soonest := s.free()
	if free == 0 {
		return s.awaitRoom(wait, soonest)
	}
	take.Max, take.Jobs = free, nil
	if _, err := session.Await(wait, take); err != nil || take.Err != nil {
		return false
	}
	if len(take.Jobs) == 0 {
		return ctx.Err() == nil && s.send([]byte(":\n\n"))
	}
	var text []byte
	for i := range take.Jobs {
		m := taken(&take.Jobs[i])
		s.note(m.Token, time.Now().Add(time.Duration(take.Jobs[i].Lock)*time.Millisecond))
		text = appendEvent(text, &m)
	}
	if s.send(text) {
		return true
	}
	giveBack(session, take) // the client may have received some of them; its acks will fail as too late
	return false
}

// awaitRoom waits until a message is settled or its lease ends.
func (s *stream) awaitRoom(ctx context.Context, soonest time.Time) bool {
	over := time.NewTimer(time.Until(soonest))
	defer over.Stop()
	select {
	case <-s.room:
		return true
	case <-over.C:
		return true
	case <-ctx.Done():
		return s.send([]byte(":\n\n"))
	}
}

// free returns how many messages may be sent now and, if none, when the first lease ends.
func (s *stream) free() (n int, soonest time.Time) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	now := time.Now()
	for token, until := range s.out {
		if !until.After(now) {
			s.of.forget(s, token)
		} else if soonest.IsZero() || until.Before(soonest) {
			soonest = until
		}
	}
	return max(s.prefetch-len(s.out), 0), soonest
}

func (s *stream) note(token string, until time.Time) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.sent[token], s.out[token] = s, until
}

// leave removes the stream. Its messages stay leased, because the client may settle them over
// another connection.
func (s *stream) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	for token := range s.out {
		delete(s.of.sent, token)
	}
}

// send writes text and reports whether the client accepts more.
func (s *stream) send(text []byte) bool {
	_ = s.caller.Conn.SetWriteDeadline(time.Now().Add(streamPatience)) // only writers of tests do not support deadlines
	_, err := s.w.Write(text)
	if err == nil {
		err = s.caller.Conn.Flush()
	}
	return err == nil
}

func appendEvent(text []byte, m *Message) []byte {
	body, err := json.Marshal(m)
	if err != nil {
		panic("messages: an event cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	text = append(text, "event: message\ndata: "...)
	return append(append(text, body...), "\n\n"...)
}
