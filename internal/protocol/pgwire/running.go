package pgwire

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// lookEvery is the interval at which the server checks that the client of a long statement is still
// connected.
const lookEvery = time.Second

// running tracks the statement that a connection runs, so that other goroutines can interrupt it.
// One context serves successive statements until it is canceled, because a context for each would
// cost more than a small statement.
type running struct {
	mu      sync.Mutex
	ctx     context.Context // guarded by mu; nil: none yet
	cancel  context.CancelFunc
	now     bool      // guarded by mu: a statement is running
	text    string    // guarded by mu: of the statement that runs, or ran last
	since   time.Time // guarded by mu: when that began
	stopped bool      // guarded by mu: none may run any more

	gone func() bool // reports whether the client has left
	look *time.Timer // guarded by mu
}

// begin returns the context of the statement that begins, with a text that others may see.
func (r *running) begin(text string) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.since = shown(text), time.Now()
	return r.resume()
}

// again returns a context for the end of the transaction of the statement that ran last.
func (r *running) again() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resume()
}

// resume returns the context of what runs from now on. The caller holds mu.
func (r *running) resume() context.Context {
	if r.ctx == nil || r.ctx.Err() != nil {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	}
	if r.stopped {
		r.cancel()
	}
	r.now = true
	if r.look == nil {
		r.look = time.AfterFunc(lookEvery, r.lookOut)
	} else {
		r.look.Reset(lookEvery)
	}
	return r.ctx
}

// lookOut cancels a statement whose client has disconnected, since its result could not be
// delivered. Such a statement may be waiting for a message, for example.
func (r *running) lookOut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.now:
	case r.gone():
		r.cancel()
	default:
		r.look.Reset(lookEvery)
	}
}

// done marks the statement as finished, so that a late cancel request has no effect.
func (r *running) done() {
	r.mu.Lock()
	r.now = false
	r.look.Stop()
	r.mu.Unlock()
}

// statement returns the text of the statement that runs, or ran last, when it began, and whether it
// runs.
func (r *running) statement() (text string, since time.Time, now bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text, r.since, r.now
}

// shown returns the part of a text that pg_stat_activity shows: as many bytes as PostgreSQL's
// track_activity_query_size allows by default.
// What is cut is copied, so that a long text is not kept.
func shown(text string) string {
	const most = 1023
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}

// interrupt cancels the running statement, if there is one. Any goroutine may call it.
func (r *running) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now {
		r.cancel()
	}
}

// stop cancels the running statement and all that would follow. Any goroutine may call it.
func (r *running) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.cancel != nil {
		r.cancel()
	}
}
