package job

// State is what is happening to a job's id.
type State uint8

const (
	// None: nothing is known of the id.
	None State = iota
	// Queued: its message is ready.
	Queued
	// QueuedWithBackoff: its message is ready when its time has come.
	QueuedWithBackoff
	// Locked: a worker or consumer has its message.
	Locked
	// LockedWithRequeue: Locked, and another version of the message waits behind.
	LockedWithRequeue
	// DoneAwaitingGC: its message has gone, and the next take forgets the id.
	DoneAwaitingGC
	// DoneWithBackoff: its message has gone, the id is remembered until a time.
	DoneWithBackoff
	// DoneWithRequeue: as the two before, and another version of the message comes next.
	DoneWithRequeue
)

func (s State) String() string {
	return [...]string{
		"none", "queued", "queued-with-backoff", "locked", "locked-with-requeue", "done-awaiting-gc", "done-with-backoff", "done-with-requeue",
	}[s]
}

// Wish is how a message is to be enqueued whose id is known already.
type Wish struct {
	Update       bool // take the place of the one that is queued
	Requeue      bool // wait behind the one that is locked, or done and remembered
	ResetBackoff bool // change the time of the one that is queued
}

// Step is what comes of a wish to enqueue.
type Step uint8

const (
	// Add: the message is new in the queue.
	Add Step = iota
	// AddAfter: the message is new in the queue, ready when the id's backoff is over.
	AddAfter
	// AddBehind: the message waits behind the one that is locked.
	AddBehind
	// Replace: the message takes the place of the one that is queued.
	Replace
	// ReplaceBehind: the message takes the place of the one that waits behind.
	ReplaceBehind
	// Retime: the one that is queued gets another time.
	Retime
	// AlreadyQueued, IsLocked, InBackoff: nothing is done.
	AlreadyQueued
	IsLocked
	InBackoff
)

// Decide tells what comes of a wish to enqueue a message with an id in a state. backoff tells, for
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
