package resp

import (
	"context"
	"errors"
	"time"

	"fiveways/internal/core/semaphore"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// acquiring puts a task in line, and waits until it runs.
type acquiring struct {
	onSemaphore
	semaphores.Enqueue
	limit time.Duration // of the wait; 0: none
	state semaphores.State
	err   error // of the wait
}

// semAcquire is SEM.ACQUIRE key task priority [LEASE ms] [TIMEOUT ms].
func semAcquire(_ *conn, args [][]byte) (request, error) {
	r, w := &acquiring{}, words{args: args[2:]}
	r.Key = string(args[1])
	e := semaphores.Entry{Task: string(w.next()), Priority: w.priority()}
	for w.more() {
		switch w.keyword() {
		case "LEASE":
			e.Lease = w.ms()
		case "TIMEOUT":
			r.limit = time.Duration(w.ms()) * time.Millisecond
		default:
			w.unknown()
		}
	}
	r.Entries = []semaphores.Entry{e}
	return r, w.err
}

func (r *acquiring) changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Enqueue)
}

func (r *acquiring) timeout() time.Duration { return r.limit }

// satisfied also takes what came with the changes.
func (r *acquiring) satisfied() bool {
	if r.Err == nil && !r.state.Found && len(r.States) > 0 {
		r.state = r.States[0]
	}
	return r.Err != nil || r.err != nil || runs(&r.state)
}

func runs(s *semaphores.State) bool { return s.Found && s.Status != semaphore.Wait }

func (r *acquiring) await(ctx context.Context, c *conn) error {
	s, err := c.srv.o.Semaphores.Await(ctx, c.session, r.Key, r.Entries[0].Task)
	switch {
	case err == nil:
		r.state = s
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)):
		r.err = err
	}
	return nil
}

func (r *acquiring) reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		replyWith(w, r.Err)
	case r.err != nil:
		replyWith(w, r.err)
	case r.satisfied():
		w.BulkString(r.state.Status.String())
	default:
		w.Null()
	}
}
