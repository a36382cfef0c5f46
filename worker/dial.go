package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
)

// Client is the jobs of a broker, over the Redis protocol. Any number of goroutines may call its
// methods concurrently. Their commands are combined in pipelines, so that many reports and enqueues
// share a round trip and a disk sync of the broker.
type Client struct {
	calls   *redis.Client
	takes   *redis.Client // for blocking takes: each has a connection
	pipe    respclient.Pipeline
	waiters waiters

	closed context.Context // canceled when Close begins
	close  context.CancelFunc
	once   sync.Once
}

const (
	callTimeout = 30 * time.Second // replies come when the data is on disk, and a disk may be busy
	maxWaiters  = 1 << 16
)

// Dial creates a Client for a broker: redis://user:password@host:port, or rediss:// with TLS. The
// path is a virtual host; no path and /0 mean the virtual host "/". For a cluster, separate the
// hosts by commas: redis://n1:6380,n2:6380,n3:6380. Dial does not connect. Connections are made on
// demand and restored after failures. If the broker cannot be reached, the calls fail.
func Dial(address string) (*Client, error) {
	o, err := respclient.Options(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the broker: %w", ErrInvalid, err)
	}
	forTakes := *o
	o.ReadTimeout = callTimeout
	forTakes.ReadTimeout = waitPiece + callTimeout
	forTakes.PoolSize = maxWaiters
	c := &Client{calls: redis.NewClient(o), takes: redis.NewClient(&forTakes)}
	c.closed, c.close = context.WithCancel(context.Background())
	c.pipe.Client = c.calls
	c.waiters.client = c.takes
	return c, nil
}

// do sends a command, in a pipeline with the commands of other callers.
func (c *Client) do(ctx context.Context, args ...any) (*redis.Cmd, error) {
	cmd := redis.NewCmd(ctx, args...)
	if err := c.pipe.Do(ctx, cmd); err != nil {
		return nil, c.failed(err)
	}
	if err := cmd.Err(); err != nil {
		return cmd, c.failed(err)
	}
	return cmd, nil
}

// Close implements Jobs.
func (c *Client) Close() error {
	c.once.Do(func() {
		c.close()
		c.waiters.end()
		c.takes.Close()
		c.calls.Close()
	})
	return nil
}

// Enqueue implements Jobs.
func (c *Client) Enqueue(ctx context.Context, queue string, body []byte, o EnqueueOptions) (Enqueued, error) {
	cmd, err := c.do(ctx, enqueueArgs(queue, body, o)...)
	if err != nil {
		return Enqueued{}, err
	}
	return enqueued(cmd)
}

// EnqueueAll implements Jobs.
func (c *Client) EnqueueAll(ctx context.Context, requests []EnqueueRequest) ([]EnqueueResult, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	cmds := make([]*redis.Cmd, len(requests))
	for i, r := range requests {
		cmds[i] = redis.NewCmd(ctx, enqueueArgs(r.Queue, r.Body, r.EnqueueOptions)...)
	}
	if err := c.pipe.Do(ctx, cmds...); err != nil {
		return nil, c.failed(err)
	}
	results := make([]EnqueueResult, len(requests))
	for i, cmd := range cmds {
		err := cmd.Err()
		if err != nil && !respclient.IsReply(err) {
			return nil, c.failed(err)
		}
		if err != nil {
			results[i].Err = c.failed(err)
			continue
		}
		results[i].Enqueued, results[i].Err = enqueued(cmd)
	}
	return results, nil
}

func enqueueArgs(queue string, body []byte, o EnqueueOptions) []any {
	args := []any{"JOB.ENQUEUE", queue, body}
	add := func(when bool, words ...any) {
		if when {
			args = append(args, words...)
		}
	}
	add(o.MID != "", "ID", o.MID)
	add(o.Backoff > 0, "BACKOFF", respclient.Milliseconds(o.Backoff))
	add(o.Lock > 0, "LOCK", respclient.Milliseconds(o.Lock))
	add(o.Update, "UPDATE")
	add(o.Requeue, "REQUEUE")
	add(o.ResetDelay, "RESETBACKOFF")
	add(o.Priority > 0, "PRIORITY", o.Priority)
	add(o.Expire > 0, "EXPIRE", respclient.Milliseconds(o.Expire))
	add(len(o.Headers) > 0, "HEADERS")
	for k, v := range o.Headers {
		args = append(args, k, v)
	}
	return args
}

// report sends a report on a lease.
func (c *Client) report(ctx context.Context, command string, l Lease, more ...any) error {
	_, err := c.do(ctx, append([]any{command, l.Queue, l.MID, l.Token}, more...)...)
	return err
}

// Done implements Jobs.
func (c *Client) Done(ctx context.Context, l Lease, remember time.Duration) error {
	if remember > 0 {
		return c.report(ctx, "JOB.DONE", l, "BACKOFF", respclient.Milliseconds(remember))
	}
	return c.report(ctx, "JOB.DONE", l)
}

// Retry implements Jobs.
func (c *Client) Retry(ctx context.Context, l Lease, after time.Duration, text string) error {
	var options []any
	if after > 0 {
		options = append(options, "BACKOFF", respclient.Milliseconds(after))
	}
	if text != "" {
		options = append(options, "ERROR", text)
	}
	return c.report(ctx, "JOB.RETRY", l, options...)
}

// Fail implements Jobs.
func (c *Client) Fail(ctx context.Context, l Lease, text string) error {
	return c.report(ctx, "JOB.FAIL", l, "ERROR", text)
}

// Extend implements Jobs.
func (c *Client) Extend(ctx context.Context, l Lease, lock time.Duration) error {
	return c.report(ctx, "JOB.EXTEND", l, respclient.Milliseconds(lock))
}

// Status implements Jobs.
func (c *Client) Status(ctx context.Context, queue, mid string) (JobStatus, error) {
	cmd, err := c.do(ctx, "JOB.STATUS", queue, mid, "DETAIL")
	if respclient.IsNil(err) {
		return JobStatus{}, nil
	}
	if err != nil {
		return JobStatus{}, err
	}
	return jobStatus(respclient.FieldsOf(cmd.Val())), nil
}

// QueueStatus implements Jobs.
func (c *Client) QueueStatus(ctx context.Context, queue string) (QueueStatus, error) {
	cmd, err := c.do(ctx, "QUEUE.STATUS", queue)
	if respclient.IsNil(err) {
		return QueueStatus{}, nil
	}
	if err != nil {
		return QueueStatus{}, err
	}
	f := respclient.FieldsOf(cmd.Val())
	count := func(name string) int { return int(f.Number(name)) }
	return QueueStatus{
		Queued: count("nqueued"), Locked: count("nlocked"), Backoff: count("nbackoff") + count("ndonebackoff"), Total: count("ntotal"),
	}, nil
}

// Content implements Jobs.
func (c *Client) Content(ctx context.Context, queue, cursor string, count int) (entries []Entry, next string, err error) {
	if cursor == "" {
		cursor = "0"
	}
	cmd, err := c.do(ctx, "QUEUE.CONTENT", queue, "CURSOR", cursor, "COUNT", max(count, 1))
	if err != nil {
		return nil, "", err
	}
	page, ok := cmd.Val().([]any)
	if !ok || len(page) != 2 {
		return nil, "", fmt.Errorf("%w to QUEUE.CONTENT: %v", errReply, cmd.Val())
	}
	list, _ := page[1].([]any)
	for _, v := range list {
		f := respclient.FieldsOf(v)
		entries = append(entries, Entry{f.Text("mid"), jobStatus(f)})
	}
	if next = respclient.Text(page[0]); next == "0" {
		next = ""
	}
	return entries, next, nil
}

// Names implements Jobs.
func (c *Client) Names(ctx context.Context) ([]string, error) {
	cmd, err := c.do(ctx, "QUEUE.NAMES")
	if err != nil {
		return nil, err
	}
	return cmd.StringSlice()
}

// Clear implements Jobs.
func (c *Client) Clear(ctx context.Context, queues ...string) error {
	if len(queues) == 0 {
		return nil
	}
	args := []any{"QUEUE.CLEAR"}
	for _, q := range queues {
		args = append(args, q)
	}
	_, err := c.do(ctx, args...)
	return err
}
