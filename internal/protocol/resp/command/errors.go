package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Error is an error in the form sent to the client: a code, a blank, and a text.
type Error string

func (e Error) Error() string { return string(e) }

// Errors common to many commands, with the texts of Redis.
const (
	ErrSyntax      Error = "ERR syntax error"
	ErrNotInteger  Error = "ERR value is not an integer or out of range"
	ErrNotFloat    Error = "ERR value is not a valid float"
	ErrNotPositive Error = "ERR value is out of range, must be positive"
	ErrTimeout     Error = "ERR timeout is not a float or out of range"
	ErrNegative    Error = "ERR timeout is negative"
	ErrWrongType   Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNoKey       Error = "ERR no such key"
	ErrOOM         Error = "OOM command not allowed when used memory > 'maxmemory'."
	ErrDiskFull    Error = "MISCONF Errors writing to the AOF file: No space left on device"
	ErrNoPermKey   Error = "NOPERM this user has no permissions to access one of the keys used as arguments"
	ErrClosing     Error = "ERR the broker is shutting down"
)

// Errorf formats an error.
func Errorf(format string, args ...any) Error { return Error(fmt.Sprintf(format, args...)) }

// WrongNumber returns the error for a wrong number of arguments of the named command.
func WrongNumber(name string) Error {
	return Errorf("ERR wrong number of arguments for '%s' command", name)
}

// errorRows maps engine errors to the texts for clients. "{name}" stands for the name of the object
// that the error is about, "{arg}" for the wrong argument.
var errorRows = []struct {
	err  error
	text Error
}{
	{failure.ErrQueueNotFound, ErrNoKey},
	{failure.ErrExchangeNotFound, "ERR no such exchange '{name}'"},
	{failure.ErrVHostNotFound, "ERR no such virtual host '{name}'"},
	{failure.ErrUserNotFound, "ERR no such user '{name}'"},
	{failure.ErrInequivalent, "ERR '{name}' was declared with other arguments"},
	{failure.ErrExclusive, "ERR queue '{name}' belongs to another connection"},
	{failure.ErrInUse, "ERR '{name}' is in use"},
	{failure.ErrNotEmpty, "ERR '{name}' is not empty"},
	{failure.ErrReservedName, "ERR names that begin with 'amq.' are reserved"},
	{failure.ErrDefaultExchange, "ERR that cannot be done with the default exchange"},
	{failure.ErrSystemExchange, "ERR exchange '{name}' belongs to the system"},
	{failure.ErrInternalExchange, "ERR exchange '{name}' is internal"},
	{failure.ErrWrongKind, ErrWrongType},
	{failure.ErrDeadlock, "ERR deadlock detected"},
	{failure.ErrExclusiveConsumer, "ERR queue '{name}' is consumed exclusively"},
	{failure.ErrAccessRefused, ErrNoPermKey},
	{failure.ErrVHostRefused, "NOPERM this user has no permissions in the virtual host '{name}'"},
	{failure.ErrVHostDeleted, "ERR the virtual host was deleted"},
	{failure.ErrUserDeleted, "ERR the user was deleted"},
	{failure.ErrVHostConnections, "ERR max number of clients of the virtual host reached"},
	{failure.ErrUserConnections, "ERR max number of clients of the user reached"},
	{failure.ErrUserChannels, "ERR max number of channels of the user reached"},
	{failure.ErrQueueLimit, "ERR max number of queues of the virtual host reached"},
	{failure.ErrInvalidName, "ERR invalid name"},
	{failure.ErrInvalidPassword, "ERR invalid password"},
	{failure.ErrInvalidPattern, "ERR invalid pattern"},
	{failure.ErrInvalidParameter, "ERR invalid parameter '{name}'"},
	{failure.ErrInvalidLimit, "ERR unknown limit"},
	{failure.ErrUnknownExchangeType, "ERR unknown exchange type"},
	{failure.ErrInvalidBinding, "ERR invalid binding"},
	{failure.ErrNoFront, "ERR a queue with 255 priorities takes nothing before its head"},
	{failure.ErrAlreadyQueued, "ALREADYQUEUED job '{name}' is already queued"},
	{failure.ErrLocked, "LOCKED job '{name}' is locked"},
	{failure.ErrBackoff, "BACKOFF job '{name}' is in backoff"},
	{failure.ErrStale, "STALE the lease of job '{name}' is over"},
	{failure.ErrRejected, "ERR queue '{name}' is full"},
	{semaphores.ErrNotFound, "NOSEM no such semaphore"},
	{semaphores.ErrDeleted, "NOSEM the semaphore was deleted"},
	{semaphores.ErrNoTask, "NOTASK the task was released"},
	{semaphores.ErrNotEmpty, "NOTEMPTY the semaphore has tasks"},
	{semaphores.ErrOrder, "ERR the order cannot change while there are tasks"},
	{semaphores.ErrInvalid, "ERR invalid {arg}"},
	{semaphores.ErrTooMany, ErrOOM},
	{semaphores.ErrDiskFull, ErrDiskFull},
	{semaphores.ErrNotActive, "ERR the task does not run"},
	{failure.ErrTooLarge, "ERR too large"},
	{failure.ErrLogFailed, "MISCONF Errors writing to the AOF file: the log takes no more writes"},
	{failure.ErrClosed, ErrClosing},
}

// Text returns the error text for the client. An unexpected error is reported as internal.
func Text(err error) string {
	var ready Error
	if errors.As(err, &ready) {
		return string(ready)
	}
	for _, row := range errorRows {
		if errors.Is(err, row.err) {
			var e failure.Error
			if about := (*failure.Error)(nil); errors.As(err, &about) {
				e = *about
			}
			return strings.NewReplacer("{name}", e.Name, "{arg}", cmp.Or(e.Arg, "value")).Replace(string(row.text))
		}
	}
	return "ERR internal error"
}

// Fail writes err as the answer.
func Fail(w *respwire.Writer, err error) {
	w.Error(Text(err))
}

// Missing reports whether err says that the queue does not exist. Clients see such a queue as
// empty.
func Missing(err error) bool { return errors.Is(err, failure.ErrQueueNotFound) }

// Failed writes the error of a command and returns true, if there is an error other than Missing.
func Failed(w *respwire.Writer, err error) bool {
	if err == nil || Missing(err) {
		return false
	}
	Fail(w, err)
	return true
}

// SubSyntax returns the error for a subcommand with invalid arguments.
func SubSyntax(args [][]byte) Error {
	return Errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		Quoted(args[1]), strings.ToUpper(string(args[0])))
}

// MostQuoted is the maximum number of bytes of client input that an error repeats.
const MostQuoted = 128

// Quoted returns the part of b that an error may repeat.
func Quoted(b []byte) []byte { return b[:min(len(b), MostQuoted)] }
