package amqpwire

import (
	"fiveways.dev/fiveways/internal/core/message"
)

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

// ID is IDExchangeDeclare.
func (*ExchangeDeclare) ID() MethodID { return IDExchangeDeclare }

// Decode implements Method.
func (m *ExchangeDeclare) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Exchange = name(&r)
	m.Type = name(&r)
	unpack(r.Uint8(), &m.Passive, &m.Durable, &m.AutoDelete, &m.Internal, &m.NoWait)
	m.Arguments = r.Table()
	return done(&r, IDExchangeDeclare)
}

// Append implements Method.
func (m *ExchangeDeclare) Append(dst []byte) []byte {
	dst = appendID(dst, IDExchangeDeclare)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Exchange)
	dst = message.AppendShortStr(dst, m.Type)
	dst = append(dst, bits(m.Passive, m.Durable, m.AutoDelete, m.Internal, m.NoWait))
	return message.AppendTable(dst, m.Arguments)
}

// ExchangeDeclareOk confirms ExchangeDeclare.
type ExchangeDeclareOk struct{}

// ID is IDExchangeDeclareOk.
func (*ExchangeDeclareOk) ID() MethodID { return IDExchangeDeclareOk }

// Decode implements Method.
func (*ExchangeDeclareOk) Decode(args []byte) error { return noArgs(args, IDExchangeDeclareOk) }

// Append implements Method.
func (*ExchangeDeclareOk) Append(dst []byte) []byte { return appendID(dst, IDExchangeDeclareOk) }

// ExchangeDelete removes an exchange.
type ExchangeDelete struct {
	Exchange string
	IfUnused bool
	NoWait   bool
}

// ID is IDExchangeDelete.
func (*ExchangeDelete) ID() MethodID { return IDExchangeDelete }

// Decode implements Method.
func (m *ExchangeDelete) Decode(args []byte) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Exchange = name(&r)
	unpack(r.Uint8(), &m.IfUnused, &m.NoWait)
	return done(&r, IDExchangeDelete)
}

// Append implements Method.
func (m *ExchangeDelete) Append(dst []byte) []byte {
	dst = appendID(dst, IDExchangeDelete)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Exchange)
	return append(dst, bits(m.IfUnused, m.NoWait))
}

// ExchangeDeleteOk confirms ExchangeDelete.
type ExchangeDeleteOk struct{}

// ID is IDExchangeDeleteOk.
func (*ExchangeDeleteOk) ID() MethodID { return IDExchangeDeleteOk }

// Decode implements Method.
func (*ExchangeDeleteOk) Decode(args []byte) error { return noArgs(args, IDExchangeDeleteOk) }

// Append implements Method.
func (*ExchangeDeleteOk) Append(dst []byte) []byte { return appendID(dst, IDExchangeDeleteOk) }

// ExchangeBind routes from exchange Source to exchange Destination.
type ExchangeBind struct {
	Destination string
	Source      string
	RoutingKey  string
	NoWait      bool
	Arguments   message.Table
}

// ID is IDExchangeBind.
func (*ExchangeBind) ID() MethodID { return IDExchangeBind }

// Decode implements Method.
func (m *ExchangeBind) Decode(args []byte) error { return m.decode(args, IDExchangeBind) }

func (m *ExchangeBind) decode(args []byte, id MethodID) error {
	r := message.NewReader(args)
	r.Uint16() // reserved
	m.Destination = name(&r)
	m.Source = name(&r)
	m.RoutingKey = name(&r)
	m.NoWait = r.Uint8()&1 != 0
	m.Arguments = r.Table()
	return done(&r, id)
}

// Append implements Method.
func (m *ExchangeBind) Append(dst []byte) []byte { return m.append(dst, IDExchangeBind) }

func (m *ExchangeBind) append(dst []byte, id MethodID) []byte {
	dst = appendID(dst, id)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, m.Destination)
	dst = message.AppendShortStr(dst, m.Source)
	dst = message.AppendShortStr(dst, m.RoutingKey)
	dst = append(dst, bit(m.NoWait))
	return message.AppendTable(dst, m.Arguments)
}

// ExchangeBindOk confirms ExchangeBind.
type ExchangeBindOk struct{}

// ID is IDExchangeBindOk.
func (*ExchangeBindOk) ID() MethodID { return IDExchangeBindOk }

// Decode implements Method.
func (*ExchangeBindOk) Decode(args []byte) error { return noArgs(args, IDExchangeBindOk) }

// Append implements Method.
func (*ExchangeBindOk) Append(dst []byte) []byte { return appendID(dst, IDExchangeBindOk) }

// ExchangeUnbind removes a binding between exchanges.
type ExchangeUnbind ExchangeBind

// ID is IDExchangeUnbind.
func (*ExchangeUnbind) ID() MethodID { return IDExchangeUnbind }

// Decode implements Method.
func (m *ExchangeUnbind) Decode(args []byte) error {
	return (*ExchangeBind)(m).decode(args, IDExchangeUnbind)
}

// Append implements Method.
func (m *ExchangeUnbind) Append(dst []byte) []byte {
	return (*ExchangeBind)(m).append(dst, IDExchangeUnbind)
}

// ExchangeUnbindOk confirms ExchangeUnbind. Its method id is 51, not 41.
type ExchangeUnbindOk struct{}

// ID is IDExchangeUnbindOk.
func (*ExchangeUnbindOk) ID() MethodID { return IDExchangeUnbindOk }

// Decode implements Method.
func (*ExchangeUnbindOk) Decode(args []byte) error { return noArgs(args, IDExchangeUnbindOk) }

// Append implements Method.
func (*ExchangeUnbindOk) Append(dst []byte) []byte { return appendID(dst, IDExchangeUnbindOk) }
