package rest

import (
	"errors"
	"net/http"

	"fiveways/internal/broker"
	"fiveways/internal/refusals"
)

// ByChannel refuses as RabbitMQ's management does where it declares, binds, publishes and gets over a channel of AMQP: in the words of AMQP. What it
// does not know stays as it is.
func ByChannel(err error) error {
	code, text, ok := refusals.Of(err)
	if !ok || errors.Is(err, broker.ErrVHostNotFound) || errors.Is(err, broker.ErrUserNotFound) { // which have statuses of their own
		return err
	}
	switch code {
	case refusals.NotFound:
		return Fail(http.StatusNotFound, "not_found", text)
	case refusals.AccessRefused, refusals.NotAllowed:
		return errAccess
	case refusals.ResourceLocked, refusals.PreconditionFailed, refusals.CommandInvalid:
		return BadRequest(text)
	}
	return err
}

var errAccess = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Access refused."}}
