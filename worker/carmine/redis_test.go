package carmine

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/redisd"
	"fiveways.dev/fiveways/worker"
)

const q = "mail"

// dial opens Jobs on a new Redis server, and a client for inspecting the keys.
func dial(t *testing.T, o Options) (*Jobs, *redis.Client) {
	t.Helper()
	url := "redis://" + redisd.Start(t, redisd.Options{})
	j, err := Dial(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	r, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(r)
	t.Cleanup(func() { client.Close() })
	return j, client
}

// eachVersion runs a test for each value of Oldest.
func eachVersion(t *testing.T, test func(t *testing.T, j *Jobs, client *redis.Client)) {
	for _, oldest := range []int{2, 3} {
		t.Run(strconv.Itoa(oldest), func(t *testing.T) {
			j, client := dial(t, Options{Oldest: oldest})
			test(t, j, client)
		})
	}
}

// pass simulates the passing of time on a queue by moving all expiries back, since the clock of
// Redis cannot be moved.
func pass(t *testing.T, client *redis.Client, queue string, d time.Duration) {
	t.Helper()
	ctx := context.Background()
	for _, name := range []string{"locks", "backoffs", "udts"} {
		all, err := client.HGetAll(ctx, key(queue, name)).Result()
		if err != nil {
			t.Fatal(err)
		}
		for mid, text := range all {
			ms, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			earlier := strconv.FormatInt(ms-d.Milliseconds(), 10)
			if err := client.HSet(ctx, key(queue, name), mid, earlier).Err(); err != nil {
				t.Fatal(err)
			}
			if name != "locks" {
				continue
			}
			if token, until, ok := strings.Cut(client.HGet(ctx, key(queue, "lock-tokens"), mid).Val(), ":"); ok && until == text {
				if err := client.HSet(ctx, key(queue, "lock-tokens"), mid, token+":"+earlier).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func enqueue(t *testing.T, j *Jobs, mid, body string, o worker.EnqueueOptions) {
	t.Helper()
	o.MID = mid
	if _, err := j.Enqueue(context.Background(), q, []byte(body), o); err != nil {
		t.Fatal(err)
	}
}

// take takes one job, and fails the test if there is none.
func take(t *testing.T, j *Jobs) worker.Job {
	t.Helper()
	jobs, err := j.Take(context.Background(), worker.TakeOptions{Queues: []string{q}})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("took %v, %v", jobs, err)
	}
	return jobs[0]
}

func takeNone(t *testing.T, j *Jobs) {
	t.Helper()
	if jobs, err := j.Take(context.Background(), worker.TakeOptions{Queues: []string{q}, Count: 10}); err != nil || len(jobs) > 0 {
		t.Fatalf("took %v, %v", jobs, err)
	}
}

func stateIs(t *testing.T, j *Jobs, mid string, want worker.State) {
	t.Helper()
	s, err := j.Status(context.Background(), q, mid)
	if err != nil || s.State != want {
		t.Fatalf("%s is %q, %v; want %q", mid, s.State, err, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
