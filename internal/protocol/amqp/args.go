package amqp

import (
	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/declareargs"
)

// consumerPriority reads x-priority of basic.consume.
func consumerPriority(args message.Table, rs string) (int, error) {
	const arg = "x-priority"
	v, ok := args.Get(arg)
	if !ok {
		return 0, nil
	}
	n, ok := message.Int(v)
	if !ok {
		return 0, invalidArg(arg, rs, declareargs.NotAnInteger(v))
	}
	return int(n), nil
}

// consumerSelector reads x-selector of basic.consume, nil if it is not set.
func consumerSelector(args message.Table, rs string) (*selector.Selector, error) {
	const arg = "x-selector"
	v, ok := args.Get(arg)
	if !ok {
		return nil, nil
	}
	text, ok := v.(string)
	if !ok {
		return nil, invalidArg(arg, rs, declareargs.UnacceptableType(v))
	}
	s, err := selector.Compile(text)
	if err != nil {
		return nil, invalidArg(arg, rs, err.Error())
	}
	return s, nil
}

// refusedArg returns the fault for a refused argument of a resource, nil if r is nil.
func refusedArg(r *declareargs.Refusal, rs string) error {
	if r == nil {
		return nil
	}
	return faultf(amqpcode.PreconditionFailed, "%s", r.Text(rs))
}

func invalidArg(arg, rs, reason string) error {
	return refusedArg(declareargs.Invalid(arg, reason), rs)
}

// expiration reads the expiration property.
func expiration(b []byte) (int64, error) {
	ms, reason := declareargs.Expiration(b)
	if reason != "" {
		return 0, faultf(amqpcode.PreconditionFailed, "invalid expiration '%s': %s", b, reason)
	}
	return ms, nil
}
