package worker

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
)

const (
	waitPiece    = 20 * time.Second // longer waits are split, so that a dead connection is noticed
	unblockEvery = 50 * time.Millisecond
	unblockFor   = 2 * time.Second
)

// waiters is the pool of connections for blocking takes. Each connection serves one take at a time.
type waiters struct {
	client *redis.Client

	mu    sync.Mutex
	idle  []*waiter
	ended bool
	busy  sync.WaitGroup // connections in use; grows only while ended is false
}

type waiter struct {
	conn *redis.Conn
	id   int64 // the broker's id of the connection
}

// get returns a connection, which must be returned with put. Errors: ErrClosed, and those of
// connecting.
func (w *waiters) get(ctx context.Context) (*waiter, error) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil, ErrClosed
	}
	w.busy.Add(1)
	if n := len(w.idle); n > 0 {
		got := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		return got, nil
	}
	w.mu.Unlock()
	conn := w.client.Conn()
	id, err := conn.ClientID(ctx).Result()
	if err != nil {
		conn.Close()
		w.busy.Done()
		return nil, err
	}
	return &waiter{conn, id}, nil
}

// put returns a connection for the next take, unless err shows that it is broken.
func (w *waiters) put(one *waiter, err error) {
	defer w.busy.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || err != nil && !respclient.IsReply(err) {
		one.conn.Close()
		return
	}
	w.idle = append(w.idle, one)
}

// end closes the connections. It waits for a while for connections in use, which are closed when
// they are returned.
func (w *waiters) end() {
	w.mu.Lock()
	w.ended = true
	for _, one := range w.idle {
		one.conn.Close()
	}
	w.idle = nil
	w.mu.Unlock()
	done := make(chan struct{})
	go func() { w.busy.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * unblockFor):
	}
}

// Take implements Jobs.
func (c *Client) Take(ctx context.Context, o TakeOptions) ([]Job, error) {
	args := []any{"JOB.TAKE"}
	for _, q := range o.Queues {
		args = append(args, q)
	}
	args = append(args, "COUNT", max(o.Count, 1))
	if o.Lock > 0 {
		args = append(args, "LOCK", respclient.Milliseconds(o.Lock))
	}
	if o.Wait <= 0 {
		cmd, err := c.do(ctx, args...)
		if respclient.IsNil(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return taken(cmd.Val()), nil
	}
	for end := time.Now().Add(o.Wait); ; {
		left := time.Until(end)
		jobs, err := c.wait(ctx, append(args[:len(args):len(args)], "BLOCK", respclient.Milliseconds(min(max(left, time.Millisecond), waitPiece))))
		if err != nil || len(jobs) > 0 || left <= waitPiece {
			return jobs, err
		}
	}
}

type takeReply struct {
	jobs []Job
	err  error
}

// wait sends a blocking take on a separate connection. When ctx ends or the client closes, it makes
// the broker end the wait. The reply may then still contain jobs.
func (c *Client) wait(ctx context.Context, args []any) ([]Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	one, err := c.waiters.get(ctx)
	if err != nil {
		return nil, c.failed(err)
	}
	reply := make(chan takeReply, 1)
	go func() {
		cmd := one.conn.Do(context.WithoutCancel(ctx), args...)
		reply <- takeReply{taken(cmd.Val()), cmd.Err()}
	}()
	why := ErrClosed
	select {
	case r := <-reply:
		c.waiters.put(one, r.err)
		if r.err != nil && !respclient.IsNil(r.err) {
			return nil, c.failed(r.err)
		}
		return r.jobs, nil
	case <-ctx.Done():
		why = ctx.Err()
	case <-c.closed.Done():
	}
	r, ok := c.unblock(one, reply)
	if !ok {
		go func() {
			late := <-reply
			c.giveBack(late.jobs)
			c.waiters.put(one, late.err)
		}()
		return nil, why
	}
	c.waiters.put(one, r.err)
	if len(r.jobs) > 0 {
		return r.jobs, nil
	}
	return nil, why
}

// unblock asks the broker to end a wait until the reply arrives. It repeats the request because it
// may overtake the take.
func (c *Client) unblock(one *waiter, reply chan takeReply) (takeReply, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), unblockFor)
	defer cancel()
	again := time.NewTicker(unblockEvery)
	defer again.Stop()
	for {
		_ = c.pipe.Do(ctx, redis.NewCmd(ctx, "CLIENT", "UNBLOCK", one.id))
		select {
		case r := <-reply:
			return r, true
		case <-again.C:
		case <-ctx.Done():
			return takeReply{}, false
		}
	}
}

// giveBack returns the jobs of a take that was given up.
func (c *Client) giveBack(jobs []Job) {
	for _, j := range jobs {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		_ = c.Retry(ctx, j.Lease, 0, "") // on failure it comes back when its lock expires
		cancel()
	}
}
