package amqpwire

import (
	"fiveways.dev/fiveways/internal/core/message"
)

// ConfirmSelect puts a channel in confirm mode.
type ConfirmSelect struct {
	NoWait bool
}

// ID is IDConfirmSelect.
func (*ConfirmSelect) ID() MethodID { return IDConfirmSelect }

// Decode implements Method.
func (m *ConfirmSelect) Decode(args []byte) error {
	r := message.NewReader(args)
	m.NoWait = r.Uint8()&1 != 0
	return done(&r, IDConfirmSelect)
}

// Append implements Method.
func (m *ConfirmSelect) Append(dst []byte) []byte {
	dst = appendID(dst, IDConfirmSelect)
	return append(dst, bit(m.NoWait))
}

// ConfirmSelectOk confirms ConfirmSelect.
type ConfirmSelectOk struct{}

// ID is IDConfirmSelectOk.
func (*ConfirmSelectOk) ID() MethodID { return IDConfirmSelectOk }

// Decode implements Method.
func (*ConfirmSelectOk) Decode(args []byte) error { return noArgs(args, IDConfirmSelectOk) }

// Append implements Method.
func (*ConfirmSelectOk) Append(dst []byte) []byte { return appendID(dst, IDConfirmSelectOk) }
