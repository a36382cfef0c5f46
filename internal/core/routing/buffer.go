package routing

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// Buffer is an exchange buffer: a queue that belongs to an exchange, where messages wait or are
// remembered.
type Buffer struct {
	Queue QueueID // 0 = none
	Copy  bool    // it gets a copy, and the bindings are followed all the same; else the message stops there
	// Holds reports whether a message with these headers has business there; nil: each has. What
	// has none goes past, so that exchanges that are bound in a circle do not hand it to each other
	// for ever.
	Holds func(headers []byte) bool
}

// Past says which buffers a message does not stop at.
type Past uint8

const (
	PastNone  Past = iota // it stops at each
	PastFirst             // it comes out of the buffer of the exchange where the walk begins
	PastAll               // which queues would get it in the end, as the bindings are now
)

// Buffer returns the buffer of the exchange.
func (x *Exchange) Buffer() Buffer { return x.buffer }

// SetBuffer gives an exchange its buffer. Error: ErrNoExchange.
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

// atBuffer adds the buffer of x to the result where the message does not go past it, and reports
// whether the message stops there.
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
	r.matched = !x.buffer.Copy // a copy is no reason to leave out the alternate exchange
	return !x.buffer.Copy
}

// newDelayed returns the matcher of the type that a delayed exchange routes by when a message is
// due.
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

// defaultHistory is how many messages a recent-history exchange remembers that names no number.
const defaultHistory = 20

// HistoryLength reads how many messages a recent-history exchange remembers. Error:
// ErrInvalidArgument.
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

// asRabbitMQ writes a value as RabbitMQ's error texts do.
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
