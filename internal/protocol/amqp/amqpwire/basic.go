package amqpwire

import "fiveways.dev/fiveways/internal/core/message"

// BasicQos limits the unacknowledged deliveries; 0 means no limit.
type BasicQos struct {
	PrefetchSize  uint32
	PrefetchCount uint16
	Global        bool
}

func (*BasicQos) ID() MethodID { return IDBasicQos }

func (m *BasicQos) arguments(a *arguments) {
	a.long(&m.PrefetchSize)
	a.short(&m.PrefetchCount)
	a.bits(&m.Global)
}

// BasicQosOk confirms BasicQos.
type BasicQosOk struct{}

func (*BasicQosOk) ID() MethodID         { return IDBasicQosOk }
func (*BasicQosOk) arguments(*arguments) {}

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

func (*BasicConsume) ID() MethodID { return IDBasicConsume }

func (m *BasicConsume) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.name(&m.ConsumerTag)
	a.bits(&m.NoLocal, &m.NoAck, &m.Exclusive, &m.NoWait)
	a.table(&m.Arguments)
}

// BasicConsumeOk confirms BasicConsume with the tag.
type BasicConsumeOk struct {
	ConsumerTag string
}

func (*BasicConsumeOk) ID() MethodID             { return IDBasicConsumeOk }
func (m *BasicConsumeOk) arguments(a *arguments) { a.shortStr(&m.ConsumerTag) }

// BasicCancel ends a consumer, from either side.
type BasicCancel struct {
	ConsumerTag string
	NoWait      bool
}

func (*BasicCancel) ID() MethodID { return IDBasicCancel }

func (m *BasicCancel) arguments(a *arguments) {
	a.name(&m.ConsumerTag)
	a.bits(&m.NoWait)
}

// BasicCancelOk confirms BasicCancel.
type BasicCancelOk struct {
	ConsumerTag string
}

func (*BasicCancelOk) ID() MethodID             { return IDBasicCancelOk }
func (m *BasicCancelOk) arguments(a *arguments) { a.shortStr(&m.ConsumerTag) }

// BasicPublish announces a message for an exchange. Its byte slices alias the decoded arguments.
type BasicPublish struct {
	Exchange   []byte
	RoutingKey []byte
	Mandatory  bool
	Immediate  bool
}

func (*BasicPublish) ID() MethodID { return IDBasicPublish }

func (m *BasicPublish) arguments(a *arguments) {
	a.reservedShort()
	a.shortBytes(&m.Exchange)
	a.shortBytes(&m.RoutingKey)
	a.bits(&m.Mandatory, &m.Immediate)
}

// Decode reads the arguments from args, and replaces all fields. It is written out, because it is
// on the way of every message.
func (m *BasicPublish) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Exchange = r.ShortStr()
	m.RoutingKey = r.ShortStr()
	bits := r.Uint8()
	m.Mandatory, m.Immediate = bits&1 != 0, bits&2 != 0
	return end(&r, IDBasicPublish)
}

// BasicReturn hands an unroutable message back to its publisher.
type BasicReturn struct {
	ReplyCode  uint16
	ReplyText  string
	Exchange   string
	RoutingKey string
}

func (*BasicReturn) ID() MethodID { return IDBasicReturn }

func (m *BasicReturn) arguments(a *arguments) {
	a.short(&m.ReplyCode)
	a.text(&m.ReplyText)
	a.shortStr(&m.Exchange)
	a.shortStr(&m.RoutingKey)
}

// BasicDeliver announces a message for a consumer. Its byte slices alias the decoded arguments.
type BasicDeliver struct {
	ConsumerTag []byte
	DeliveryTag uint64
	Redelivered bool
	Exchange    []byte
	RoutingKey  []byte
}

func (*BasicDeliver) ID() MethodID { return IDBasicDeliver }

func (m *BasicDeliver) arguments(a *arguments) {
	a.shortBytes(&m.ConsumerTag)
	a.longlong(&m.DeliveryTag)
	a.bits(&m.Redelivered)
	a.shortBytes(&m.Exchange)
	a.shortBytes(&m.RoutingKey)
}

// BasicGet asks for one message.
type BasicGet struct {
	Queue string
	NoAck bool
}

func (*BasicGet) ID() MethodID { return IDBasicGet }

func (m *BasicGet) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.bits(&m.NoAck)
}

// BasicGetOk answers BasicGet; MessageCount is the number of ready messages left.
type BasicGetOk struct {
	DeliveryTag  uint64
	Redelivered  bool
	Exchange     string
	RoutingKey   string
	MessageCount uint32
}

func (*BasicGetOk) ID() MethodID { return IDBasicGetOk }

func (m *BasicGetOk) arguments(a *arguments) {
	a.longlong(&m.DeliveryTag)
	a.bits(&m.Redelivered)
	a.shortStr(&m.Exchange)
	a.shortStr(&m.RoutingKey)
	a.long(&m.MessageCount)
}

// BasicGetEmpty answers BasicGet when nothing is ready.
type BasicGetEmpty struct{}

func (*BasicGetEmpty) ID() MethodID           { return IDBasicGetEmpty }
func (*BasicGetEmpty) arguments(a *arguments) { a.reservedShortStr() }

// BasicAck settles one delivery or, with Multiple, all up to it. From a server it confirms
// publishes.
type BasicAck struct {
	DeliveryTag uint64
	Multiple    bool
}

func (*BasicAck) ID() MethodID { return IDBasicAck }

func (m *BasicAck) arguments(a *arguments) {
	a.longlong(&m.DeliveryTag)
	a.bits(&m.Multiple)
}

// Decode reads the arguments from args, and replaces all fields. It is written out, because it is
// on the way of every message.
func (m *BasicAck) Decode(args []byte) error {
	r := message.NewReader(args)
	m.DeliveryTag = r.Uint64()
	m.Multiple = r.Uint8()&1 != 0
	return end(&r, IDBasicAck)
}

// BasicReject refuses one delivery.
type BasicReject struct {
	DeliveryTag uint64
	Requeue     bool
}

func (*BasicReject) ID() MethodID { return IDBasicReject }

func (m *BasicReject) arguments(a *arguments) {
	a.longlong(&m.DeliveryTag)
	a.bits(&m.Requeue)
}

// BasicRecoverAsync is BasicRecover without an answer.
type BasicRecoverAsync struct {
	Requeue bool
}

func (*BasicRecoverAsync) ID() MethodID             { return IDBasicRecoverAsync }
func (m *BasicRecoverAsync) arguments(a *arguments) { a.bits(&m.Requeue) }

// BasicRecover asks for all unacknowledged messages again.
type BasicRecover struct {
	Requeue bool
}

func (*BasicRecover) ID() MethodID             { return IDBasicRecover }
func (m *BasicRecover) arguments(a *arguments) { a.bits(&m.Requeue) }

// BasicRecoverOk confirms BasicRecover.
type BasicRecoverOk struct{}

func (*BasicRecoverOk) ID() MethodID         { return IDBasicRecoverOk }
func (*BasicRecoverOk) arguments(*arguments) {}

// BasicNack refuses deliveries. From a server it refuses publishes.
type BasicNack struct {
	DeliveryTag uint64
	Multiple    bool
	Requeue     bool
}

func (*BasicNack) ID() MethodID { return IDBasicNack }

func (m *BasicNack) arguments(a *arguments) {
	a.longlong(&m.DeliveryTag)
	a.bits(&m.Multiple, &m.Requeue)
}
