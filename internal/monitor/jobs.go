package monitor

import (
	"maps"

	"fiveways.dev/fiveways/internal/core/queue"
)

// JobDay counts what became of the jobs of a queue in the last 24 hours, or since the creation of
// the queue or the start of the broker if that is later.
type JobDay struct {
	Enqueued int64 `json:"enqueued"`
	Done     int64 `json:"done"`
	Failed   int64 `json:"failed"` // attempts that did not end with done: retried, the lease ended, or given up
	Dead     int64 `json:"dead"`   // given up: reported as failed, or returned too often
}

// jobKind is sampled once a minute for queues that are used for jobs. After a day it takes 46 KB
// per queue.
var jobKind = kind{[]string{"enqueued", "done", "failed", "dead"}, Coarse}

func appendJobs(dst []int64, c *queue.Counts) []int64 {
	dead := c.Rejected + c.TooOften
	return append(dst, int64(c.Published), int64(c.Acked), int64(c.Returned+dead), int64(dead))
}

// jobHistory is the history of a queue that is used for jobs.
type jobHistory struct {
	*history
	before []int64 // the values before the first sample
}

// rememberJobs adds the newest sample to the histories of queues that are used for jobs. A queue
// may have existed before with other messages.
func (m *Monitor) rememberJobs() {
	for i := range m.last.Queues {
		q := m.last.Queues[i]
		if q.Jobs == nil {
			continue
		}
		m.values = appendJobs(m.values[:0], &q.Counts)
		h, ok := m.jobs[q.ID]
		if !ok {
			h = jobHistory{newHistory(&jobKind, m.slow), make([]int64, len(jobKind.names))}
			if m.queues[q.ID].len() > int(m.slow.every/m.clock.every) {
				copy(h.before, m.values)
			}
			m.jobs[q.ID] = h
		}
		h.add(m.values)
	}
	maps.DeleteFunc(m.jobs, func(_ uint64, h jobHistory) bool { return h.last != m.slow.n })
}

// JobDay returns what became of the jobs of a queue, by the queue's id. counts are its current
// counters.
func (m *Monitor) JobDay(id uint64, counts *queue.Counts) JobDay {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var room [8]int64
	v := appendJobs(room[:0], counts)
	if h, ok := m.jobs[id]; ok {
		for i := range v {
			v[i] -= h.dayAgo(i)
		}
	}
	return JobDay{v[0], v[1], v[2], v[3]}
}

// dayAgo returns value i as of 24 hours ago, or before the first sample if that is later.
func (h *jobHistory) dayAgo(i int) int64 {
	if back := h.depth - 2; h.len() > back {
		return h.at(back, i)
	}
	return h.before[i]
}
