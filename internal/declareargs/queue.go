package declareargs

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// Queue reads the arguments of a queue. Those that mean nothing here are kept and ignored, as
// RabbitMQ does.
func Queue(args message.Table) (catalog.QueuePolicy, *Refusal) {
	p := catalog.DefaultQueuePolicy()
	if _, refused := exchangeName(args, "x-dead-letter-exchange"); refused != nil {
		return p, refused
	}
	if refused := check(queueArgs, args, &p); refused != nil {
		return p, refused
	}
	rabbitKind := classicKind
	if v, ok := args.Get("x-queue-type"); ok {
		switch kind, ok := v.(string); {
		case !ok:
			return p, Invalid("x-queue-type", UnacceptableType(v))
		case kind == "quorum":
			quorumDefaults(args, &p)
			rabbitKind = "rabbit_quorum_queue"
		case kind != "classic":
			return p, &Refusal{Arg: "x-queue-type", Reason: kind, form: unsupported}
		}
	}
	return p, refuseStreams(args, streamQueueArgs, rabbitKind)
}

// quorumDeliveryLimit is the delivery limit of a quorum queue that names none.
const quorumDeliveryLimit = 20

// quorumDefaults gives a queue what RabbitMQ's quorum queues have unasked.
func quorumDefaults(args message.Table, p *catalog.QueuePolicy) {
	p.CountDeliveries, p.ActiveByRank = true, true
	if _, ok := args.Get("x-delivery-limit"); !ok {
		p.DeliveryLimit = quorumDeliveryLimit
	}
}

// Compared names the arguments that a second declaration of a queue must repeat: those that mean
// something, and the type unless it is the usual one.
func Compared(args message.Table) []string {
	names := make([]string, len(queueArgs), len(queueArgs)+1)
	for i, a := range queueArgs {
		names[i] = a.name
	}
	if kind, ok := args.Get("x-queue-type"); ok && kind != "classic" {
		names = append(names, "x-queue-type")
	}
	return names
}

// Exchange reads the arguments of an exchange: the one that takes what no binding matched ("" is
// none), and what it remembers of messages.
func Exchange(args message.Table) (alternate string, buffer catalog.QueuePolicy, refused *Refusal) {
	buffer = catalog.DefaultQueuePolicy()
	if alternate, refused = exchangeName(args, "alternate-exchange"); refused == nil {
		refused = check(dedupArgs[:], args, &buffer)
	}
	return alternate, buffer, refused
}

// exchangeName reads an argument that names an exchange, "" when it is not there.
func exchangeName(args message.Table, arg string) (string, *Refusal) {
	v, ok := args.Get(arg)
	if !ok {
		return "", nil
	}
	name, ok := v.(string)
	if !ok || len(name) > message.MaxShortStr {
		return "", &Refusal{Arg: arg, Reason: message.TypeName(v), form: wrongType}
	}
	return name, nil
}

// There are no streams of RabbitMQ here. An argument that only they have asks for something that no
// other queue does, so it is refused and not ignored, as RabbitMQ does for queues of other types.
var (
	streamQueueArgs    = []string{"x-max-age", "x-stream-max-segment-size-bytes", "x-stream-filter-size-bytes"}
	streamConsumerArgs = []string{"x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered"}
)

// classicKind is what RabbitMQ calls a queue of no special type.
const classicKind = "rabbit_classic_queue"

// StreamConsumer refuses arguments of a consumer that only streams have.
func StreamConsumer(args message.Table) *Refusal {
	return refuseStreams(args, streamConsumerArgs, classicKind)
}

// refuseStreams refuses those of names that are among args, for a queue that is called kind in
// RabbitMQ.
func refuseStreams(args message.Table, names []string, kind string) *Refusal {
	for _, name := range names {
		if _, ok := args.Get(name); ok {
			return &Refusal{Arg: name, Reason: kind, form: notOfType}
		}
	}
	return nil
}

// check reads those of the known arguments that are there.
func check(known []arg, args message.Table, p *catalog.QueuePolicy) *Refusal {
	for _, a := range known {
		if v, ok := args.Get(a.name); ok {
			if reason := a.check(v, args, p); reason != "" {
				return Invalid(a.name, reason)
			}
		}
	}
	return nil
}

func queueMode(v any, _ message.Table, _ *catalog.QueuePolicy) string {
	switch mode, ok := v.(string); {
	case !ok:
		return UnacceptableType(v)
	case mode != "default" && mode != "lazy":
		return fmt.Sprintf("\"unsupported queue mode '%v'\"", v)
	}
	return ""
}

func queueVersion(v any, _ message.Table, _ *catalog.QueuePolicy) string {
	var n int64
	if reason := count(v, &n); reason != "" || n == 1 || n == 2 {
		return reason
	}
	return fmt.Sprintf("\"unsupported queue version '%d'\"", n)
}
