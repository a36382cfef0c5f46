package semjson

import (
	"errors"
	"fmt"

	"fiveways/internal/broker"
	"fiveways/internal/semaphores"
)

// Refusal tells why something was not done: a word for programs, a sentence for people.
type Refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

// Words of Refusal.Error.
const (
	NotFound      = "not_found"      // no such semaphore, or task
	AccessRefused = "access_refused" // the user has not the permission
	BadRequest    = "bad_request"    // it makes no sense, or a value is wrong
	Conflict      = "conflict"       // not in the present state: tasks are there, or the task does not run
	NoRoom        = "no_room"        // the broker is short of memory or disk
	TooLarge      = "too_large"
	Unavailable   = "unavailable" // the broker stops
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
	{broker.ErrAccessRefused, AccessRefused},
	{broker.ErrInvalidName, BadRequest},
	{broker.ErrTooLarge, TooLarge},
	{broker.ErrVHostNotFound, NotFound},
	{broker.ErrVHostDeleted, NotFound},
	{broker.ErrRejected, Conflict},
	{broker.ErrLogFailed, Internal},
	{broker.ErrClosed, Unavailable},
}

// Refuse words an error. One that nobody foresaw is an internal one and says no more.
func Refuse(err error) Refusal {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return Refusal{w.word, reason(w.err, err)}
		}
	}
	return Refusal{Internal, "the broker could not do it; its log says why"}
}

// Unknown tells whether nothing is known of what was to be done: it may have happened.
func (r Refusal) Unknown() bool { return r.Error == Internal || r.Error == Unavailable }

func reason(sentinel, err error) string {
	var e *broker.Error
	if !errors.As(err, &e) || sentinel == broker.ErrLogFailed {
		return sentinel.Error()
	}
	what := fmt.Sprintf("%s '%s'", e.Kind, e.Name)
	switch {
	case sentinel == broker.ErrAccessRefused && e.Detail == "":
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
