package job

// State is the state of a job's id.
type State uint8

const (
	// None: the id is unknown.
	None State = iota
	// Queued: its message is ready.
	Queued
	// QueuedWithBackoff: its message will be ready at a later time.
	QueuedWithBackoff
	// Locked: a worker or consumer holds its message.
	Locked
	// LockedWithRequeue: Locked, and another version of the message waits behind it.
	LockedWithRequeue
	// DoneAwaitingGC: its message is gone, and the next take forgets the id.
	DoneAwaitingGC
	// DoneWithBackoff: its message is gone, and the id is remembered until a certain time.
	DoneWithBackoff
	// DoneWithRequeue: one of the two previous states, and another version of the message comes
	// next.
	DoneWithRequeue
)

func (s State) String() string {
	return [...]string{
		"none", "queued", "queued-with-backoff", "locked", "locked-with-requeue", "done-awaiting-gc", "done-with-backoff", "done-with-requeue",
	}[s]
}

// Wish is how to enqueue a message whose id is already known.
type Wish struct {
	Update       bool // replace a queued message
	Requeue      bool // wait behind a message that is locked, or done and remembered
	ResetBackoff bool // change the time of a queued message
}

// Step is the outcome of a Wish.
type Step uint8

const (
	// Add: the message is new in the queue.
	Add Step = iota
	// AddAfter: the message is new in the queue, and ready once the id's backoff is over.
	AddAfter
	// AddBehind: the message waits behind the locked one.
	AddBehind
	// Replace: the message replaces the queued one.
	Replace
	// ReplaceBehind: the message replaces the one that waits behind.
	ReplaceBehind
	// Retime: the queued message gets a new time.
	Retime
	// AlreadyQueued, IsLocked, InBackoff: the request is rejected, and nothing changes.
	AlreadyQueued
	IsLocked
	InBackoff
)

// Decide returns the outcome of enqueuing a message whose id is in a state. backoff matters only
// for DoneWithRequeue: the id's backoff is not over yet.
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

// replace returns s if the existing message may be updated.
func (w Wish) replace(s Step) Step {
	if !w.Update {
		return AlreadyQueued
	}
	return s
}
