package message

import (
	"encoding/binary"
	"fmt"
)

// Envelope is one message in its stored form:
//
//	u8 length + exchange | u8 length + routing key | u32be length + properties | body, to the end
//
// It is immutable once built and may be shared by any number of queues. The methods assume a valid
// envelope: bytes from outside this process must be checked with CheckEnvelope first. The methods
// return slices that alias the envelope.
type Envelope []byte

// propsLenSize is the width of the length in front of the properties.
const propsLenSize = 4

// AppendEnvelopeHeader appends all of an envelope except the body, which the caller appends next.
// exchange and key must have at most MaxShortStr bytes; the protocols check names when they arrive.
func AppendEnvelopeHeader[S ~string | ~[]byte](dst []byte, exchange, key S, props []byte) []byte {
	dst = AppendShortStr(dst, exchange)
	dst = AppendShortStr(dst, key)
	return AppendLongStr(dst, props)
}

// EnvelopeSize returns the size in bytes of an envelope with parts of these lengths.
func EnvelopeSize(exchange, key, props, body int) int {
	return 1 + exchange + 1 + key + propsLenSize + props + body
}

// Split returns the four parts in one pass.
func (e Envelope) Split() (exchange, key, props, body []byte) {
	n := 1 + int(e[0])
	exchange, e = e[1:n], e[n:]
	n = 1 + int(e[0])
	key, e = e[1:n], e[n:]
	n = propsLenSize + int(binary.BigEndian.Uint32(e))
	return exchange, key, e[propsLenSize:n], e[n:]
}

// Exchange returns the name of the exchange that the message was published to.
func (e Envelope) Exchange() []byte { return e[1 : 1+int(e[0])] }

// Key returns the routing key that the message was published with.
func (e Envelope) Key() []byte {
	rest := e[1+int(e[0]):]
	return rest[1 : 1+int(rest[0])]
}

// Properties returns the property list: flag word and fields.
func (e Envelope) Properties() []byte {
	_, _, props, _ := e.Split()
	return props
}

// Body returns the body that the publisher sent.
func (e Envelope) Body() []byte {
	_, _, _, body := e.Split()
	return body
}

// CheckEnvelope validates the layout of b and of its property list. It must succeed before b is
// used as an Envelope. The error wraps ErrMalformedEnvelope.
func CheckEnvelope(b []byte) error {
	r := NewReader(b)
	r.ShortStr()
	r.ShortStr()
	props := r.LongStr()
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformedEnvelope, err)
	}
	if _, err := PeekProperties(props); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformedEnvelope, err)
	}
	return nil
}
