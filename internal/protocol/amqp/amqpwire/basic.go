package amqpwire

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/message"
)

// BasicQos limits the unacknowledged deliveries; 0 means no limit.
type BasicQos struct {
	PrefetchSize  uint32
	PrefetchCount uint16
	Global        bool
}

// ID is IDBasicQos.
func (*BasicQos) ID() MethodID { return IDBasicQos }

// Decode implements Method.
func (m *BasicQos) Decode(args []byte) error {
	r := message.NewReader(args)
	m.PrefetchSize = r.Uint32()
	m.PrefetchCount = r.Uint16()
	m.Global = r.Uint8()&1 != 0
	return done(&r, IDBasicQos)
}

// Append implements Method.
func (m *BasicQos) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicQos)
	dst = binary.BigEndian.AppendUint32(dst, m.PrefetchSize)
	dst = binary.BigEndian.AppendUint16(dst, m.PrefetchCount)
	return append(dst, bit(m.Global))
}

// BasicQosOk confirms BasicQos.
type BasicQosOk struct{}

// ID is IDBasicQosOk.
func (*BasicQosOk) ID() MethodID { return IDBasicQosOk }

// Decode implements Method.
func (*BasicQosOk) Decode(args []byte) error { return noArgs(args, IDBasicQosOk) }

// Append implements Method.
func (*BasicQosOk) Append(dst []byte) []byte { return appendID(dst, IDBasicQosOk) }

// BasicConsume starts a consumer. An empty tag asks the server for one.
type BasicConsume struct {
	Queue       string
	ConsumerTag string
	NoLocal     bool
	NoAck       bool
	Exclusive   bool
	NoWait      bool
	Arguments   message.Table
}

// ID is IDBasicConsume.
func (*BasicConsume) ID() MethodID { return IDBasicConsume }

// Decode implements Method.
func (m *BasicConsume) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	m.ConsumerTag = name(&r)
	unpack(r.Uint8(), &m.NoLocal, &m.NoAck, &m.Exclusive, &m.NoWait)
	m.Arguments = r.Table()
	return done(&r, IDBasicConsume)
}

// Append implements Method.
func (m *BasicConsume) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicConsume)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	dst = message.AppendShortStr(dst, m.ConsumerTag)
	dst = append(dst, bits(m.NoLocal, m.NoAck, m.Exclusive, m.NoWait))
	return message.AppendTable(dst, m.Arguments)
}

// BasicConsumeOk confirms BasicConsume with the tag.
type BasicConsumeOk struct {
	ConsumerTag string
}

// ID is IDBasicConsumeOk.
func (*BasicConsumeOk) ID() MethodID { return IDBasicConsumeOk }

// Decode implements Method.
func (m *BasicConsumeOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ConsumerTag = shortString(&r)
	return done(&r, IDBasicConsumeOk)
}

// Append implements Method.
func (m *BasicConsumeOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicConsumeOk)
	return message.AppendShortStr(dst, m.ConsumerTag)
}

// BasicCancel ends a consumer, from either side.
type BasicCancel struct {
	ConsumerTag string
	NoWait      bool
}

// ID is IDBasicCancel.
func (*BasicCancel) ID() MethodID { return IDBasicCancel }

// Decode implements Method.
func (m *BasicCancel) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ConsumerTag = name(&r)
	m.NoWait = r.Uint8()&1 != 0
	return done(&r, IDBasicCancel)
}

// Append implements Method.
func (m *BasicCancel) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicCancel)
	dst = message.AppendShortStr(dst, m.ConsumerTag)
	return append(dst, bit(m.NoWait))
}

// BasicCancelOk confirms BasicCancel.
type BasicCancelOk struct {
	ConsumerTag string
}

// ID is IDBasicCancelOk.
func (*BasicCancelOk) ID() MethodID { return IDBasicCancelOk }

// Decode implements Method.
func (m *BasicCancelOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ConsumerTag = shortString(&r)
	return done(&r, IDBasicCancelOk)
}

// Append implements Method.
func (m *BasicCancelOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicCancelOk)
	return message.AppendShortStr(dst, m.ConsumerTag)
}

// BasicPublish announces a message for an exchange. Its byte slices alias the decoded arguments.
type BasicPublish struct {
	Exchange   []byte
	RoutingKey []byte
	Mandatory  bool
	Immediate  bool
}

// ID is IDBasicPublish.
func (*BasicPublish) ID() MethodID { return IDBasicPublish }

// Decode implements Method.
func (m *BasicPublish) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Exchange = r.ShortStr()
	m.RoutingKey = r.ShortStr()
	unpack(r.Uint8(), &m.Mandatory, &m.Immediate)
	return done(&r, IDBasicPublish)
}

// Append implements Method.
func (m *BasicPublish) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicPublish)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Exchange)
	dst = message.AppendShortStr(dst, m.RoutingKey)
	return append(dst, bits(m.Mandatory, m.Immediate))
}

// BasicReturn hands an unroutable message back to its publisher.
type BasicReturn struct {
	ReplyCode  uint16
	ReplyText  string
	Exchange   string
	RoutingKey string
}

// ID is IDBasicReturn.
func (*BasicReturn) ID() MethodID { return IDBasicReturn }

// Decode implements Method.
func (m *BasicReturn) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ReplyCode = r.Uint16()
	m.ReplyText = shortString(&r)
	m.Exchange = shortString(&r)
	m.RoutingKey = shortString(&r)
	return done(&r, IDBasicReturn)
}

// Append implements Method.
func (m *BasicReturn) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicReturn)
	dst = binary.BigEndian.AppendUint16(dst, m.ReplyCode)
	dst = message.AppendShortStr(dst, cut(m.ReplyText))
	dst = message.AppendShortStr(dst, m.Exchange)
	return message.AppendShortStr(dst, m.RoutingKey)
}

// BasicDeliver announces a message for a consumer. Its byte slices alias the decoded arguments.
type BasicDeliver struct {
	ConsumerTag []byte
	DeliveryTag uint64
	Redelivered bool
	Exchange    []byte
	RoutingKey  []byte
}

// ID is IDBasicDeliver.
func (*BasicDeliver) ID() MethodID { return IDBasicDeliver }

// Decode implements Method.
func (m *BasicDeliver) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ConsumerTag = r.ShortStr()
	m.DeliveryTag = r.Uint64()
	m.Redelivered = r.Uint8()&1 != 0
	m.Exchange = r.ShortStr()
	m.RoutingKey = r.ShortStr()
	return done(&r, IDBasicDeliver)
}

// Append implements Method.
func (m *BasicDeliver) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicDeliver)
	dst = message.AppendShortStr(dst, m.ConsumerTag)
	dst = binary.BigEndian.AppendUint64(dst, m.DeliveryTag)
	dst = append(dst, bit(m.Redelivered))
	dst = message.AppendShortStr(dst, m.Exchange)
	return message.AppendShortStr(dst, m.RoutingKey)
}

// BasicGet asks for one message.
type BasicGet struct {
	Queue string
	NoAck bool
}

// ID is IDBasicGet.
func (*BasicGet) ID() MethodID { return IDBasicGet }

// Decode implements Method.
func (m *BasicGet) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Queue = name(&r)
	m.NoAck = r.Uint8()&1 != 0
	return done(&r, IDBasicGet)
}

// Append implements Method.
func (m *BasicGet) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicGet)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Queue)
	return append(dst, bit(m.NoAck))
}

// BasicGetOk answers BasicGet; MessageCount is the number of ready messages left.
type BasicGetOk struct {
	DeliveryTag  uint64
	Redelivered  bool
	Exchange     string
	RoutingKey   string
	MessageCount uint32
}

// ID is IDBasicGetOk.
func (*BasicGetOk) ID() MethodID { return IDBasicGetOk }

// Decode implements Method.
func (m *BasicGetOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.DeliveryTag = r.Uint64()
	m.Redelivered = r.Uint8()&1 != 0
	m.Exchange = shortString(&r)
	m.RoutingKey = shortString(&r)
	m.MessageCount = r.Uint32()
	return done(&r, IDBasicGetOk)
}

// Append implements Method.
func (m *BasicGetOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicGetOk)
	dst = binary.BigEndian.AppendUint64(dst, m.DeliveryTag)
	dst = append(dst, bit(m.Redelivered))
	dst = message.AppendShortStr(dst, m.Exchange)
	dst = message.AppendShortStr(dst, m.RoutingKey)
	return binary.BigEndian.AppendUint32(dst, m.MessageCount)
}

// BasicGetEmpty answers BasicGet when nothing is ready.
type BasicGetEmpty struct{}

// ID is IDBasicGetEmpty.
func (*BasicGetEmpty) ID() MethodID { return IDBasicGetEmpty }

// Decode implements Method.
func (*BasicGetEmpty) Decode(args []byte) error {
	r := message.NewReader(args)
	r.ShortStr() // reserved
	return done(&r, IDBasicGetEmpty)
}

// Append implements Method.
func (*BasicGetEmpty) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicGetEmpty)
	return append(dst, 0) // reserved
}

// BasicAck settles one delivery or, with Multiple, all up to it. From a server it confirms
// publishes.
type BasicAck struct {
	DeliveryTag uint64
	Multiple    bool
}

// ID is IDBasicAck.
func (*BasicAck) ID() MethodID { return IDBasicAck }

// Decode implements Method.
func (m *BasicAck) Decode(args []byte) error {
	r := message.NewReader(args)
	m.DeliveryTag = r.Uint64()
	m.Multiple = r.Uint8()&1 != 0
	return done(&r, IDBasicAck)
}

// Append implements Method.
func (m *BasicAck) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicAck)
	dst = binary.BigEndian.AppendUint64(dst, m.DeliveryTag)
	return append(dst, bit(m.Multiple))
}

// BasicReject refuses one delivery.
type BasicReject struct {
	DeliveryTag uint64
	Requeue     bool
}

// ID is IDBasicReject.
func (*BasicReject) ID() MethodID { return IDBasicReject }

// Decode implements Method.
func (m *BasicReject) Decode(args []byte) error {
	r := message.NewReader(args)
	m.DeliveryTag = r.Uint64()
	m.Requeue = r.Uint8()&1 != 0
	return done(&r, IDBasicReject)
}

// Append implements Method.
func (m *BasicReject) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicReject)
	dst = binary.BigEndian.AppendUint64(dst, m.DeliveryTag)
	return append(dst, bit(m.Requeue))
}

// BasicRecoverAsync is BasicRecover without an answer.
type BasicRecoverAsync struct {
	Requeue bool
}

// ID is IDBasicRecoverAsync.
func (*BasicRecoverAsync) ID() MethodID { return IDBasicRecoverAsync }

// Decode implements Method.
func (m *BasicRecoverAsync) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Requeue = r.Uint8()&1 != 0
	return done(&r, IDBasicRecoverAsync)
}

// Append implements Method.
func (m *BasicRecoverAsync) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicRecoverAsync)
	return append(dst, bit(m.Requeue))
}

// BasicRecover asks for all unacknowledged messages again.
type BasicRecover struct {
	Requeue bool
}

// ID is IDBasicRecover.
func (*BasicRecover) ID() MethodID { return IDBasicRecover }

// Decode implements Method.
func (m *BasicRecover) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Requeue = r.Uint8()&1 != 0
	return done(&r, IDBasicRecover)
}

// Append implements Method.
func (m *BasicRecover) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicRecover)
	return append(dst, bit(m.Requeue))
}

// BasicRecoverOk confirms BasicRecover.
type BasicRecoverOk struct{}

// ID is IDBasicRecoverOk.
func (*BasicRecoverOk) ID() MethodID { return IDBasicRecoverOk }

// Decode implements Method.
func (*BasicRecoverOk) Decode(args []byte) error { return noArgs(args, IDBasicRecoverOk) }

// Append implements Method.
func (*BasicRecoverOk) Append(dst []byte) []byte { return appendID(dst, IDBasicRecoverOk) }

// BasicNack refuses deliveries. From a server it refuses publishes.
type BasicNack struct {
	DeliveryTag uint64
	Multiple    bool
	Requeue     bool
}

// ID is IDBasicNack.
func (*BasicNack) ID() MethodID { return IDBasicNack }

// Decode implements Method.
func (m *BasicNack) Decode(args []byte) error {
	r := message.NewReader(args)
	m.DeliveryTag = r.Uint64()
	unpack(r.Uint8(), &m.Multiple, &m.Requeue)
	return done(&r, IDBasicNack)
}

// Append implements Method.
func (m *BasicNack) Append(dst []byte) []byte {
	dst = appendID(dst, IDBasicNack)
	dst = binary.BigEndian.AppendUint64(dst, m.DeliveryTag)
	return append(dst, bits(m.Multiple, m.Requeue))
}
