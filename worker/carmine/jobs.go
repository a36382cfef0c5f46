package carmine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
	"fiveways.dev/fiveways/worker"
)

// Jobs is Carmine's queues in a Redis server. Any goroutine may call its methods.
type Jobs struct {
	client redis.UniversalClient
	own    bool // Close closes the client
	oldest int
	poll   time.Duration
	codec  Codec
	left   left
	done   chan struct{} // closed by Close
	once   sync.Once
}

// Options configures Jobs. The zero value is right for all versions.
type Options struct {
	// Oldest is the oldest major version of Carmine whose workers share the queues: 2 (the default;
	// also right for 3.0 and 3.1), or 3 for 3.2 and later.
	Oldest int
	// Poll is how often a waiting Take polls. Enqueues by Go producers, or by Carmine since 3.2,
	// into the first of its queues wake it at once; older producers do not. 0 means one second. The
	// maximum is two seconds.
	Poll time.Duration
	// Codec converts bodies to what Redis stores. nil means Values.
	Codec Codec
}

const (
	defaultPoll = time.Second
	maxPoll     = 2 * time.Second // below the read timeout of the client
)

// Dial connects to the Redis server at a URL such as redis://user:password@host:6379/0.
func Dial(url string, o Options) (*Jobs, error) {
	r, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("carmine: %w", err)
	}
	respclient.Steady(r)
	r.MaxRetries = -1 // a script must not run again because its reply was lost
	j, err := New(redis.NewClient(r), o)
	if err == nil {
		j.own = true
	}
	return j, err
}

// New returns a Jobs that uses client, which the caller closes. The client should not retry
// (MaxRetries: -1): otherwise a lost reply may make a report stale.
func New(client redis.UniversalClient, o Options) (*Jobs, error) {
	o.Oldest = cmp.Or(o.Oldest, 2)
	if o.Oldest != 2 && o.Oldest != 3 {
		return nil, fmt.Errorf("carmine: Oldest is %d; it must be 2 or 3", o.Oldest)
	}
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	if o.Poll < time.Millisecond || o.Poll > maxPoll {
		return nil, fmt.Errorf("carmine: Poll is %v; it must be from 1ms to %v", o.Poll, maxPoll)
	}
	if o.Codec == nil {
		o.Codec = Values{}
	}
	return &Jobs{client: client, oldest: o.Oldest, poll: o.Poll, codec: o.Codec, done: make(chan struct{})}, nil
}

// Close implements worker.Jobs.
func (j *Jobs) Close() (err error) {
	j.once.Do(func() {
		close(j.done)
		if j.own {
			err = j.client.Close()
		}
	})
	return err
}

// open returns ErrClosed after Close.
func (j *Jobs) open() error {
	select {
	case <-j.done:
		return worker.ErrClosed
	default:
		return nil
	}
}

// marker is the entry of the circle at which a round ends. No message can have it as its id.
const marker = "end-of-circle"

const maxMID = 255

var errMID = errors.New("carmine: a job's id has 1 to 255 bytes and is not " + marker)

// randomID returns 16 random bytes as text.
func randomID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// millis converts to milliseconds, rounded up so that nothing ends too early.
func millis(d time.Duration) int64 {
	return int64((max(d, 0) + time.Millisecond - 1) / time.Millisecond)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Done implements worker.Jobs.
func (j *Jobs) Done(ctx context.Context, l worker.Lease, remember time.Duration) error {
	backoff := int64(-1)
	if remember > 0 {
		backoff = millis(remember)
	}
	return j.report(ctx, l, reportScript, 1, backoff)
}

// Retry implements worker.Jobs. Carmine cannot store the text.
func (j *Jobs) Retry(ctx context.Context, l worker.Lease, after time.Duration, _ string) error {
	return j.report(ctx, l, reportScript, 0, millis(after))
}

// Fail implements worker.Jobs. Carmine has no dead letters, and cannot store the text.
func (j *Jobs) Fail(ctx context.Context, l worker.Lease, _ string) error {
	return j.report(ctx, l, reportScript, 1, -1)
}

// FailForgets tells workers that a job that was given up is removed completely.
func (j *Jobs) FailForgets() bool { return true }

// Extend implements worker.Jobs.
func (j *Jobs) Extend(ctx context.Context, l worker.Lease, lock time.Duration) error {
	return j.report(ctx, l, extendScript, millis(lock))
}

func (j *Jobs) report(ctx context.Context, l worker.Lease, s *redis.Script, args ...any) error {
	if err := j.open(); err != nil {
		return err
	}
	reply, err := j.run(ctx, s, l.Queue, append([]any{l.MID, l.Token}, args...)...)
	if err != nil {
		return fmt.Errorf("carmine: report on %s: %w", l.MID, err)
	}
	if reply != int64(1) {
		return fmt.Errorf("carmine: %s: %w", l.MID, worker.ErrStale)
	}
	return nil
}

// Names implements worker.Jobs.
func (j *Jobs) Names(ctx context.Context) (names []string, err error) {
	if err := j.open(); err != nil {
		return nil, err
	}
	scan := j.client.Scan(ctx, 0, keyPrefix+"*:messages", 1000).Iterator()
	seen := map[string]bool{}
	for scan.Next(ctx) {
		name := strings.TrimSuffix(strings.TrimPrefix(scan.Val(), keyPrefix), ":messages")
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("carmine: names: %w", err)
	}
	return names, nil
}

// Clear implements worker.Jobs.
func (j *Jobs) Clear(ctx context.Context, queues ...string) error {
	if err := j.open(); err != nil {
		return err
	}
	for _, queue := range queues {
		if err := j.client.Del(ctx, append(keys(queue), key(queue, "eoq-backoff?"))...).Err(); err != nil {
			return fmt.Errorf("carmine: clear %s: %w", queue, err)
		}
	}
	return nil
}
