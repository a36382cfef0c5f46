package amqpwire

import (
	"fmt"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
)

// Method is one method of the protocol. Decode replaces the method's fields by the arguments in
// args (what follows the two ids); Append appends ids and arguments, which is the payload of a
// method frame.
type Method interface {
	ID() MethodID
	Decode(args []byte) error
	Append(dst []byte) []byte
}

// MethodID is class id << 16 | method id.
type MethodID uint32

// Class is the class id.
func (id MethodID) Class() uint16 { return uint16(id >> 16) }

// Method is the method id within the class.
func (id MethodID) Method() uint16 { return uint16(id) }

// String is the name that error texts use, such as queue.declare.
func (id MethodID) String() string {
	if m, ok := methods[id]; ok {
		return m.name
	}
	return fmt.Sprintf("%d.%d", id.Class(), id.Method())
}

// HasContent reports whether a content header and body follow the method.
func (id MethodID) HasContent() bool {
	switch id {
	case IDBasicPublish, IDBasicReturn, IDBasicDeliver, IDBasicGetOk:
		return true
	}
	return false
}

// SplitMethod splits the payload of a method frame into id and arguments. args aliases payload.
func SplitMethod(payload []byte) (id MethodID, args []byte, err error) {
	r := message.NewReader(payload)
	id = MethodID(r.Uint32())
	if r.Err() != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrMalformedMethod, r.Err())
	}
	return id, r.Bytes(r.Len()), nil
}

// DecodeMethod decodes the payload of a method frame, from either side of a connection. The error
// is an *UnknownMethodError or wraps ErrMalformedMethod.
func DecodeMethod(payload []byte) (Method, error) {
	id, args, err := SplitMethod(payload)
	if err != nil {
		return nil, err
	}
	known, ok := methods[id]
	if !ok {
		return nil, &UnknownMethodError{ID: id}
	}
	m := known.alloc()
	if err := m.Decode(args); err != nil {
		return nil, err
	}
	return m, nil
}

// done ends every Decode. It returns an error if arguments were missing or bytes are left.
func done(r *message.Reader, id MethodID) error {
	if r.Err() == nil && r.Len() == 0 {
		return nil
	}
	return malformed(r, id)
}

// malformed is separate so that done can be inlined.
func malformed(r *message.Reader, id MethodID) error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %v: %w", ErrMalformedMethod, id, err)
	}
	return fmt.Errorf("%w: %v: %d bytes after the last argument", ErrMalformedMethod, id, r.Len())
}

// noArgs is the Decode of the methods without arguments.
func noArgs(args []byte, id MethodID) error {
	r := message.NewReader(args)
	return done(&r, id)
}

func shortString(r *message.Reader) string { return string(r.ShortStr()) }

// name reads a short string that names something, which must be UTF-8. Short strings of messages
// may hold any bytes.
func name(r *message.Reader) string {
	b := r.ShortStr()
	if !utf8.Valid(b) {
		r.Fail(ErrNotUTF8)
		return ""
	}
	return string(b)
}

// appendID appends the two ids.
func appendID(dst []byte, id MethodID) []byte {
	return append(dst, byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

// bit encodes a bit argument that stands alone.
func bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// bits packs up to eight consecutive bit arguments into one octet, the first in the lowest bit
// (section 4.2.5.2).
func bits(flags ...bool) byte {
	var octet byte
	for i, set := range flags {
		if set {
			octet |= 1 << i
		}
	}
	return octet
}

// unpack is the reverse of bits.
func unpack(octet byte, flags ...*bool) {
	for i, flag := range flags {
		*flag = octet&(1<<i) != 0
	}
}
