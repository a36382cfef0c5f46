package amqpwire

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/message"
)

// ChannelOpen opens a channel.
type ChannelOpen struct{}

// ID is IDChannelOpen.
func (*ChannelOpen) ID() MethodID { return IDChannelOpen }

// Decode implements Method.
func (*ChannelOpen) Decode(args []byte) error {
	r := message.NewReader(args)
	r.ShortStr() // reserved
	return done(&r, IDChannelOpen)
}

// Append implements Method.
func (*ChannelOpen) Append(dst []byte) []byte {
	dst = appendID(dst, IDChannelOpen)
	return append(dst, 0) // reserved
}

// ChannelOpenOk confirms ChannelOpen.
type ChannelOpenOk struct{}

// ID is IDChannelOpenOk.
func (*ChannelOpenOk) ID() MethodID { return IDChannelOpenOk }

// Decode implements Method.
func (*ChannelOpenOk) Decode(args []byte) error {
	r := message.NewReader(args)
	r.LongStr() // reserved
	return done(&r, IDChannelOpenOk)
}

// Append implements Method.
func (*ChannelOpenOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDChannelOpenOk)
	return append(dst, 0, 0, 0, 0) // reserved
}

// ChannelFlow asks the peer to pause or resume its content.
type ChannelFlow struct {
	Active bool
}

// ID is IDChannelFlow.
func (*ChannelFlow) ID() MethodID { return IDChannelFlow }

// Decode implements Method.
func (m *ChannelFlow) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Active = r.Uint8()&1 != 0
	return done(&r, IDChannelFlow)
}

// Append implements Method.
func (m *ChannelFlow) Append(dst []byte) []byte {
	dst = appendID(dst, IDChannelFlow)
	return append(dst, bit(m.Active))
}

// ChannelFlowOk confirms ChannelFlow.
type ChannelFlowOk struct {
	Active bool
}

// ID is IDChannelFlowOk.
func (*ChannelFlowOk) ID() MethodID { return IDChannelFlowOk }

// Decode implements Method.
func (m *ChannelFlowOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Active = r.Uint8()&1 != 0
	return done(&r, IDChannelFlowOk)
}

// Append implements Method.
func (m *ChannelFlowOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDChannelFlowOk)
	return append(dst, bit(m.Active))
}

// ChannelClose ends a channel; ClassID and MethodID name the method that failed, or are 0. Append
// cuts ReplyText to what fits.
type ChannelClose struct {
	ReplyCode uint16
	ReplyText string
	ClassID   uint16
	MethodID  uint16
}

// ID is IDChannelClose.
func (*ChannelClose) ID() MethodID { return IDChannelClose }

// Decode implements Method.
func (m *ChannelClose) Decode(args []byte) error { return m.decode(args, IDChannelClose) }

func (m *ChannelClose) decode(args []byte, id MethodID) error {
	r := message.NewReader(args)
	m.ReplyCode = r.Uint16()
	m.ReplyText = shortString(&r)
	m.ClassID = r.Uint16()
	m.MethodID = r.Uint16()
	return done(&r, id)
}

// Append implements Method.
func (m *ChannelClose) Append(dst []byte) []byte { return m.append(dst, IDChannelClose) }

func (m *ChannelClose) append(dst []byte, id MethodID) []byte {
	dst = appendID(dst, id)
	dst = binary.BigEndian.AppendUint16(dst, m.ReplyCode)
	dst = message.AppendShortStr(dst, cut(m.ReplyText))
	dst = binary.BigEndian.AppendUint16(dst, m.ClassID)
	return binary.BigEndian.AppendUint16(dst, m.MethodID)
}

// ChannelCloseOk confirms ChannelClose.
type ChannelCloseOk struct{}

// ID is IDChannelCloseOk.
func (*ChannelCloseOk) ID() MethodID { return IDChannelCloseOk }

// Decode implements Method.
func (*ChannelCloseOk) Decode(args []byte) error { return noArgs(args, IDChannelCloseOk) }

// Append implements Method.
func (*ChannelCloseOk) Append(dst []byte) []byte { return appendID(dst, IDChannelCloseOk) }
