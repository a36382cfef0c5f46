package semjson

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Refusal describes why an operation failed: a code for programs, a sentence for people.
type Refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

// Values of Refusal.Error.
const (
	NotFound      = "not_found"      // no such semaphore or task
	AccessRefused = "access_refused" // the user lacks the permission
	BadRequest    = "bad_request"    // malformed request or invalid value
	Conflict      = "conflict"       // impossible in the current state: tasks exist, or it does not run
	NoRoom        = "no_room"        // the broker is low on memory or disk space
	TooLarge      = "too_large"
	Unavailable   = "unavailable" // the broker is stopping
	Internal      = "internal_error"
)

var words = []struct {
	err  error
	word string
}{
	{semaphores.ErrNotFound, NotFound},
	{semaphores.ErrNoTask, NotFound},
	{semaphores.ErrDeleted, NotFound},
	{semaphores.ErrNotEmpty, Conflict},
	{semaphores.ErrOrder, Conflict},
	{semaphores.ErrNotActive, Conflict},
	{semaphores.ErrInvalid, BadRequest},
	{semaphores.ErrTooMany, NoRoom},
	{semaphores.ErrDiskFull, NoRoom},
	{failure.ErrAccessRefused, AccessRefused},
	{failure.ErrInvalidName, BadRequest},
	{failure.ErrTooLarge, TooLarge},
	{failure.ErrVHostNotFound, NotFound},
	{failure.ErrVHostDeleted, NotFound},
	{failure.ErrRejected, Conflict},
	{failure.ErrLogFailed, Internal},
	{failure.ErrClosed, Unavailable},
}

// Refuse returns the Refusal of an error. An unforeseen error becomes Internal without details.
func Refuse(err error) Refusal {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return Refusal{w.word, reason(w.err, err)}
		}
	}
	return Refusal{Internal, "the broker could not do it; its log says why"}
}

// Unknown reports whether the outcome is unknown: the operation may have happened.
func (r Refusal) Unknown() bool { return r.Error == Internal || r.Error == Unavailable }

func reason(sentinel, err error) string {
	var e *failure.Error
	if !errors.As(err, &e) || sentinel == failure.ErrLogFailed {
		return sentinel.Error()
	}
	what := fmt.Sprintf("%s '%s'", e.Kind, e.Name)
	switch {
	case sentinel == failure.ErrAccessRefused && e.Detail == "":
		return fmt.Sprintf("%s access to %s in vhost '%s' refused for user '%s'", e.Action, what, e.VHost, e.User)
	case e.Arg != "" && e.Detail != "":
		return fmt.Sprintf("%s: %v of %s: %s", what, sentinel, e.Arg, e.Detail)
	case e.Arg != "":
		return fmt.Sprintf("%s: %v of %s", what, sentinel, e.Arg)
	case e.Detail != "":
		return fmt.Sprintf("%s: %v: %s", what, sentinel, e.Detail)
	case e.Name != "":
		return fmt.Sprintf("%s: %v", what, sentinel)
	}
	return sentinel.Error()
}
