package amqp

import (
	"errors"
	"fmt"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/amqp/amqpwire"
	"fiveways/internal/semaphores"
	"fiveways/internal/semaphores/semjson"
)

// fault is a failure as the client is told about it. Its code decides the scope
// (amqpwire.IsHard).
type fault struct {
	code   uint16
	text   string            // what follows the name of the code
	method amqpwire.MethodID // that failed; 0: none
	bare   bool              // names no method, though one failed
}

// Error is the reply text of the close method.
func (f *fault) Error() string {
	if f.text == "" {
		return amqpwire.ReplyName(f.code)
	}
	return amqpwire.ReplyName(f.code) + " - " + f.text
}

func faultf(code uint16, format string, args ...any) *fault {
	return &fault{code: code, text: fmt.Sprintf(format, args...)}
}

// resource is RabbitMQ's way to name a thing in an error text.
func resource(kind, name, vhost string) string {
	return fmt.Sprintf("%s '%s' in vhost '%s'", kind, name, vhost)
}

// faultRow is what becomes of one sentinel of the engine.
type faultRow struct {
	err  error
	code uint16
	text func(e *broker.Error) string
}

const exclusiveText = "cannot obtain exclusive access to locked %s. It could be originally declared on another connection " +
	"or the exclusive property value does not match that of the original declaration."

// faults has a row for every sentinel of the broker and of the semaphores; a test says so.
var faults = []faultRow{
	{broker.ErrQueueNotFound, amqpwire.NotFound, func(e *broker.Error) string { return "no " + resource("queue", e.Name, e.VHost) }},
	{broker.ErrExchangeNotFound, amqpwire.NotFound, func(e *broker.Error) string { return "no " + resource("exchange", e.Name, e.VHost) }},
	{broker.ErrVHostNotFound, amqpwire.NotAllowed, func(e *broker.Error) string { return fmt.Sprintf("vhost %s not found", e.VHost) }},
	{broker.ErrUserNotFound, amqpwire.NotAllowed, func(e *broker.Error) string { return fmt.Sprintf("user %s not found", e.Name) }},
	{broker.ErrVHostRefused, amqpwire.NotAllowed, vhostRefused},
	{broker.ErrVHostDeleted, amqpwire.ConnectionForced, func(e *broker.Error) string { return fmt.Sprintf("vhost '%s' is down", e.VHost) }},
	{broker.ErrUserDeleted, amqpwire.ConnectionForced, func(e *broker.Error) string { return fmt.Sprintf("user '%s' is deleted", e.Name) }},
	{broker.ErrVHostConnections, amqpwire.NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("%s: connection limit (%v) is reached", vhostRefused(e), e.Current)
	}},
	{broker.ErrUserConnections, amqpwire.NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("connection refused for user '%s': user connection limit (%v) is reached", e.User, e.Current)
	}},
	{broker.ErrUserChannels, amqpwire.NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("number of channels opened for user '%s' has reached the maximum allowed user limit of (%v)", e.User, e.Current)
	}},
	{broker.ErrQueueLimit, amqpwire.PreconditionFailed, func(e *broker.Error) string {
		return fmt.Sprintf("cannot declare queue '%s': queue limit in vhost '%s' (%v) is reached", e.Name, e.VHost, e.Current)
	}},
	{broker.ErrInvalidName, amqpwire.PreconditionFailed, func(e *broker.Error) string { return "invalid name of a " + e.Kind + ": " + e.Detail }},
	{broker.ErrInvalidPassword, amqpwire.PreconditionFailed, func(*broker.Error) string { return "invalid password" }},
	{broker.ErrInvalidPattern, amqpwire.PreconditionFailed, func(e *broker.Error) string { return fmt.Sprintf("invalid pattern '%s': %s", e.Name, e.Detail) }},
	{broker.ErrInvalidParameter, amqpwire.PreconditionFailed, func(e *broker.Error) string {
		return fmt.Sprintf("invalid value of parameter '%s': %s", e.Name, e.Detail)
	}},
	{broker.ErrInvalidLimit, amqpwire.PreconditionFailed, func(e *broker.Error) string { return fmt.Sprintf("unknown limit '%s'", e.Detail) }},
	{broker.ErrInequivalent, amqpwire.PreconditionFailed, inequivalentText},
	{broker.ErrExclusive, amqpwire.ResourceLocked, func(e *broker.Error) string { return fmt.Sprintf(exclusiveText, resource("queue", e.Name, e.VHost)) }},
	{broker.ErrInUse, amqpwire.PreconditionFailed, func(e *broker.Error) string { return resource(e.Kind, e.Name, e.VHost) + " in use" }},
	{broker.ErrNotEmpty, amqpwire.PreconditionFailed, func(e *broker.Error) string { return resource(e.Kind, e.Name, e.VHost) + " not empty" }},
	{broker.ErrReservedName, amqpwire.AccessRefused, func(e *broker.Error) string {
		return fmt.Sprintf("%s name '%s' contains reserved prefix 'amq.*'", e.Kind, e.Name)
	}},
	{broker.ErrDefaultExchange, amqpwire.AccessRefused, func(*broker.Error) string { return "operation not permitted on the default exchange" }},
	{broker.ErrSystemExchange, amqpwire.AccessRefused, func(e *broker.Error) string {
		return fmt.Sprintf("deletion of system %s not allowed", resource("exchange", e.Name, e.VHost))
	}},
	{broker.ErrInternalExchange, amqpwire.AccessRefused, func(e *broker.Error) string {
		return "cannot publish to internal " + resource("exchange", e.Name, e.VHost)
	}},
	{broker.ErrWrongKind, amqpwire.PreconditionFailed, func(e *broker.Error) string {
		return resource("queue", e.Name, e.VHost) + " is of another kind"
	}},
	{broker.ErrDeadlock, amqpwire.PreconditionFailed, func(e *broker.Error) string { return resource("queue", e.Name, e.VHost) + ": deadlock" }},
	{broker.ErrExclusiveConsumer, amqpwire.AccessRefused, func(e *broker.Error) string { return resource("queue", e.Name, e.VHost) + " in exclusive use" }},
	{broker.ErrAccessRefused, amqpwire.AccessRefused, accessText},
	{broker.ErrUnknownExchangeType, amqpwire.CommandInvalid, func(e *broker.Error) string {
		if e.Detail == "" {
			return "invalid exchange type ''"
		}
		return fmt.Sprintf("unknown exchange type '%s'", e.Detail)
	}},
	{broker.ErrInvalidBinding, amqpwire.PreconditionFailed, func(e *broker.Error) string { return e.Detail }},
	{broker.ErrTooLarge, amqpwire.PreconditionFailed, func(e *broker.Error) string { return e.Kind + " too large" }},
	{broker.ErrNoFront, amqpwire.PreconditionFailed, func(*broker.Error) string { return broker.ErrNoFront.Error() }},
	{broker.ErrAlreadyQueued, amqpwire.PreconditionFailed, jobText},
	{broker.ErrLocked, amqpwire.PreconditionFailed, jobText},
	{broker.ErrBackoff, amqpwire.PreconditionFailed, jobText},
	{broker.ErrStale, amqpwire.PreconditionFailed, jobText},
	{broker.ErrRejected, amqpwire.PreconditionFailed, func(*broker.Error) string { return "partial tx completion" }},
	{broker.ErrLogFailed, amqpwire.InternalError, func(*broker.Error) string { return "the broker's log has failed and takes no more writes" }},
	{broker.ErrClosed, amqpwire.ConnectionForced, func(*broker.Error) string { return shutdownText }},

	// Of requests in transactions; others have an answer.
	{semaphores.ErrNotFound, amqpwire.NotFound, semaphoreText},
	{semaphores.ErrNoTask, amqpwire.NotFound, semaphoreText},
	{semaphores.ErrDeleted, amqpwire.NotFound, semaphoreText},
	{semaphores.ErrNotEmpty, amqpwire.PreconditionFailed, semaphoreText},
	{semaphores.ErrOrder, amqpwire.PreconditionFailed, semaphoreText},
	{semaphores.ErrInvalid, amqpwire.PreconditionFailed, semaphoreText},
	{semaphores.ErrTooMany, amqpwire.PreconditionFailed, semaphoreText},
	{semaphores.ErrDiskFull, amqpwire.PreconditionFailed, semaphoreText},
	{semaphores.ErrNotActive, amqpwire.PreconditionFailed, semaphoreText},
}

func semaphoreText(e *broker.Error) string { return semjson.Refuse(e).Reason }

func jobText(e *broker.Error) string { return fmt.Sprintf("job '%s': %v", e.Name, e.Err) }

func vhostRefused(e *broker.Error) string {
	return fmt.Sprintf("access to vhost '%s' refused for user '%s'", e.VHost, e.User)
}

// accessText words a refusal. RabbitMQ names what was missing from 3.11 on.
func accessText(e *broker.Error) string {
	what := resource(e.Kind, e.Name, e.VHost)
	switch {
	case e.Detail != "":
		return e.Detail
	case e.Topic:
		what = fmt.Sprintf("topic '%s' in %s", e.Key, what)
	}
	return fmt.Sprintf("%s access to %s refused for user '%s'", e.Action, what, e.User)
}

const shutdownText = "broker forced connection closure with reason 'shutdown'"

// faultOf tells what the client hears about err. An error that nobody foresaw
// is an internal one and says no more.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	for _, row := range faults {
		if errors.Is(err, row.err) {
			e := &broker.Error{Err: row.err}
			errors.As(err, &e)
			return &fault{code: row.code, text: row.text(e)}
		}
	}
	return &fault{code: amqpwire.InternalError}
}
