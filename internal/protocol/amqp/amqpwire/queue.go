package amqpwire

import "fiveways.dev/fiveways/internal/core/message"

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

func (*QueueDeclare) ID() MethodID { return IDQueueDeclare }

func (m *QueueDeclare) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.bits(&m.Passive, &m.Durable, &m.Exclusive, &m.AutoDelete, &m.NoWait)
	a.table(&m.Arguments)
}

// QueueDeclareOk confirms QueueDeclare; MessageCount counts ready messages.
type QueueDeclareOk struct {
	Queue         string
	MessageCount  uint32
	ConsumerCount uint32
}

func (*QueueDeclareOk) ID() MethodID { return IDQueueDeclareOk }

func (m *QueueDeclareOk) arguments(a *arguments) {
	a.shortStr(&m.Queue)
	a.long(&m.MessageCount)
	a.long(&m.ConsumerCount)
}

// QueueBind binds a queue to an exchange.
type QueueBind struct {
	Queue      string
	Exchange   string
	RoutingKey string
	NoWait     bool
	Arguments  message.Table
}

func (*QueueBind) ID() MethodID { return IDQueueBind }

func (m *QueueBind) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.name(&m.Exchange)
	a.name(&m.RoutingKey)
	a.bits(&m.NoWait)
	a.table(&m.Arguments)
}

// QueueBindOk confirms QueueBind.
type QueueBindOk struct{}

func (*QueueBindOk) ID() MethodID         { return IDQueueBindOk }
func (*QueueBindOk) arguments(*arguments) {}

// QueuePurge drops the ready messages of a queue.
type QueuePurge struct {
	Queue  string
	NoWait bool
}

func (*QueuePurge) ID() MethodID { return IDQueuePurge }

func (m *QueuePurge) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.bits(&m.NoWait)
}

// QueuePurgeOk confirms QueuePurge with the number of messages dropped.
type QueuePurgeOk struct {
	MessageCount uint32
}

func (*QueuePurgeOk) ID() MethodID             { return IDQueuePurgeOk }
func (m *QueuePurgeOk) arguments(a *arguments) { a.long(&m.MessageCount) }

// QueueDelete removes a queue.
type QueueDelete struct {
	Queue    string
	IfUnused bool
	IfEmpty  bool
	NoWait   bool
}

func (*QueueDelete) ID() MethodID { return IDQueueDelete }

func (m *QueueDelete) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.bits(&m.IfUnused, &m.IfEmpty, &m.NoWait)
}

// QueueDeleteOk confirms QueueDelete with the number of messages deleted with the queue.
type QueueDeleteOk struct {
	MessageCount uint32
}

func (*QueueDeleteOk) ID() MethodID             { return IDQueueDeleteOk }
func (m *QueueDeleteOk) arguments(a *arguments) { a.long(&m.MessageCount) }

// QueueUnbind removes a binding of a queue. It has no NoWait.
type QueueUnbind struct {
	Queue      string
	Exchange   string
	RoutingKey string
	Arguments  message.Table
}

func (*QueueUnbind) ID() MethodID { return IDQueueUnbind }

func (m *QueueUnbind) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Queue)
	a.name(&m.Exchange)
	a.name(&m.RoutingKey)
	a.table(&m.Arguments)
}

// QueueUnbindOk confirms QueueUnbind.
type QueueUnbindOk struct{}

func (*QueueUnbindOk) ID() MethodID         { return IDQueueUnbindOk }
func (*QueueUnbindOk) arguments(*arguments) {}
