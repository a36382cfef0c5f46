package refusals

import (
	"errors"
	"fmt"

	"fiveways/internal/broker"
)

// Codes of replies in AMQP 0-9-1.
const (
	ConnectionForced   = 320
	AccessRefused      = 403
	NotFound           = 404
	ResourceLocked     = 405
	PreconditionFailed = 406
	CommandInvalid     = 503
	NotAllowed         = 530
	InternalError      = 541
)

// Resource is RabbitMQ's way to name a thing in an error text.
func Resource(kind, name, vhost string) string {
	return fmt.Sprintf("%s '%s' in vhost '%s'", kind, name, vhost)
}

// Of words a failure of the engine: the code of the reply, and what RabbitMQ writes behind its name. ok is false for what is none of the engine's.
func Of(err error) (code uint16, text string, ok bool) {
	for _, row := range rows {
		if errors.Is(err, row.err) {
			e := &broker.Error{Err: row.err}
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
	text func(e *broker.Error) string
}

const exclusiveText = "cannot obtain exclusive access to locked %s. It could be originally declared on another connection " +
	"or the exclusive property value does not match that of the original declaration."

// rows has one for every sentinel of the broker; a test says so.
var rows = []row{
	{broker.ErrQueueNotFound, NotFound, func(e *broker.Error) string { return "no " + Resource("queue", e.Name, e.VHost) }},
	{broker.ErrExchangeNotFound, NotFound, func(e *broker.Error) string { return "no " + Resource("exchange", e.Name, e.VHost) }},
	{broker.ErrVHostNotFound, NotAllowed, func(e *broker.Error) string { return fmt.Sprintf("vhost %s not found", e.VHost) }},
	{broker.ErrUserNotFound, NotAllowed, func(e *broker.Error) string { return fmt.Sprintf("user %s not found", e.Name) }},
	{broker.ErrVHostRefused, NotAllowed, vhostRefused},
	{broker.ErrVHostDeleted, ConnectionForced, func(e *broker.Error) string { return fmt.Sprintf("vhost '%s' is down", e.VHost) }},
	{broker.ErrUserDeleted, ConnectionForced, func(e *broker.Error) string { return fmt.Sprintf("user '%s' is deleted", e.Name) }},
	{broker.ErrVHostConnections, NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("%s: connection limit (%v) is reached", vhostRefused(e), e.Current)
	}},
	{broker.ErrUserConnections, NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("connection refused for user '%s': user connection limit (%v) is reached", e.User, e.Current)
	}},
	{broker.ErrUserChannels, NotAllowed, func(e *broker.Error) string {
		return fmt.Sprintf("number of channels opened for user '%s' has reached the maximum allowed user limit of (%v)", e.User, e.Current)
	}},
	{broker.ErrQueueLimit, PreconditionFailed, func(e *broker.Error) string {
		return fmt.Sprintf("cannot declare queue '%s': queue limit in vhost '%s' (%v) is reached", e.Name, e.VHost, e.Current)
	}},
	{broker.ErrInvalidName, PreconditionFailed, func(e *broker.Error) string { return "invalid name of a " + e.Kind + ": " + e.Detail }},
	{broker.ErrInvalidPassword, PreconditionFailed, func(*broker.Error) string { return "invalid password" }},
	{broker.ErrInvalidPattern, PreconditionFailed, func(e *broker.Error) string { return fmt.Sprintf("invalid pattern '%s': %s", e.Name, e.Detail) }},
	{broker.ErrInvalidParameter, PreconditionFailed, func(e *broker.Error) string {
		return fmt.Sprintf("invalid value of parameter '%s': %s", e.Name, e.Detail)
	}},
	{broker.ErrInvalidLimit, PreconditionFailed, func(e *broker.Error) string { return fmt.Sprintf("unknown limit '%s'", e.Detail) }},
	{broker.ErrInequivalent, PreconditionFailed, inequivalentText},
	{broker.ErrExclusive, ResourceLocked, func(e *broker.Error) string { return fmt.Sprintf(exclusiveText, Resource("queue", e.Name, e.VHost)) }},
	{broker.ErrInUse, PreconditionFailed, func(e *broker.Error) string { return Resource(e.Kind, e.Name, e.VHost) + " in use" }},
	{broker.ErrNotEmpty, PreconditionFailed, func(e *broker.Error) string { return Resource(e.Kind, e.Name, e.VHost) + " not empty" }},
	{broker.ErrReservedName, AccessRefused, func(e *broker.Error) string {
		return fmt.Sprintf("%s name '%s' contains reserved prefix 'amq.*'", e.Kind, e.Name)
	}},
	{broker.ErrDefaultExchange, AccessRefused, func(*broker.Error) string { return "operation not permitted on the default exchange" }},
	{broker.ErrSystemExchange, AccessRefused, func(e *broker.Error) string {
		return fmt.Sprintf("deletion of system %s not allowed", Resource("exchange", e.Name, e.VHost))
	}},
	{broker.ErrInternalExchange, AccessRefused, func(e *broker.Error) string {
		return "cannot publish to internal " + Resource("exchange", e.Name, e.VHost)
	}},
	{broker.ErrWrongKind, PreconditionFailed, func(e *broker.Error) string {
		return Resource("queue", e.Name, e.VHost) + " is of another kind"
	}},
	{broker.ErrDeadlock, PreconditionFailed, func(e *broker.Error) string { return Resource("queue", e.Name, e.VHost) + ": deadlock" }},
	{broker.ErrExclusiveConsumer, AccessRefused, func(e *broker.Error) string { return Resource("queue", e.Name, e.VHost) + " in exclusive use" }},
	{broker.ErrAccessRefused, AccessRefused, accessText},
	{broker.ErrUnknownExchangeType, CommandInvalid, func(e *broker.Error) string {
		if e.Detail == "" {
			return "invalid exchange type ''"
		}
		return fmt.Sprintf("unknown exchange type '%s'", e.Detail)
	}},
	{broker.ErrInvalidBinding, PreconditionFailed, func(e *broker.Error) string { return e.Detail }},
	{broker.ErrTooLarge, PreconditionFailed, func(e *broker.Error) string { return e.Kind + " too large" }},
	{broker.ErrNoFront, PreconditionFailed, func(*broker.Error) string { return broker.ErrNoFront.Error() }},
	{broker.ErrAlreadyQueued, PreconditionFailed, jobText},
	{broker.ErrLocked, PreconditionFailed, jobText},
	{broker.ErrBackoff, PreconditionFailed, jobText},
	{broker.ErrStale, PreconditionFailed, jobText},
	{broker.ErrRejected, PreconditionFailed, func(*broker.Error) string { return "partial tx completion" }},
	{broker.ErrLogFailed, InternalError, func(*broker.Error) string { return "the broker's log has failed and takes no more writes" }},
	{broker.ErrClosed, ConnectionForced, func(*broker.Error) string { return ShutdownText }},
}

func jobText(e *broker.Error) string { return fmt.Sprintf("job '%s': %v", e.Name, e.Err) }

func vhostRefused(e *broker.Error) string {
	return fmt.Sprintf("access to vhost '%s' refused for user '%s'", e.VHost, e.User)
}

// accessText words a refusal. RabbitMQ names what was missing from 3.11 on.
func accessText(e *broker.Error) string {
	what := Resource(e.Kind, e.Name, e.VHost)
	switch {
	case e.Detail != "":
		return e.Detail
	case e.Topic:
		what = fmt.Sprintf("topic '%s' in %s", e.Key, what)
	}
	return fmt.Sprintf("%s access to %s refused for user '%s'", e.Action, what, e.User)
}

// ShutdownText is what clients hear when the broker stops.
const ShutdownText = "broker forced connection closure with reason 'shutdown'"
