package amqp

import (
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

const (
	// namePrefixArg is the argument of queue.declare that sets a prefix for names that the server
	// generates (RabbitMQ 4).
	namePrefixArg = "x-name-prefix"
	// maxNamePrefix is its maximum length in bytes.
	maxNamePrefix = 64
)

// serverName generates the name of a queue that was declared without one.
func (ch *channel) serverName(args message.Table) (string, error) {
	if kind, _ := args.Get("x-queue-type"); kind == declareargs.StreamType {
		return "", faultf(amqpcode.PreconditionFailed, "Cannot declare a server-named queue for type rabbit_stream_queue")
	}
	v, ok := args.Get(namePrefixArg)
	if !ok {
		return randomName("amq.gen-"), nil
	}
	rs := amqperr.Resource("queue", "", ch.c.session.VHost())
	prefix, ok := v.(string)
	switch {
	case !ok:
		return "", invalidArg(namePrefixArg, rs, declareargs.UnacceptableType(v))
	case len(prefix) > maxNamePrefix:
		return "", invalidArg(namePrefixArg, rs, fmt.Sprintf("{max_value_exceeded,%d}", len(prefix)))
	}
	prefix = stripLineEnds(prefix)
	if strings.HasPrefix(prefix, reservedPrefix) {
		return "", reservedName(prefix)
	}
	return randomName(prefix), nil
}

// reservedName refuses a name that clients may not declare.
func reservedName(name string) error {
	return faultf(amqpcode.AccessRefused, "queue name '%s' contains reserved prefix 'amq.*'", name)
}
