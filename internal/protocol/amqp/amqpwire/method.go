package amqpwire

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// Method is one method of the protocol: its fields are its arguments.
type Method interface {
	ID() MethodID
	arguments(*arguments) // goes through all arguments in the order of the specification
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
	a := pool.Get().(*arguments)
	defer a.release()
	a.Reset(args)
	m.arguments(a)
	if err := end(&a.Reader, id); err != nil {
		return nil, err
	}
	return m, nil
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
