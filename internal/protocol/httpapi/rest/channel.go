package rest

import (
	"errors"
	"net/http"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/core/failure"
)

// ByChannel refuses as RabbitMQ's management does where it declares, binds, publishes and gets over
// a channel of AMQP: in the words of AMQP. What it does not know stays as it is.
func ByChannel(err error) error {
	code, text, ok := amqperr.Of(err)
	if !ok || errors.Is(err, failure.ErrVHostNotFound) || errors.Is(err, failure.ErrUserNotFound) { // which have statuses of their own
		return err
	}
	switch code {
	case amqpcode.NotFound:
		return Fail(http.StatusNotFound, "not_found", text)
	case amqpcode.AccessRefused, amqpcode.NotAllowed:
		return errAccess
	case amqpcode.ResourceLocked, amqpcode.PreconditionFailed, amqpcode.CommandInvalid:
		return BadRequest(text)
	}
	return err
}

var errAccess = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Access refused."}}
