package catalog

import "fiveways.dev/fiveways/internal/core/message"

// QueueSpec declares a queue. Args are kept as the client gave them: they are
// compared at a second declaration and shown back; Policy is what they mean.
type QueueSpec struct {
	Name       string
	Passive    bool // only ask
	Durable    bool
	Exclusive  bool // belongs to the session and goes with it
	AutoDelete bool // goes when its last consumer leaves
	Implicit   bool // durable, and not declared by a client: it is deleted when it is not needed any more
	Args       message.Table
	Compared   []string // names of the arguments that a second declaration must repeat
	Policy     QueuePolicy
}

// ExchangeSpec declares an exchange.
type ExchangeSpec struct {
	Name       string
	Type       string
	Passive    bool
	Durable    bool
	AutoDelete bool   // goes when its last binding goes
	Internal   bool   // fed by bindings only
	Alternate  string // takes what no binding matched
	Args       message.Table
	Buffer     QueuePolicy // its de-duplication is that of the exchange
}

// BindSpec names a binding: from an exchange to a queue or to an exchange.
type BindSpec struct {
	Source      string
	Destination string
	ToExchange  bool
	Key         string
	Args        message.Table
}
