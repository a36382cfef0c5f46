package semaphores

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/failure"
)

// Other callers wait while the changes of one caller are made or read, so one round takes a limited
// amount of work of one caller.
const (
	maxRequestTasks = 10_000  // tasks in the changes of one round, if they need not be atomic
	maxAtomicTasks  = 2 << 20 // the same, if they must be atomic
)

// weight returns the maximum number of tasks that a change concerns.
func weight(c Change) int {
	switch c := c.(type) {
	case *Enqueue:
		return len(c.Entries)
	case *Release:
		return len(c.Tasks)
	case *Renew:
		return len(c.Tasks)
	case *Status:
		return len(c.Tasks)
	case *Page:
		return pageLimit(c.Limit)
	case *Scan:
		return pageLimit(c.Limit)
	}
	return 1
}

// together returns how many of the changes are made in one round: the first one, and the following
// ones within the limit.
func together(changes []Change) (n int) {
	for sum := 0; n < len(changes); n++ {
		if sum += max(weight(changes[n]), 1); n > 0 && sum > maxRequestTasks {
			break
		}
	}
	return n
}

// fewEnough returns an error for a group that is too large to be atomic.
func fewEnough(changes []Change) error {
	sum := 0
	for _, c := range changes {
		if sum += max(weight(c), 1); sum > maxAtomicTasks {
			return &failure.Error{Err: failure.ErrTooLarge, Kind: "semaphore", Name: c.of().Key, Detail: fmt.Sprintf("more than %d tasks at one moment", maxAtomicTasks)}
		}
	}
	return nil
}
