package declareargs

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// Declare sets the fields of a queue declaration that its arguments determine.
func Declare(spec *catalog.QueueSpec) (refused *Refusal) {
	spec.Compared = Compared(spec.Args)
	if spec.Policy, refused = Queue(spec.Args); refused == nil && spec.Policy.Stream {
		refused = streamProperties(spec)
	}
	return refused
}

// Queue parses the arguments of a queue. Arguments without a meaning here are kept and ignored, as
// in RabbitMQ.
func Queue(args message.Table) (catalog.QueuePolicy, *Refusal) {
	kind, typed := args.Get("x-queue-type")
	if kind == StreamType {
		return streamQueue(args)
	}
	p := catalog.DefaultQueuePolicy()
	if _, refused := exchangeName(args, "x-dead-letter-exchange"); refused != nil {
		return p, refused
	}
	if refused := check(queueArgs, args, &p); refused != nil {
		return p, refused
	}
	rabbitKind := classicKind
	if typed {
		switch name, ok := kind.(string); {
		case !ok:
			return p, Invalid("x-queue-type", UnacceptableType(kind))
		case name == "quorum":
			quorumDefaults(args, &p)
			rabbitKind = quorumKind
		case name != "classic":
			return p, &Refusal{Arg: "x-queue-type", Reason: name, form: unsupported}
		}
	}
	return p, refuse(args, ofStreams, rabbitKind)
}

// quorumDeliveryLimit is the default delivery limit of a quorum queue.
const quorumDeliveryLimit = 20

// quorumDefaults sets the defaults of RabbitMQ's quorum queues.
func quorumDefaults(args message.Table, p *catalog.QueuePolicy) {
	p.CountDeliveries, p.ActiveByRank = true, true
	if _, ok := args.Get("x-delivery-limit"); !ok {
		p.DeliveryLimit = quorumDeliveryLimit
	}
}

// Compared returns the names of the arguments that must be equal in a second declaration of a
// queue: those with a meaning, and the type unless it is the default.
func Compared(args message.Table) []string {
	kind, typed := args.Get("x-queue-type")
	known := queueArgs
	if kind == StreamType {
		known = streamArgs
	}
	var names []string
	if typed && kind != "classic" {
		names = append(names, "x-queue-type")
	}
	for _, a := range known {
		names = append(names, a.name)
	}
	return names
}

// Exchange parses the arguments of an exchange: the alternate exchange ("" is none), and the
// deduplication settings.
func Exchange(args message.Table) (alternate string, buffer catalog.QueuePolicy, refused *Refusal) {
	buffer = catalog.DefaultQueuePolicy()
	if alternate, refused = exchangeName(args, "alternate-exchange"); refused == nil {
		refused = check(dedupArgs[:], args, &buffer)
	}
	return alternate, buffer, refused
}

// exchangeName returns an argument that names an exchange, or "" if it is missing.
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

// check parses the known arguments that are present.
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
