package rest

import (
	"errors"
	"net/http"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/core/failure"
)

// ByChannel converts errors to refusals in AMQP's words, for paths where RabbitMQ's management API
// declares, binds, publishes and gets over an AMQP channel. It returns other errors unchanged.
func ByChannel(err error) error {
	code, text, ok := amqperr.Of(err)
	if !ok || errors.Is(err, failure.ErrVHostNotFound) || errors.Is(err, failure.ErrUserNotFound) { // these have statuses of their own
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
