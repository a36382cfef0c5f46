package resp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// replyError is an error as the client is told it: a code, a blank, a text.
type replyError string

func (e replyError) Error() string { return string(e) }

// Errors that many commands have, with Redis' words.
const (
	errSyntax        replyError = "ERR syntax error"
	errNotInteger    replyError = "ERR value is not an integer or out of range"
	errNotFloat      replyError = "ERR value is not a valid float"
	errTimeout       replyError = "ERR timeout is not a float or out of range"
	errNegative      replyError = "ERR timeout is negative"
	errWrongType     replyError = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNoKey         replyError = "ERR no such key"
	errOOM           replyError = "OOM command not allowed when used memory > 'maxmemory'."
	errDiskFull      replyError = "MISCONF Errors writing to the AOF file: No space left on device"
	errNoAuth        replyError = "NOAUTH Authentication required."
	errNoPermKey     replyError = "NOPERM this user has no permissions to access one of the keys used as arguments"
	errNoPermChannel replyError = "NOPERM this user has no permissions to access one of the channels used as arguments"
	errNoPermRun     replyError = "NOPERM this user has no permissions to run the '%s' command"
	errWrongPass     replyError = "WRONGPASS invalid username-password pair or user is disabled."
	errClosing       replyError = "ERR the broker is shutting down"
	errExecAborted   replyError = "EXECABORT Transaction discarded because of previous errors."
)

// errorf is an error with something in its text.
func errorf(format string, args ...any) replyError { return replyError(fmt.Sprintf(format, args...)) }

func wrongNumber(name string) replyError {
	return errorf("ERR wrong number of arguments for '%s' command", name)
}

// errorRows is what clients are told of the engine's errors. "{name}" is the name of what it is about, "{arg}" the argument that is wrong.
var errorRows = []struct {
	err  error
	text replyError
}{
	{broker.ErrQueueNotFound, errNoKey},
	{broker.ErrExchangeNotFound, "ERR no such exchange '{name}'"},
	{broker.ErrVHostNotFound, "ERR no such virtual host '{name}'"},
	{broker.ErrUserNotFound, "ERR no such user '{name}'"},
	{broker.ErrInequivalent, "ERR '{name}' was declared with other arguments"},
	{broker.ErrExclusive, "ERR queue '{name}' belongs to another connection"},
	{broker.ErrInUse, "ERR '{name}' is in use"},
	{broker.ErrNotEmpty, "ERR '{name}' is not empty"},
	{broker.ErrReservedName, "ERR names that begin with 'amq.' are reserved"},
	{broker.ErrDefaultExchange, "ERR that cannot be done with the default exchange"},
	{broker.ErrSystemExchange, "ERR exchange '{name}' belongs to the system"},
	{broker.ErrInternalExchange, "ERR exchange '{name}' is internal"},
	{broker.ErrWrongKind, errWrongType},
	{broker.ErrDeadlock, "ERR it would wait for who waits for it"},
	{broker.ErrExclusiveConsumer, "ERR queue '{name}' is consumed exclusively"},
	{broker.ErrAccessRefused, errNoPermKey},
	{broker.ErrVHostRefused, "NOPERM this user has no permissions in the virtual host '{name}'"},
	{broker.ErrVHostDeleted, "ERR the virtual host was deleted"},
	{broker.ErrUserDeleted, "ERR the user was deleted"},
	{broker.ErrVHostConnections, "ERR max number of clients of the virtual host reached"},
	{broker.ErrUserConnections, "ERR max number of clients of the user reached"},
	{broker.ErrUserChannels, "ERR max number of channels of the user reached"},
	{broker.ErrQueueLimit, "ERR max number of queues of the virtual host reached"},
	{broker.ErrInvalidName, "ERR invalid name"},
	{broker.ErrInvalidPassword, "ERR invalid password"},
	{broker.ErrInvalidPattern, "ERR invalid pattern"},
	{broker.ErrInvalidParameter, "ERR invalid parameter '{name}'"},
	{broker.ErrInvalidLimit, "ERR unknown limit"},
	{broker.ErrUnknownExchangeType, "ERR unknown exchange type"},
	{broker.ErrInvalidBinding, "ERR invalid binding"},
	{broker.ErrNoFront, "ERR a queue with 255 priorities takes nothing before its head"},
	{broker.ErrAlreadyQueued, "ALREADYQUEUED job '{name}' is already queued"},
	{broker.ErrLocked, "LOCKED job '{name}' is locked"},
	{broker.ErrBackoff, "BACKOFF job '{name}' is in backoff"},
	{broker.ErrStale, "STALE the lease of job '{name}' is over"},
	{broker.ErrRejected, "ERR queue '{name}' is full"},
	{semaphores.ErrNotFound, "NOSEM no such semaphore"},
	{semaphores.ErrDeleted, "NOSEM the semaphore was deleted"},
	{semaphores.ErrNoTask, "NOTASK the task was released"},
	{semaphores.ErrNotEmpty, "NOTEMPTY the semaphore has tasks"},
	{semaphores.ErrOrder, "ERR the order cannot change while there are tasks"},
	{semaphores.ErrInvalid, "ERR invalid {arg}"},
	{semaphores.ErrTooMany, errOOM},
	{semaphores.ErrDiskFull, errDiskFull},
	{semaphores.ErrNotActive, "ERR the task does not run"},
	{broker.ErrTooLarge, "ERR too large"},
	{broker.ErrLogFailed, "MISCONF Errors writing to the AOF file: the log takes no more writes"},
	{broker.ErrClosed, errClosing},
}

// errorText is what the client is told of err.
func errorText(err error) string {
	var ready replyError
	if errors.As(err, &ready) {
		return string(ready)
	}
	for _, row := range errorRows {
		if errors.Is(err, row.err) {
			var e broker.Error
			if about := (*broker.Error)(nil); errors.As(err, &about) {
				e = *about
			}
			return strings.NewReplacer("{name}", e.Name, "{arg}", cmp.Or(e.Arg, "value")).Replace(string(row.text))
		}
	}
	return "ERR internal error"
}

// replyWith writes err as the answer.
func replyWith(w *respwire.Writer, err error) {
	w.Error(errorText(err))
}

// unknown is the answer to a command that there is not.
func unknown(args [][]byte) replyError {
	var with strings.Builder
	for _, a := range args[1:] {
		if with.Len() >= mostQuoted {
			break
		}
		fmt.Fprintf(&with, "'%s' ", cut(a, mostQuoted-with.Len()))
	}
	return errorf("ERR unknown command '%s', with args beginning with: %s%s", cut(args[0], mostQuoted), with.String(), elsewhere(args[0]))
}

// unknownSub is the answer to a subcommand that there is not.
func unknownSub(args [][]byte) replyError {
	return errorf("ERR unknown subcommand '%s'. Try %s HELP.", cut(args[1], mostQuoted), strings.ToUpper(string(args[0])))
}

// mostQuoted is how much of what the client sent is repeated in an error.
const mostQuoted = 128

func cut(b []byte, n int) []byte { return b[:min(len(b), n)] }
