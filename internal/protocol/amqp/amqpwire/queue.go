package amqpwire

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/message"
)

// QueueDeclare creates a queue, or checks it when Passive. An empty name asks the server for one.
type QueueDeclare struct {
	Queue      string
	Passive    bool
	Durable    bool
	Exclusive  bool
	AutoDelete bool
	NoWait     bool
	Arguments  message.Table
}

// ID is IDQueueDeclare.
func (*QueueDeclare) ID() MethodID { return IDQueueDeclare }

// Decode implements Method.
func (m *QueueDeclare) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	unpack(r.Uint8(), &m.Passive, &m.Durable, &m.Exclusive, &m.AutoDelete, &m.NoWait)
	m.Arguments = r.Table()
	return done(&r, IDQueueDeclare)
}

// Append implements Method.
func (m *QueueDeclare) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueDeclare)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	dst = append(dst, bits(m.Passive, m.Durable, m.Exclusive, m.AutoDelete, m.NoWait))
	return message.AppendTable(dst, m.Arguments)
}

// QueueDeclareOk confirms QueueDeclare; MessageCount counts ready messages.
type QueueDeclareOk struct {
	Queue         string
	MessageCount  uint32
	ConsumerCount uint32
}

// ID is IDQueueDeclareOk.
func (*QueueDeclareOk) ID() MethodID { return IDQueueDeclareOk }

// Decode implements Method.
func (m *QueueDeclareOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Queue = shortString(&r)
	m.MessageCount = r.Uint32()
	m.ConsumerCount = r.Uint32()
	return done(&r, IDQueueDeclareOk)
}

// Append implements Method.
func (m *QueueDeclareOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueDeclareOk)
	dst = message.AppendShortStr(dst, m.Queue)
	dst = binary.BigEndian.AppendUint32(dst, m.MessageCount)
	return binary.BigEndian.AppendUint32(dst, m.ConsumerCount)
}

// QueueBind binds a queue to an exchange.
type QueueBind struct {
	Queue      string
	Exchange   string
	RoutingKey string
	NoWait     bool
	Arguments  message.Table
}

// ID is IDQueueBind.
func (*QueueBind) ID() MethodID { return IDQueueBind }

// Decode implements Method.
func (m *QueueBind) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	m.Exchange = name(&r)
	m.RoutingKey = name(&r)
	m.NoWait = r.Uint8()&1 != 0
	m.Arguments = r.Table()
	return done(&r, IDQueueBind)
}

// Append implements Method.
func (m *QueueBind) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueBind)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	dst = message.AppendShortStr(dst, m.Exchange)
	dst = message.AppendShortStr(dst, m.RoutingKey)
	dst = append(dst, bit(m.NoWait))
	return message.AppendTable(dst, m.Arguments)
}

// QueueBindOk confirms QueueBind.
type QueueBindOk struct{}

// ID is IDQueueBindOk.
func (*QueueBindOk) ID() MethodID { return IDQueueBindOk }

// Decode implements Method.
func (*QueueBindOk) Decode(args []byte) error { return noArgs(args, IDQueueBindOk) }

// Append implements Method.
func (*QueueBindOk) Append(dst []byte) []byte { return appendID(dst, IDQueueBindOk) }

// QueuePurge drops the ready messages of a queue.
type QueuePurge struct {
	Queue  string
	NoWait bool
}

// ID is IDQueuePurge.
func (*QueuePurge) ID() MethodID { return IDQueuePurge }

// Decode implements Method.
func (m *QueuePurge) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	m.NoWait = r.Uint8()&1 != 0
	return done(&r, IDQueuePurge)
}

// Append implements Method.
func (m *QueuePurge) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueuePurge)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	return append(dst, bit(m.NoWait))
}

// QueuePurgeOk confirms QueuePurge with the number of messages dropped.
type QueuePurgeOk struct {
	MessageCount uint32
}

// ID is IDQueuePurgeOk.
func (*QueuePurgeOk) ID() MethodID { return IDQueuePurgeOk }

// Decode implements Method.
func (m *QueuePurgeOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.MessageCount = r.Uint32()
	return done(&r, IDQueuePurgeOk)
}

// Append implements Method.
func (m *QueuePurgeOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueuePurgeOk)
	return binary.BigEndian.AppendUint32(dst, m.MessageCount)
}

// QueueDelete removes a queue.
type QueueDelete struct {
	Queue    string
	IfUnused bool
	IfEmpty  bool
	NoWait   bool
}

// ID is IDQueueDelete.
func (*QueueDelete) ID() MethodID { return IDQueueDelete }

// Decode implements Method.
func (m *QueueDelete) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	unpack(r.Uint8(), &m.IfUnused, &m.IfEmpty, &m.NoWait)
	return done(&r, IDQueueDelete)
}

// Append implements Method.
func (m *QueueDelete) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueDelete)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	return append(dst, bits(m.IfUnused, m.IfEmpty, m.NoWait))
}

// QueueDeleteOk confirms QueueDelete with the number of messages deleted with the queue.
type QueueDeleteOk struct {
	MessageCount uint32
}

// ID is IDQueueDeleteOk.
func (*QueueDeleteOk) ID() MethodID { return IDQueueDeleteOk }

// Decode implements Method.
func (m *QueueDeleteOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.MessageCount = r.Uint32()
	return done(&r, IDQueueDeleteOk)
}

// Append implements Method.
func (m *QueueDeleteOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueDeleteOk)
	return binary.BigEndian.AppendUint32(dst, m.MessageCount)
}

// QueueUnbind removes a binding of a queue. It has no NoWait.
type QueueUnbind struct {
	Queue      string
	Exchange   string
	RoutingKey string
	Arguments  message.Table
}

// ID is IDQueueUnbind.
func (*QueueUnbind) ID() MethodID { return IDQueueUnbind }

// Decode implements Method.
func (m *QueueUnbind) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	m.Exchange = name(&r)
	m.RoutingKey = name(&r)
	m.Arguments = r.Table()
	return done(&r, IDQueueUnbind)
}

// Append implements Method.
func (m *QueueUnbind) Append(dst []byte) []byte {
	dst = appendID(dst, IDQueueUnbind)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	dst = message.AppendShortStr(dst, m.Exchange)
	dst = message.AppendShortStr(dst, m.RoutingKey)
	return message.AppendTable(dst, m.Arguments)
}

// QueueUnbindOk confirms QueueUnbind.
type QueueUnbindOk struct{}

// ID is IDQueueUnbindOk.
func (*QueueUnbindOk) ID() MethodID { return IDQueueUnbindOk }

// Decode implements Method.
func (*QueueUnbindOk) Decode(args []byte) error { return noArgs(args, IDQueueUnbindOk) }

// Append implements Method.
func (*QueueUnbindOk) Append(dst []byte) []byte { return appendID(dst, IDQueueUnbindOk) }
