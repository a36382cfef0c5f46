package amqp

import (
	"errors"
	"fmt"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/amqp/amqpwire"
	"fiveways/internal/refusals"
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

// faultRow is what becomes of one sentinel of the semaphores.
type faultRow struct {
	err  error
	code uint16
}

// faults has a row for every sentinel of the semaphores; a test says so. They are of requests in transactions; others have an answer.
var faults = []faultRow{
	{semaphores.ErrNotFound, amqpwire.NotFound},
	{semaphores.ErrNoTask, amqpwire.NotFound},
	{semaphores.ErrDeleted, amqpwire.NotFound},
	{semaphores.ErrNotEmpty, amqpwire.PreconditionFailed},
	{semaphores.ErrOrder, amqpwire.PreconditionFailed},
	{semaphores.ErrInvalid, amqpwire.PreconditionFailed},
	{semaphores.ErrTooMany, amqpwire.PreconditionFailed},
	{semaphores.ErrDiskFull, amqpwire.PreconditionFailed},
	{semaphores.ErrNotActive, amqpwire.PreconditionFailed},
}

// faultOf tells what the client hears about err. An error that nobody foresaw
// is an internal one and says no more.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	if code, text, ok := refusals.Of(err); ok {
		return &fault{code: code, text: text}
	}
	for _, row := range faults {
		if errors.Is(err, row.err) {
			e := &broker.Error{Err: row.err}
			errors.As(err, &e)
			return &fault{code: row.code, text: semjson.Refuse(e).Reason}
		}
	}
	return &fault{code: amqpwire.InternalError}
}
