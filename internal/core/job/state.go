package job

// State is the state of a job's id.
type State uint8

const (
	// None: nothing is known of the id.
	None State = iota
	// Queued: its message is ready.
	Queued
	// QueuedWithBackoff: its message will be ready at a later time.
	QueuedWithBackoff
	// Locked: a worker or consumer has its message.
	Locked
	// LockedWithRequeue: Locked, and another version of the message waits behind it.
	LockedWithRequeue
	// DoneAwaitingGC: its message has gone, and the next take forgets the id.
	DoneAwaitingGC
	// DoneWithBackoff: its message has gone, the id is remembered until a time.
	DoneWithBackoff
	// DoneWithRequeue: one of the two before, and another version of the message comes next.
	DoneWithRequeue
)

func (s State) String() string {
	return [...]string{
		"none", "queued", "queued-with-backoff", "locked", "locked-with-requeue", "done-awaiting-gc", "done-with-backoff", "done-with-requeue",
	}[s]
}

// Wish is how to enqueue a message whose id is already known.
type Wish struct {
	Update       bool // replace the queued message
	Requeue      bool // wait behind a message that is locked, or done and remembered
	ResetBackoff bool // change the time of the queued message
}

// Step is the outcome of a Wish.
type Step uint8

const (
	// Add: the message is new in the queue.
	Add Step = iota
	// AddAfter: the message is new in the queue, ready when the id's backoff is over.
	AddAfter
	// AddBehind: the message waits behind the locked one.
	AddBehind
	// Replace: the message replaces the queued one.
	Replace
	// ReplaceBehind: the message replaces the one that waits behind.
	ReplaceBehind
	// Retime: the queued message gets another time.
	Retime
	// AlreadyQueued, IsLocked, InBackoff: rejected, nothing changes.
	AlreadyQueued
	IsLocked
	InBackoff
)

// Decide returns the outcome of enqueuing a message with an id in a state. backoff says, for
// DoneWithRequeue, whether the id's backoff is not over yet.
func Decide(s State, w Wish, backoff bool) Step {
	switch s {
	case None:
		return Add
	case Queued, QueuedWithBackoff:
		if !w.Update && w.ResetBackoff {
			return Retime
		}
		return w.replace(Replace)
	case Locked, LockedWithRequeue:
		if !w.Requeue {
			return IsLocked
		}
		if s == Locked {
			return AddBehind
		}
		return w.replace(ReplaceBehind)
	case DoneAwaitingGC:
		return AddAfter
	default:
		if (s == DoneWithBackoff || backoff) && !w.Requeue {
			return InBackoff
		}
		if s == DoneWithBackoff {
			return AddAfter
		}
		return w.replace(Replace)
	}
}

// replace is a step, if what is there may be updated.
func (w Wish) replace(s Step) Step {
	if !w.Update {
		return AlreadyQueued
	}
	return s
}
