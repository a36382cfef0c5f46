package amqperr

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Resource is RabbitMQ's way to name a thing in an error text.
func Resource(kind, name, vhost string) string {
	return fmt.Sprintf("%s '%s' in vhost '%s'", kind, name, vhost)
}

// Of words a failure of the engine: the code of the reply, and what RabbitMQ writes behind its
// name. ok is false for what is none of the engine's.
func Of(err error) (code uint16, text string, ok bool) {
	for _, row := range rows {
		if errors.Is(err, row.err) {
			e := &failure.Error{Err: row.err}
			errors.As(err, &e)
			return row.code, row.text(e), true
		}
	}
	return 0, "", false
}

// row is what becomes of one sentinel of the engine.
type row struct {
	err  error
	code uint16
	text func(e *failure.Error) string
}

const exclusiveText = "cannot obtain exclusive access to locked %s. It could be originally declared on another connection " +
	"or the exclusive property value does not match that of the original declaration."

// rows has one for every sentinel of the broker; a test says so.
var rows = []row{
	{failure.ErrQueueNotFound, amqpcode.NotFound, func(e *failure.Error) string { return "no " + Resource("queue", e.Name, e.VHost) }},
	{failure.ErrExchangeNotFound, amqpcode.NotFound, func(e *failure.Error) string { return "no " + Resource("exchange", e.Name, e.VHost) }},
	{failure.ErrVHostNotFound, amqpcode.NotAllowed, func(e *failure.Error) string { return fmt.Sprintf("vhost %s not found", e.VHost) }},
	{failure.ErrUserNotFound, amqpcode.NotAllowed, func(e *failure.Error) string { return fmt.Sprintf("user %s not found", e.Name) }},
	{failure.ErrVHostRefused, amqpcode.NotAllowed, vhostRefused},
	{failure.ErrVHostDeleted, amqpcode.ConnectionForced, func(e *failure.Error) string { return fmt.Sprintf("vhost '%s' is down", e.VHost) }},
	{failure.ErrUserDeleted, amqpcode.ConnectionForced, func(e *failure.Error) string { return fmt.Sprintf("user '%s' is deleted", e.Name) }},
	{failure.ErrVHostConnections, amqpcode.NotAllowed, func(e *failure.Error) string {
		return fmt.Sprintf("%s: connection limit (%v) is reached", vhostRefused(e), e.Current)
	}},
	{failure.ErrUserConnections, amqpcode.NotAllowed, func(e *failure.Error) string {
		return fmt.Sprintf("connection refused for user '%s': user connection limit (%v) is reached", e.User, e.Current)
	}},
	{failure.ErrUserChannels, amqpcode.NotAllowed, func(e *failure.Error) string {
		return fmt.Sprintf("number of channels opened for user '%s' has reached the maximum allowed user limit of (%v)", e.User, e.Current)
	}},
	{failure.ErrQueueLimit, amqpcode.PreconditionFailed, func(e *failure.Error) string {
		return fmt.Sprintf("cannot declare queue '%s': queue limit in vhost '%s' (%v) is reached", e.Name, e.VHost, e.Current)
	}},
	{failure.ErrInvalidName, amqpcode.PreconditionFailed, func(e *failure.Error) string { return "invalid name of a " + e.Kind + ": " + e.Detail }},
	{failure.ErrInvalidPassword, amqpcode.PreconditionFailed, func(*failure.Error) string { return "invalid password" }},
	{failure.ErrInvalidPattern, amqpcode.PreconditionFailed, func(e *failure.Error) string { return fmt.Sprintf("invalid pattern '%s': %s", e.Name, e.Detail) }},
	{failure.ErrInvalidParameter, amqpcode.PreconditionFailed, func(e *failure.Error) string {
		return fmt.Sprintf("invalid value of parameter '%s': %s", e.Name, e.Detail)
	}},
	{failure.ErrInvalidLimit, amqpcode.PreconditionFailed, func(e *failure.Error) string { return fmt.Sprintf("unknown limit '%s'", e.Detail) }},
	{failure.ErrInequivalent, amqpcode.PreconditionFailed, inequivalentText},
	{failure.ErrExclusive, amqpcode.ResourceLocked, func(e *failure.Error) string { return fmt.Sprintf(exclusiveText, Resource("queue", e.Name, e.VHost)) }},
	{failure.ErrInUse, amqpcode.PreconditionFailed, func(e *failure.Error) string { return Resource(e.Kind, e.Name, e.VHost) + " in use" }},
	{failure.ErrNotEmpty, amqpcode.PreconditionFailed, func(e *failure.Error) string { return Resource(e.Kind, e.Name, e.VHost) + " not empty" }},
	{failure.ErrReservedName, amqpcode.AccessRefused, func(e *failure.Error) string {
		return fmt.Sprintf("%s name '%s' contains reserved prefix 'amq.*'", e.Kind, e.Name)
	}},
	{failure.ErrDefaultExchange, amqpcode.AccessRefused, func(*failure.Error) string { return "operation not permitted on the default exchange" }},
	{failure.ErrSystemExchange, amqpcode.AccessRefused, func(e *failure.Error) string {
		return fmt.Sprintf("deletion of system %s not allowed", Resource("exchange", e.Name, e.VHost))
	}},
	{failure.ErrInternalExchange, amqpcode.AccessRefused, func(e *failure.Error) string {
		return "cannot publish to internal " + Resource("exchange", e.Name, e.VHost)
	}},
	{failure.ErrWrongKind, amqpcode.PreconditionFailed, func(e *failure.Error) string {
		return Resource("queue", e.Name, e.VHost) + " is of another kind"
	}},
	{failure.ErrDeadlock, amqpcode.PreconditionFailed, func(e *failure.Error) string { return Resource("queue", e.Name, e.VHost) + ": deadlock" }},
	{failure.ErrExclusiveConsumer, amqpcode.AccessRefused, func(e *failure.Error) string { return Resource("queue", e.Name, e.VHost) + " in exclusive use" }},
	{failure.ErrAccessRefused, amqpcode.AccessRefused, accessText},
	{failure.ErrUnknownExchangeType, amqpcode.CommandInvalid, func(e *failure.Error) string {
		if e.Detail == "" {
			return "invalid exchange type ''"
		}
		return fmt.Sprintf("unknown exchange type '%s'", e.Detail)
	}},
	{failure.ErrInvalidBinding, amqpcode.PreconditionFailed, func(e *failure.Error) string { return e.Detail }},
	{failure.ErrTooLarge, amqpcode.PreconditionFailed, func(e *failure.Error) string { return e.Kind + " too large" }},
	{failure.ErrNoFront, amqpcode.PreconditionFailed, func(*failure.Error) string { return failure.ErrNoFront.Error() }},
	{failure.ErrAlreadyQueued, amqpcode.PreconditionFailed, jobText},
	{failure.ErrLocked, amqpcode.PreconditionFailed, jobText},
	{failure.ErrBackoff, amqpcode.PreconditionFailed, jobText},
	{failure.ErrStale, amqpcode.PreconditionFailed, jobText},
	{failure.ErrRejected, amqpcode.PreconditionFailed, func(*failure.Error) string { return "partial tx completion" }},
	{failure.ErrLogFailed, amqpcode.InternalError, func(*failure.Error) string { return "the broker's log has failed and takes no more writes" }},
	{failure.ErrClosed, amqpcode.ConnectionForced, func(*failure.Error) string { return ShutdownText }},
}

func jobText(e *failure.Error) string { return fmt.Sprintf("job '%s': %v", e.Name, e.Err) }

func vhostRefused(e *failure.Error) string {
	return fmt.Sprintf("access to vhost '%s' refused for user '%s'", e.VHost, e.User)
}

// accessText words a refusal. RabbitMQ names what was missing from 3.11 on.
func accessText(e *failure.Error) string {
	what := Resource(e.Kind, e.Name, e.VHost)
	switch {
	case e.Detail != "":
		return e.Detail
	case e.Topic:
		what = fmt.Sprintf("topic '%s' in %s", e.Key, what)
	}
	return fmt.Sprintf("%s access to %s refused for user '%s'", e.Action, what, e.User)
}

// ShutdownText is what clients get when the broker stops.
const ShutdownText = "broker forced connection closure with reason 'shutdown'"
