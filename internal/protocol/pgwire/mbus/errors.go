package mbus

import (
	"errors"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/semaphores"
)

// sqlstates has the SQLSTATE of each error of the engine.
var sqlstates = []struct {
	err  error
	code string
	hint string
}{
	{broker.ErrQueueNotFound, pgerror.UndefinedTable, ""},
	{broker.ErrExchangeNotFound, pgerror.UndefinedTable, ""},
	{broker.ErrVHostNotFound, pgerror.InvalidCatalog, ""},
	{broker.ErrUserNotFound, pgerror.UndefinedObject, ""},
	{broker.ErrInequivalent, pgerror.DuplicateObject, "A queue or exchange of this name was made with other arguments. Drop it, or choose another name."},
	{broker.ErrExclusive, "55006", "A temporary queue is read by the session that made it."},
	{broker.ErrInUse, "55006", ""},
	{broker.ErrNotEmpty, "55006", ""},
	{broker.ErrReservedName, "42939", ""},
	{broker.ErrDefaultExchange, pgerror.InsufficientPrivilege, ""},
	{broker.ErrSystemExchange, pgerror.InsufficientPrivilege, ""},
	{broker.ErrInternalExchange, pgerror.InsufficientPrivilege, ""},
	{broker.ErrWrongKind, "42809", ""},
	{broker.ErrDeadlock, "40P01", ""},
	{broker.ErrExclusiveConsumer, "55006", ""},
	{broker.ErrAccessRefused, pgerror.InsufficientPrivilege, ""},
	{broker.ErrVHostRefused, pgerror.InsufficientPrivilege, ""},
	{broker.ErrVHostDeleted, pgerror.AdminShutdown, ""},
	{broker.ErrUserDeleted, pgerror.AdminShutdown, ""},
	{broker.ErrVHostConnections, pgerror.TooManyConnections, ""},
	{broker.ErrUserConnections, pgerror.TooManyConnections, ""},
	{broker.ErrUserChannels, pgerror.TooManyConnections, ""},
	{broker.ErrQueueLimit, "53400", "Drop queues that are not needed, or raise the limit max-queues of the virtual host."},
	{broker.ErrInvalidName, "42602", ""},
	{broker.ErrInvalidPassword, pgerror.InvalidParameterValue, ""},
	{broker.ErrInvalidPattern, pgerror.InvalidParameterValue, ""},
	{broker.ErrInvalidLimit, pgerror.InvalidParameterValue, ""},
	{broker.ErrUnknownExchangeType, pgerror.InvalidParameterValue, ""},
	{broker.ErrInvalidBinding, pgerror.InvalidParameterValue, ""},
	{broker.ErrInvalidParameter, pgerror.InvalidParameterValue, ""},
	{broker.ErrNoFront, pgerror.FeatureNotSupported, ""},
	{broker.ErrAlreadyQueued, pgerror.DuplicateObject, ""},
	{broker.ErrLocked, "55006", ""},
	{broker.ErrBackoff, "55006", ""},
	{broker.ErrStale, "55006", ""},
	{broker.ErrRejected, "53400", "A queue is full and refuses more. Nothing of the transaction has happened; consume from the queue and try again."},
	{broker.ErrTooLarge, pgerror.ProgramLimitExceeded, "Commit more often."},
	{semaphores.ErrNotFound, pgerror.NoDataFound, ""},
	{semaphores.ErrNoTask, pgerror.NoDataFound, ""},
	{semaphores.ErrDeleted, pgerror.NoDataFound, ""},
	{semaphores.ErrNotEmpty, pgerror.ForeignKeyViolation, "semaphore.drop(key) deletes a semaphore with its tasks."},
	{semaphores.ErrOrder, "55006", "Release its tasks first, or make another semaphore."},
	{semaphores.ErrInvalid, pgerror.InvalidParameterValue, ""},
	{semaphores.ErrTooMany, pgerror.OutOfMemory, ""},
	{semaphores.ErrDiskFull, pgerror.DiskFull, ""},
	{semaphores.ErrNotActive, "55000", ""},
	{broker.ErrLogFailed, pgerror.IOError, "The broker cannot write. Its log tells why; it must be started again."},
	{broker.ErrClosed, pgerror.AdminShutdown, ""},
}

// translate words an error of the engine.
func translate(err error) *pgerror.Error {
	for _, row := range sqlstates {
		if errors.Is(err, row.err) {
			if row.err == broker.ErrAccessRefused && !ofSemaphore(err) { // the words of the functions in a real PostgreSQL
				return pgerror.New(pgerror.RaiseException, "Access denied").WithDetail("%s", wording(err, row.err))
			}
			if row.err == broker.ErrDeadlock {
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

// ofSemaphore tells whether an error is about a semaphore.
func ofSemaphore(err error) bool {
	var e *broker.Error
	return errors.As(err, &e) && e.Kind == "semaphore"
}

// nameIn is the name of what an error of the engine is about.
func nameIn(err error) string {
	var e *broker.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Name
}

// wording is the message of an error of the engine.
func wording(err, sentinel error) string {
	var e *broker.Error
	if !errors.As(err, &e) {
		return sentinel.Error()
	}
	switch {
	case errors.Is(err, broker.ErrAccessRefused):
		return "permission denied for " + e.Kind + " " + e.Name
	case errors.Is(err, semaphores.ErrNotFound):
		return "semaphore \"" + e.Name + "\" does not exist"
	case errors.Is(err, semaphores.ErrNotEmpty): // as if the tables were PostgreSQL's
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
