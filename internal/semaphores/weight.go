package semaphores

import (
	"fmt"

	"fiveways/internal/broker"
)

// Nobody else is served while changes of one caller are done, nor while they are looked up.
const (
	turnMost  = 10_000  // tasks that the changes of one turn are about, where they need not be done at one moment
	groupMost = 2 << 20 // and where they must
)

// weight is how many tasks a change is about, at most.
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

// together is how many of the changes are done in one turn: the first, and those behind it with which it is not too much.
func together(changes []Change) (n int) {
	for sum := 0; n < len(changes); n++ {
		if sum += max(weight(changes[n]), 1); n > 0 && sum > turnMost {
			break
		}
	}
	return n
}

// fewEnough refuses what would take too long at one moment.
func fewEnough(changes []Change) error {
	sum := 0
	for _, c := range changes {
		if sum += max(weight(c), 1); sum > groupMost {
			return &broker.Error{Err: broker.ErrTooLarge, Kind: "semaphore", Name: c.of().Key, Detail: fmt.Sprintf("more than %d tasks at one moment", groupMost)}
		}
	}
	return nil
}
