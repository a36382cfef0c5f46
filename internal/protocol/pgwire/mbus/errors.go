package mbus

import (
	"errors"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/semaphores"
)

// sqlstates maps engine errors to SQLSTATEs.
var sqlstates = []struct {
	err  error
	code string
	hint string
}{
	{failure.ErrQueueNotFound, pgerror.UndefinedTable, ""},
	{failure.ErrExchangeNotFound, pgerror.UndefinedTable, ""},
	{failure.ErrVHostNotFound, pgerror.InvalidCatalog, ""},
	{failure.ErrUserNotFound, pgerror.UndefinedObject, ""},
	{failure.ErrInequivalent, pgerror.DuplicateObject, "A queue or exchange of this name was made with other arguments. Drop it, or choose another name."},
	{failure.ErrExclusive, "55006", "A temporary queue is read by the session that made it."},
	{failure.ErrInUse, "55006", ""},
	{failure.ErrNotEmpty, "55006", ""},
	{failure.ErrReservedName, "42939", ""},
	{failure.ErrDefaultExchange, pgerror.InsufficientPrivilege, ""},
	{failure.ErrSystemExchange, pgerror.InsufficientPrivilege, ""},
	{failure.ErrInternalExchange, pgerror.InsufficientPrivilege, ""},
	{failure.ErrWrongKind, "42809", ""},
	{failure.ErrDeadlock, "40P01", ""},
	{failure.ErrExclusiveConsumer, "55006", ""},
	{failure.ErrAccessRefused, pgerror.InsufficientPrivilege, ""},
	{failure.ErrVHostRefused, pgerror.InsufficientPrivilege, ""},
	{failure.ErrVHostDeleted, pgerror.AdminShutdown, ""},
	{failure.ErrUserDeleted, pgerror.AdminShutdown, ""},
	{failure.ErrVHostConnections, pgerror.TooManyConnections, ""},
	{failure.ErrUserConnections, pgerror.TooManyConnections, ""},
	{failure.ErrUserChannels, pgerror.TooManyConnections, ""},
	{failure.ErrQueueLimit, "53400", "Drop queues that are not needed, or raise the limit max-queues of the virtual host."},
	{failure.ErrInvalidName, "42602", ""},
	{failure.ErrInvalidPassword, pgerror.InvalidParameterValue, ""},
	{failure.ErrInvalidPattern, pgerror.InvalidParameterValue, ""},
	{failure.ErrInvalidLimit, pgerror.InvalidParameterValue, ""},
	{failure.ErrUnknownExchangeType, pgerror.InvalidParameterValue, ""},
	{failure.ErrInvalidBinding, pgerror.InvalidParameterValue, ""},
	{failure.ErrInvalidParameter, pgerror.InvalidParameterValue, ""},
	{failure.ErrNoFront, pgerror.FeatureNotSupported, ""},
	{failure.ErrAlreadyQueued, pgerror.DuplicateObject, ""},
	{failure.ErrLocked, "55006", ""},
	{failure.ErrBackoff, "55006", ""},
	{failure.ErrStale, "55006", ""},
	{failure.ErrRejected, "53400", "A queue is full and rejects new messages. Nothing of the transaction took effect; consume from the queue and try again."},
	{failure.ErrTooLarge, pgerror.ProgramLimitExceeded, "Commit more often."},
	{semaphores.ErrNotFound, pgerror.NoDataFound, ""},
	{semaphores.ErrNoTask, pgerror.NoDataFound, ""},
	{semaphores.ErrDeleted, pgerror.NoDataFound, ""},
	{semaphores.ErrNotEmpty, pgerror.ForeignKeyViolation, "semaphore.drop(key) deletes a semaphore with its tasks."},
	{semaphores.ErrOrder, "55006", "Release its tasks first, or make another semaphore."},
	{semaphores.ErrInvalid, pgerror.InvalidParameterValue, ""},
	{semaphores.ErrTooMany, pgerror.OutOfMemory, ""},
	{semaphores.ErrDiskFull, pgerror.DiskFull, ""},
	{semaphores.ErrNotActive, "55000", ""},
	{failure.ErrLogFailed, pgerror.IOError, "The broker cannot write. Its log says why; it must be restarted."},
	{failure.ErrClosed, pgerror.AdminShutdown, ""},
}

// translate converts an engine error to an error for the client.
func translate(err error) *pgerror.Error {
	for _, row := range sqlstates {
		if errors.Is(err, row.err) {
			if row.err == failure.ErrAccessRefused && !ofSemaphore(err) { // the text of the original functions in PostgreSQL
				return pgerror.New(pgerror.RaiseException, "Access denied").WithDetail("%s", wording(err, row.err))
			}
			if row.err == failure.ErrDeadlock {
				return pgerror.New(row.code, "deadlock detected").
					WithHint("This transaction and others held messages and waited to take each other's. Take messages in the same order everywhere.")
			}
			e := pgerror.New(row.code, "%s", wording(err, row.err))
			e.Hint = row.hint
			if row.err == semaphores.ErrNotEmpty {
				e.Detail = "Semaphore \"" + nameIn(err) + "\" has tasks."
			}
			return e
		}
	}
	return pgerror.New(pgerror.InternalError, "%v", err)
}

// ofSemaphore reports whether an error is about a semaphore.
func ofSemaphore(err error) bool {
	var e *failure.Error
	return errors.As(err, &e) && e.Kind == "semaphore"
}

// nameIn returns the name of the object that an engine error is about.
func nameIn(err error) string {
	var e *failure.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Name
}

// wording returns the message for an engine error.
func wording(err, sentinel error) string {
	var e *failure.Error
	if !errors.As(err, &e) {
		return sentinel.Error()
	}
	switch {
	case errors.Is(err, failure.ErrAccessRefused):
		return "permission denied for " + e.Kind + " " + e.Name
	case errors.Is(err, semaphores.ErrNotFound):
		return "semaphore \"" + e.Name + "\" does not exist"
	case errors.Is(err, semaphores.ErrNotEmpty): // as if semaphores were PostgreSQL tables
		return `update or delete on table "semaphore" violates foreign key constraint "semaphore_task_semaphore_id_fkey" on table "semaphore_task"`
	case errors.Is(err, semaphores.ErrInvalid):
		return "invalid " + e.Arg + ": " + e.Detail
	case e.Kind != "" && e.Name != "":
		text := e.Kind + " \"" + e.Name + "\": " + sentinel.Error()
		if e.Arg != "" {
			text += ": " + e.Arg
		}
		if e.Detail != "" {
			text += ": " + e.Detail
		}
		return text
	case e.Detail != "":
		return sentinel.Error() + ": " + e.Detail
	}
	return sentinel.Error()
}
