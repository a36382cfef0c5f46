package command

import (
	"context"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Request is one command of a client: the engine commands that carry it out, and its reply.
type Request interface {
	// Commands appends the engine commands of the request; the engine runs them in one batch with
	// those of other requests. A request without commands is answered without the engine.
	Commands(dst []broker.Command) []broker.Command
	// Reply writes the answer. It is called once the commands are done and their changes are
	// durable, and checks their Err. The arguments of the request are still valid.
	Reply(w *respwire.Writer)
}

// Blocker is a request that may wait for a message. It keeps copies of its arguments, because the
// connection reads more input while it waits. In a transaction it is an ordinary request and never
// waits.
type Blocker interface {
	Request
	// Wait returns the commands to wait on: the first one that gets something ends the wait
	// (broker.Session.Await). Reply is called then, or when the timeout expires. Timeout 0 means no
	// limit. A request that returns no commands does not wait.
	Wait() (commands []broker.Command, timeout time.Duration)
}

// Pollable is a Blocker that clients send in bulk. Consecutive ones on the same queue are polled in
// one batch. The connection waits from the first one that got nothing, since those behind it rarely
// got anything.
type Pollable interface {
	Blocker
	// Polled reports, after its commands ran, whether there is no need to wait.
	Polled() bool
}

// MultiPollable is a Blocker on several queues. It polls all of them at once and waits only if none
// has a message.
type MultiPollable interface {
	Blocker
	// Answered reports, after its commands ran, whether there is no need to wait.
	Answered() bool
}

// Changer is a request on semaphores. It has changes instead of commands.
type Changer interface {
	Request
	Changes(dst []semaphores.Change) []semaphores.Change
}

// Bulky is a request that may return many messages or tasks. The connection executes few of them
// in one batch, because it holds all results of a batch at once.
type Bulky interface {
	Request
	// Bulk returns how many the request returns at most; math.MaxInt if its arguments do not say.
	Bulk() int
}

// AtMost returns what Bulk returns for a maximum of n; 0 means none.
func AtMost(n int) int {
	if n == 0 {
		return math.MaxInt
	}
	return n
}

// SemaphoreBlocker is a Changer that waits if its changes alone did not satisfy it. In a
// transaction it never waits.
type SemaphoreBlocker interface {
	Changer
	// Satisfied reports, after its changes were made, whether there is no need to wait.
	Satisfied() bool
	// Await waits until the request is satisfied or ctx ends. Reply is called afterwards. Timeout 0
	// means no limit.
	Await(ctx context.Context, c Conn) error
	Timeout() time.Duration
}

// Told is a request that is answered without the engine.
type Told func(w *respwire.Writer)

// Commands implements Request. It appends none.
func (Told) Commands(dst []broker.Command) []broker.Command { return dst }

// Reply implements Request.
func (t Told) Reply(w *respwire.Writer) { t(w) }
