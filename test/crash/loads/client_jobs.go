package loads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/crash/history"
)

const jobQueue, deadJobs = "crash.jobs", "crash.jobs.dead"

// jobClient is a program that works with jobs. It exists for all rounds.
type jobClient struct {
	history *history.Jobs
	rng     *rand.Rand
	pace    *pace // of enqueuing
	worker  int   // from 1; 0 means that it enqueues
	redis   *redis.Client
	seq     int
	known   *rememberedIDs
	tokens  map[int64]string // the text of tokens by their number
}

// rememberedIDs is state that the clients share: the number of jobs left, and the ids that the
// broker was asked to remember.
type rememberedIDs struct {
	mu   sync.Mutex
	ids  []history.JobEvent // JobDone, answered
	left atomic.Int64       // approximate number of unfinished jobs
}

// jobsAhead is the approximate limit of unfinished jobs. Without it, most of a run would be
// enqueuing.
const jobsAhead = 100

func (r *rememberedIDs) add(e history.JobEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, e)
}

func (r *rememberedIDs) pick(rng *rand.Rand) (history.JobEvent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) == 0 {
		return history.JobEvent{}, false
	}
	return r.ids[rng.IntN(len(r.ids))], true
}

func init() { redis.SetLogger(silent{}) } // it logs every connection that a kill breaks

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func now() int64 { return time.Now().UnixMilli() }

// newRedis returns a client with one connection. It does not retry, so that a command whose outcome
// is unknown is never repeated.
func newRedis(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ReadTimeout: patience})
}

// diskFull reports whether a command was refused because the disk is full.
func diskFull(err error) bool {
	var refused redis.Error
	return errors.As(err, &refused) && strings.HasPrefix(refused.Error(), "MISCONF ") && strings.HasSuffix(refused.Error(), "No space left on device")
}

// connect creates the client's connection.
func (c *jobClient) connect(addr string) { c.redis = newRedis(addr) }

// ask sends a command and records it with its outcome. The error is that of the connection.
func (c *jobClient) ask(e history.JobEvent, words ...any) (reply any, err error) {
	e.Worker, e.From = c.worker, now()
	reply, err = c.redis.Do(context.Background(), words...).Result()
	e.To = now()
	var refused redis.Error
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		e.Answer, err = history.Good, nil
	case !errors.As(err, &refused):
	case strings.HasPrefix(refused.Error(), "STALE "):
		e.Answer, err = history.Stale, nil
	case diskFull(err):
		return nil, err // the command had no effect
	case strings.HasPrefix(refused.Error(), "BACKOFF ") && e.Kind == history.JobProbed:
		e.Answer, err = history.Remembered, nil
	default:
		return nil, fmt.Errorf("%v: %w", words, refusal(refused.Error()))
	}
	if e.Kind != history.JobTaken {
		c.history.Add(e)
		switch {
		case e.Kind == history.JobEnqueued:
			c.known.left.Add(1)
		case (e.Kind == history.JobDone || e.Kind == history.JobFailed) && e.Answer != history.Stale:
			c.known.left.Add(-1)
		}
		if e.Kind == history.JobDone && e.Answer == history.Good && e.MS > 0 {
			c.known.add(e)
		}
		return reply, err
	}
	if err != nil {
		e.Kind = history.JobLost
		c.history.Add(e)
		return nil, err
	}
	return reply, nil
}

// refusal is an error reply that the broker should not have sent.
type refusal string

func (r refusal) Error() string { return string(r) }

// work calls step in a loop until the broker is killed.
func (c *jobClient) work(addr string, killed *atomic.Bool, step func() error) error {
	c.connect(addr)
	defer c.redis.Close()
	if err := untilKilled(c.redis, killed, step); err != nil {
		return fmt.Errorf("worker %d: %w", c.worker, err)
	}
	return nil
}

// untilKilled calls step in a loop until the broker is killed. An error before that, or any
// refusal, is a bug of the broker.
func untilKilled(client *redis.Client, killed *atomic.Bool, step func() error) error {
	err := client.Ping(context.Background()).Err() // checks that a broker answers
	for err == nil {
		err = step()
	}
	var refused refusal
	if errors.As(err, &refused) || !killed.Load() {
		return err
	}
	return nil
}

// enqueue enqueues a job, with or without a backoff, or tries an id that is remembered.
func (c *jobClient) enqueue() error {
	if c.known.left.Load() > jobsAhead {
		c.linger(5)
		return nil
	}
	if c.rng.IntN(10) == 0 {
		if done, ok := c.known.pick(c.rng); ok && now() < done.From+done.MS {
			_, err := c.ask(history.JobEvent{Kind: history.JobProbed, MID: done.MID}, "JOB.ENQUEUE", jobQueue, "again", "ID", done.MID)
			return err
		}
	}
	c.pace.wait()
	c.seq++
	e := history.JobEvent{Kind: history.JobEnqueued, MID: fmt.Sprintf("job%d", c.seq)}
	if c.rng.IntN(4) == 0 {
		e.MS = c.rng.Int64N(400)
	}
	_, err := c.ask(e, "JOB.ENQUEUE", jobQueue, e.MID, "ID", e.MID, "BACKOFF", e.MS)
	return err
}

// takeAndHandle takes jobs and handles them. It is not an error if there are none.
func (c *jobClient) takeAndHandle() error {
	jobs, err := c.take(1+c.rng.IntN(3), 50)
	for _, job := range jobs {
		if err := c.handle(job); err != nil {
			return err
		}
	}
	return err
}

// take takes up to n jobs, and waits up to wait milliseconds for the first.
func (c *jobClient) take(n, wait int) (jobs []history.JobEvent, err error) {
	lock := int64(30 + c.rng.IntN(300))
	from := now()
	reply, err := c.ask(history.JobEvent{Kind: history.JobTaken}, "JOB.TAKE", jobQueue, "COUNT", n, "LOCK", lock, "BLOCK", wait)
	if err != nil || reply == nil {
		return nil, err
	}
	for _, one := range reply.([]any) {
		job := one.(map[any]any)
		_, number, _ := strings.Cut(job["token"].(string), "-")
		token, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, refusal("token " + job["token"].(string))
		}
		e := history.JobEvent{
			Kind: history.JobTaken, MID: job["mid"].(string), Token: token, Worker: c.worker, Attempt: int(job["attempt"].(int64)),
			MS: job["lock"].(int64), From: from, To: now(), Answer: history.Good,
		}
		c.history.Add(e)
		c.tokens[e.Token] = job["token"].(string)
		jobs = append(jobs, e)
	}
	return jobs, nil
}

// handle treats a job as workers do. Mostly it succeeds, at once or after a while with an extended
// lock. It may also fail, be retried, or be abandoned by a worker that dies.
func (c *jobClient) handle(job history.JobEvent) error {
	for c.rng.IntN(4) == 0 {
		if c.rng.IntN(3) == 0 {
			c.linger(job.MS / 2)
		}
		if err := c.report(history.JobExtended, job, 1+c.rng.Int64N(300)); err != nil {
			return err
		}
	}
	switch n := c.rng.IntN(100); {
	case n < 10: // dies
		return nil
	case n < 13: // is slow, and may be too late
		c.linger(2 * job.MS)
		return c.report(history.JobDone, job, 0)
	case n < 30:
		return c.report(history.JobRetried, job, c.rng.Int64N(200))
	case n < 35:
		return c.report(history.JobFailed, job, 0)
	case n < 50:
		return c.report(history.JobDone, job, 600_000)
	}
	return c.report(history.JobDone, job, 0)
}

// linger sleeps for a random time of up to most milliseconds.
func (c *jobClient) linger(most int64) {
	<-time.After(time.Duration(c.rng.Int64N(most+1)) * time.Millisecond)
}

// report reports the outcome of a job.
func (c *jobClient) report(kind history.JobKind, job history.JobEvent, ms int64) error {
	e := history.JobEvent{Kind: kind, MID: job.MID, Token: job.Token, MS: ms}
	words := []any{jobReports[kind], jobQueue, job.MID, c.tokens[job.Token]}
	switch kind {
	case history.JobExtended:
		words = append(words, ms)
	case history.JobRetried, history.JobDone:
		words = append(words, "BACKOFF", ms)
	case history.JobFailed:
		words = append(words, "ERROR", "it failed")
	}
	_, err := c.ask(e, words...)
	return err
}

var jobReports = map[history.JobKind]string{history.JobExtended: "JOB.EXTEND", history.JobRetried: "JOB.RETRY", history.JobDone: "JOB.DONE", history.JobFailed: "JOB.FAIL"}
