package carmine

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// lay restores the keys of a recorded queue on Redis. Each line is a command whose arguments are
// quoted as in Go.
func lay(t *testing.T, client *redis.Client, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	ok(t, err)
	for line := range strings.Lines(string(text)) {
		var args []any
		for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
			quoted, err := strconv.QuotedPrefix(rest)
			ok(t, err)
			arg, err := strconv.Unquote(quoted)
			ok(t, err)
			args, rest = append(args, arg), rest[len(quoted):]
		}
		ok(t, client.Do(t.Context(), args...).Err())
	}
}

func recordedQueues(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/queue-*.txt")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%q, %v", paths, err)
	}
	return paths
}

// TestRecordedQueues checks that jobs that the real Carmine enqueued are taken with their content,
// and that jobs with Java-serialized content stay.
func TestRecordedQueues(t *testing.T) {
	want := map[string][2]string{
		"text": {`{"N":0}`, Text}, "map": {`{"to":"ann","n":3}`, JSON}, "bytes": {"\x00\xffN", Bytes}, "nil": {"null", JSON}, "keyword": {`"ping"`, JSON},
		"number": {"42", JSON}, "set": {"[1]", JSON}, "big": {strings.Repeat("long text ", 5000), Text},
	}
	for _, path := range recordedQueues(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			j, client := dial(t, Options{})
			lay(t, client, path)
			jobs, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{q}, Count: 20})
			if !errors.Is(err, worker.ErrUnreadable) || !strings.Contains(err.Error(), `"java"`) {
				t.Errorf("of what Java serialised: %v", err)
			}
			for _, job := range jobs {
				if w := want[job.MID]; string(job.Body) != w[0] || job.Headers[ContentTypeHeader] != w[1] || job.Attempt != 1 {
					t.Errorf("%s: %.100q, %v, attempt %d", job.MID, job.Body, job.Headers, job.Attempt)
				}
				ok(t, j.Done(t.Context(), job.Lease, 0))
			}
			if len(jobs) != len(want) {
				t.Errorf("%d jobs", len(jobs))
			}
			stateIs(t, j, "java", worker.Queued)
		})
	}
}

// TestWorkerOnRecordedQueues checks that a worker loses no job, whether or not it can decode it.
func TestWorkerOnRecordedQueues(t *testing.T) {
	for _, path := range recordedQueues(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			j, client := dial(t, Options{})
			lay(t, client, path)
			handled := make(chan string, 20)
			seen := make(chan struct{}, 100)
			type payload struct{ N int }
			w, err := worker.New(j, q, func(_ context.Context, m worker.Message[payload]) error {
				handled <- m.MID
				return nil
			}, worker.Options{Backoff: worker.Always(10 * time.Millisecond), Monitor: func(worker.Poll) {
				select {
				case seen <- struct{}{}:
				default:
				}
			}})
			ok(t, err)
			w.Start()
			got := map[string]bool{}
			for len(got) < 3 { // {"N":0}, {"to":…, "n":3}, null
				got[<-handled] = true
			}
			for w.Status().Counts.Retry < 5 { // bytes, keyword, number, set, big
				<-seen
			}
			ok(t, w.Stop(t.Context()))
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"map", "nil", "text"}) {
				t.Errorf("handled %q", names)
			}
			for _, mid := range []string{"bytes", "keyword", "number", "set", "big", "java"} {
				if s, err := j.Status(t.Context(), q, mid); err != nil || s.State != worker.Queued && s.State != worker.QueuedWithBackoff {
					t.Errorf("%s is %+v, %v", mid, s, err)
				}
			}
		})
	}
}
