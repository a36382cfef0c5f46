package catalog

import "fiveways.dev/fiveways/internal/core/message"

// QueueSpec declares a queue. Args are stored as the client gave them: a second declaration is
// compared with them, and listings show them. Policy is their meaning.
type QueueSpec struct {
	Name       string
	Passive    bool // only check that it exists
	Durable    bool
	Exclusive  bool // belongs to the session and is deleted with it
	AutoDelete bool // deleted with its last consumer
	Implicit   bool // durable but not declared by a client; deleted when no longer needed
	Args       message.Table
	Compared   []string // arguments that a second declaration must repeat
	Policy     QueuePolicy
}

// ExchangeSpec declares an exchange.
type ExchangeSpec struct {
	Name       string
	Type       string
	Passive    bool
	Durable    bool
	AutoDelete bool   // deleted with its last binding
	Internal   bool   // clients cannot publish to it; only bindings route to it
	Alternate  string // gets messages that match no binding
	Args       message.Table
	Buffer     QueuePolicy // its de-duplication settings are those of the exchange
}

// BindSpec names a binding from an exchange to a queue or another exchange.
type BindSpec struct {
	Source      string
	Destination string
	ToExchange  bool
	Key         string
	Args        message.Table
}
