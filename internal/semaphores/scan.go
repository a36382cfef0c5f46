package semaphores

import (
	"iter"

	"fiveways/internal/core/semaphore"
)

// scan tells fn of at most so many tasks, in no order: each that is there from the first to the last call comes at least once. next is where to go on, 0: that was all.
func (s *sem) scan(from uint32, limit int, fn func(*State)) (next uint32) {
	return s.state.Scan(from, limit, func(t semaphore.Task) { fn(&State{Task: t, Found: true}) })
}

// running are the tasks that run.
func (s *sem) running() iter.Seq[semaphore.Task] {
	return func(yield func(semaphore.Task) bool) {
		left := s.state.Len() - s.state.Count(semaphore.Wait)
		for t := range s.state.From(1) {
			if left == 0 {
				return
			}
			if t.Status == semaphore.Wait {
				continue
			}
			if left--; !yield(t) {
				return
			}
		}
	}
}
