package routing

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// Buffer is an exchange buffer: a queue that belongs to an exchange and holds messages or copies of
// them.
type Buffer struct {
	Queue QueueID // 0: none
	Copy  bool    // it gets a copy, and routing continues with the bindings; otherwise the message stops here
	// Holds reports whether a message with these headers stops in the buffer; nil means that every
	// message does. Others pass it, so that exchanges bound in a cycle do not pass a message to
	// each other forever.
	Holds func(headers []byte) bool
}

// Past is the set of buffers that a message passes.
type Past uint8

const (
	PastNone  Past = iota // it stops at each buffer
	PastFirst             // it leaves the buffer of the exchange where routing starts
	PastAll               // it passes all, to find the queues that would finally get it with the current bindings
)

// Buffer returns the buffer of the exchange.
func (x *Exchange) Buffer() Buffer { return x.buffer }

// SetBuffer sets the buffer of an exchange. It returns ErrNoExchange if there is no such exchange.
func (t *Table) SetBuffer(name string, buffer Buffer) (*Table, error) {
	x, ok := t.exchanges.Get(name)
	if !ok {
		return t, &Error{Kind: ErrNoExchange, Exchange: name}
	}
	changed := *x
	changed.buffer = buffer
	next := t.edit()
	next.exchanges.Set(name, &changed)
	return next, nil
}

// atBuffer adds the buffer of x to the result unless the message passes it, and reports whether the
// message stops there.
func (r *Route) atBuffer(x *Exchange, m *Message, first bool) bool {
	if m.Past == PastAll || m.Past == PastFirst && first {
		return false
	}
	if x.buffer.Holds != nil {
		r.ByKey = false
		if !x.buffer.Holds(m.Headers) {
			return false
		}
	}
	r.addQueue(x.buffer.Queue)
	r.matched = !x.buffer.Copy // a copy does not replace the alternate exchange
	return !x.buffer.Copy
}

// newDelayed returns the matcher of the type that a delayed exchange uses when a message is due.
func newDelayed(spec *ExchangeSpec) (matcher, error) {
	v, _ := spec.Args.Get("x-delayed-type")
	inner, ok := v.(string)
	switch {
	case !ok:
		return nil, &Error{ErrInvalidArgument, spec.Name, "Invalid argument, 'x-delayed-type' must be an existing exchange type"}
	case inner == TypeDelayed || inner == TypeHistory || !ValidType(inner):
		return nil, &Error{ErrInvalidArgument, spec.Name, fmt.Sprintf("unknown exchange type '%s'", inner)}
	}
	by := *spec
	by.Type = inner
	return newMatcher(&by)
}

// defaultHistory is how many messages a recent-history exchange keeps by default.
const defaultHistory = 20

// HistoryLength returns how many messages a recent-history exchange keeps. It returns
// ErrInvalidArgument if the argument is invalid.
func HistoryLength(args message.Table) (int64, error) {
	v, ok := args.Get("x-recent-history-length")
	if !ok {
		return defaultHistory, nil
	}
	n, ok := message.Int(v)
	if !ok || n <= 0 {
		text := fmt.Sprintf("Invalid argument %s, 'x-recent-history-length' must be a positive integer", asRabbitMQ(v))
		return 0, &Error{Kind: ErrInvalidArgument, Text: text}
	}
	return n, nil
}

// asRabbitMQ returns a value in the notation of RabbitMQ's error texts.
func asRabbitMQ(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf(`<<"%s">>`, v)
	case nil:
		return "undefined"
	}
	return fmt.Sprint(v)
}

func newHistory(spec *ExchangeSpec) (matcher, error) {
	if _, err := HistoryLength(spec.Args); err != nil {
		return nil, fmt.Errorf("exchange %q: %w", spec.Name, err)
	}
	return fanout{}, nil
}
