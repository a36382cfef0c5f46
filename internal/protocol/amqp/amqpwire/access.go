package amqpwire

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/message"
)

// AccessRequest asks for an access ticket. It dates from AMQP 0-8, and old clients still send it.
type AccessRequest struct {
	Realm     string
	Exclusive bool
	Passive   bool
	Active    bool
	Write     bool
	Read      bool
}

// ID is IDAccessRequest.
func (*AccessRequest) ID() MethodID { return IDAccessRequest }

// Decode implements Method.
func (m *AccessRequest) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Realm = shortString(&r)
	unpack(r.Uint8(), &m.Exclusive, &m.Passive, &m.Active, &m.Write, &m.Read)
	return done(&r, IDAccessRequest)
}

// Append implements Method.
func (m *AccessRequest) Append(dst []byte) []byte {
	dst = appendID(dst, IDAccessRequest)
	dst = message.AppendShortStr(dst, m.Realm)
	return append(dst, bits(m.Exclusive, m.Passive, m.Active, m.Write, m.Read))
}

// AccessRequestOk grants a ticket.
type AccessRequestOk struct {
	Ticket uint16
}

// ID is IDAccessRequestOk.
func (*AccessRequestOk) ID() MethodID { return IDAccessRequestOk }

// Decode implements Method.
func (m *AccessRequestOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Ticket = r.Uint16()
	return done(&r, IDAccessRequestOk)
}

// Append implements Method.
func (m *AccessRequestOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDAccessRequestOk)
	return binary.BigEndian.AppendUint16(dst, m.Ticket)
}
