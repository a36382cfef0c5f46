package forward

import (
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Message is a message in transit, with the properties that routing needs.
type Message struct {
	Env  message.Envelope
	Peek message.Peek

	also [][]byte // further routing keys
}

// Read reads an envelope, which the Message aliases. It returns message.ErrMalformedProperties if
// it cannot.
func Read(env message.Envelope) (Message, error) {
	_, _, props, _ := env.Split()
	peek, err := message.PeekProperties(props)
	m := Message{Env: env, Peek: peek}
	if v, ok := message.HeaderLookup(peek.Headers, "CC"); ok {
		list, _ := v.(message.Array)
		for _, k := range list {
			if key, ok := k.(string); ok {
				m.also = append(m.also, []byte(key))
			}
		}
	}
	return m, err
}

// OneKey reports whether the message has no routing key except that of its envelope.
func (m *Message) OneKey() bool { return m.also == nil }

// Routed returns the message in the form that routing uses.
func (m *Message) Routed() routing.Message {
	p := &m.Peek
	return routing.Message{
		Key: m.Env.Key(), Also: m.also, Headers: p.Headers, MessageID: p.MessageID, CorrelationID: p.CorrelationID,
		Timestamp: uint64(p.Timestamp), Props: p.List, Body: m.Env.Body(),
	}
}

// TTL returns how many ms the message may stay in a queue, -1 if it sets no limit.
func (m *Message) TTL() int64 {
	if n, err := strconv.ParseInt(string(m.Peek.Expiration), 10, 64); err == nil {
		return min(n, MaxDelay)
	}
	return -1
}

// Delay returns how many ms a delayed exchange holds the message; 0 or less means no delay.
func (m *Message) Delay() int64 { return Delay(m.Peek.Headers) }

// EndDelay negates the delay, in a new envelope, after the exchange has held the message.
func (m *Message) EndDelay() {
	props := negateDelay(m.Peek.List)
	exchange, key, _, body := m.Env.Split()
	env := make([]byte, 0, message.EnvelopeSize(len(exchange), len(key), len(props), len(body)))
	m.Env = append(message.AppendEnvelopeHeader(env, exchange, key, props), body...)
	m.Peek, _ = message.PeekProperties(props) // still well-formed
}
