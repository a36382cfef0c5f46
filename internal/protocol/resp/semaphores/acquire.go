package semaphores

import (
	"context"
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// acquiring is a request that enqueues a task and waits until it runs.
type acquiring struct {
	onSemaphore
	semaphores.Enqueue
	limit time.Duration // of the wait; 0: no limit
	state semaphores.State
	err   error // of the wait
}

// semAcquire implements SEM.ACQUIRE key task priority [LEASE ms] [TIMEOUT ms].
func semAcquire(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &acquiring{}, command.Words{Rest: args[2:]}
	r.Key = string(args[1])
	e := semaphores.Entry{Task: string(w.Next()), Priority: priority(&w)}
	for w.More() {
		switch w.Keyword() {
		case "LEASE":
			e.Lease = w.MS()
		case "TIMEOUT":
			r.limit = time.Duration(w.MS()) * time.Millisecond
		default:
			w.Unknown()
		}
	}
	r.Entries = []semaphores.Entry{e}
	return r, w.Err
}

func (r *acquiring) Changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Enqueue)
}

func (r *acquiring) Timeout() time.Duration { return r.limit }

// Satisfied implements command.SemaphoreBlocker. It also stores the state that came with the
// changes.
func (r *acquiring) Satisfied() bool {
	if r.Err == nil && !r.state.Found && len(r.States) > 0 {
		r.state = r.States[0]
	}
	return r.Err != nil || r.err != nil || runs(&r.state)
}

func runs(s *semaphores.State) bool { return s.Found && s.Status != semaphore.Wait }

func (r *acquiring) Await(ctx context.Context, c command.Conn) error {
	s, err := c.Semaphores().AwaitEnqueued(ctx, c.Session(), r.Key, r.Entries[0].Task)
	switch {
	case err == nil:
		r.state = s
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)):
		r.err = err
	}
	return nil
}

func (r *acquiring) Reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		command.Fail(w, r.Err)
	case r.err != nil:
		command.Fail(w, r.err)
	case r.Satisfied():
		w.BulkString(r.state.Status.String())
	default:
		w.Null()
	}
}
