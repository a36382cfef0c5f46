package selector

import (
	"unsafe"

	"fiveways.dev/fiveways/internal/core/message"
)

// Limits of a selector.
const (
	MaxText  = 8 << 10 // bytes of its text
	MaxDepth = 64      // of nested operators and parentheses; AND and OR add one level, however many parts they join
	MaxList  = 1000    // values after IN
)

// Selector is a compiled condition. It is immutable.
type Selector struct {
	text string
	root *node
}

// Message is the input of a selector. The strings may be views of a buffer; they are not retained.
type Message struct {
	Exchange string // the exchange it was published to
	Key      string // routing key
	Props    []byte // property list as in an Envelope; a malformed one counts as empty
}

// Compile compiles a condition. The error is an *Error.
func Compile(text string) (*Selector, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Selector{text, root}, nil
}

// String returns the source of the selector.
func (s *Selector) String() string { return s.text }

// Match reports whether the condition is true for a message.
func (s *Selector) Match(env message.Envelope) bool {
	exchange, key, props, _ := env.Split()
	return s.MatchMessage(&Message{Exchange: text(exchange), Key: text(key), Props: props})
}

// MatchMessage is Match for a message that is not an envelope yet.
func (s *Selector) MatchMessage(m *Message) bool {
	v := view{m: *m}
	return s.root.test(&v) == yes
}

// text converts b to a string without copying.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
