package monitor

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/queue"
)

// The jobs of a day are those of the last 24 hours. For a younger queue they are all jobs, and for
// a queue that had other messages before, those since its first job.
func TestJobDay(t *testing.T) {
	m := New(nil, Options{Every: time.Minute})
	after := func(minute int) *queue.Counts {
		n := uint64(minute)
		return &queue.Counts{Published: 10 * n, Acked: 7 * n, Returned: 4 * n, Rejected: 2 * n, TooOften: n}
	}
	want := func(what string, id uint64, now, minutes int) {
		t.Helper()
		n := int64(minutes)
		if have, want := m.JobDay(id, after(now)), (JobDay{Enqueued: 10 * n, Done: 7 * n, Failed: 7 * n, Dead: 3 * n}); have != want {
			t.Errorf("%s: %+v, want %+v", what, have, want)
		}
	}
	const young, plain, begun = 1, 2, 500 // the plain queue has jobs from minute begun on
	for minute := range 3001 {
		m.clock.tick(float64(minute)*60_000, 0)
		m.slow.tick(float64(minute)*60_000, 0)
		m.last = &inspect.Sample{Queues: []*inspect.QueueSample{{ID: young, Counts: *after(minute), Jobs: &inspect.JobSample{}}, {ID: plain, Counts: *after(minute)}}}
		if minute >= begun {
			m.last.Queues[1].Jobs = &inspect.JobSample{}
		}
		m.rememberQueues()
		m.rememberJobs()
		switch minute {
		case 100:
			want("a young queue", young, 101, 101)
		case begun + 100:
			want("a queue with other messages before", plain, minute, 100)
		}
	}
	want("an old queue", young, 3000, 24*60)
	want("an old queue with other messages before", plain, 3000, 24*60)
	m.last, m.slow.n = &inspect.Sample{}, m.slow.n+1
	if m.rememberJobs(); len(m.jobs) > 0 {
		t.Error("queues that are gone are remembered")
	}
}
