package semaphores

import (
	"iter"

	"fiveways/internal/core/semaphore"
)

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
