package amqpwire

import "fiveways.dev/fiveways/internal/core/message"

// ExchangeDeclare creates an exchange, or checks it when Passive.
type ExchangeDeclare struct {
	Exchange   string
	Type       string
	Passive    bool
	Durable    bool
	AutoDelete bool
	Internal   bool
	NoWait     bool
	Arguments  message.Table
}

func (*ExchangeDeclare) ID() MethodID { return IDExchangeDeclare }

func (m *ExchangeDeclare) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Exchange)
	a.name(&m.Type)
	a.bits(&m.Passive, &m.Durable, &m.AutoDelete, &m.Internal, &m.NoWait)
	a.table(&m.Arguments)
}

// ExchangeDeclareOk confirms ExchangeDeclare.
type ExchangeDeclareOk struct{}

func (*ExchangeDeclareOk) ID() MethodID         { return IDExchangeDeclareOk }
func (*ExchangeDeclareOk) arguments(*arguments) {}

// ExchangeDelete removes an exchange.
type ExchangeDelete struct {
	Exchange string
	IfUnused bool
	NoWait   bool
}

func (*ExchangeDelete) ID() MethodID { return IDExchangeDelete }

func (m *ExchangeDelete) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Exchange)
	a.bits(&m.IfUnused, &m.NoWait)
}

// ExchangeDeleteOk confirms ExchangeDelete.
type ExchangeDeleteOk struct{}

func (*ExchangeDeleteOk) ID() MethodID         { return IDExchangeDeleteOk }
func (*ExchangeDeleteOk) arguments(*arguments) {}

// ExchangeBind routes from exchange Source to exchange Destination.
type ExchangeBind struct {
	Destination string
	Source      string
	RoutingKey  string
	NoWait      bool
	Arguments   message.Table
}

func (*ExchangeBind) ID() MethodID { return IDExchangeBind }

func (m *ExchangeBind) arguments(a *arguments) {
	a.reservedShort()
	a.name(&m.Destination)
	a.name(&m.Source)
	a.name(&m.RoutingKey)
	a.bits(&m.NoWait)
	a.table(&m.Arguments)
}

// ExchangeBindOk confirms ExchangeBind.
type ExchangeBindOk struct{}

func (*ExchangeBindOk) ID() MethodID         { return IDExchangeBindOk }
func (*ExchangeBindOk) arguments(*arguments) {}

// ExchangeUnbind removes a binding between exchanges.
type ExchangeUnbind ExchangeBind

func (*ExchangeUnbind) ID() MethodID             { return IDExchangeUnbind }
func (m *ExchangeUnbind) arguments(a *arguments) { (*ExchangeBind)(m).arguments(a) }

// ExchangeUnbindOk confirms ExchangeUnbind. Its method id is 51, not 41.
type ExchangeUnbindOk struct{}

func (*ExchangeUnbindOk) ID() MethodID         { return IDExchangeUnbindOk }
func (*ExchangeUnbindOk) arguments(*arguments) {}
