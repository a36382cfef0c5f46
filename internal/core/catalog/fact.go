package catalog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// The types of facts in the log of definitions. The payload of each is a JSON object, so that any
// tool can read definitions, and new members can be added. docs/format/facts.md describes them.
// Never renumber.
const (
	factTopology = 16
	// factAccess is a separate type, so that a version without users refuses it instead of
	// admitting everybody.
	factAccess = 17
	// factParameter is a separate type, because a version that ignored parameters would ignore what
	// they protect.
	factParameter = 18
	factSequence  = 19
)

// Fact is one change of the definitions, as recorded in the log.
type Fact interface {
	// Append writes the fact after dst.
	Append(dst []byte) []byte
}

// topologyFact is one change of exchanges, queues and bindings. Exactly one of the pointers is set.
type topologyFact struct {
	VHost    string        `json:"vhost"`
	Delete   bool          `json:"delete,omitempty"`
	Queue    *queueFact    `json:"queue,omitempty"`
	Exchange *exchangeFact `json:"exchange,omitempty"`
	Binding  *bindingFact  `json:"binding,omitempty"`
	// NextQueue occurs only in checkpoints: ids below it were used.
	NextQueue uint64 `json:"next_queue,omitempty"`
}

type queueFact struct {
	ID         uint64      `json:"id"`
	Name       name        `json:"name"`
	Shard      uint32      `json:"shard,omitempty"`
	AutoDelete bool        `json:"auto_delete,omitempty"`
	Implicit   bool        `json:"implicit,omitempty"`
	Args       []byte      `json:"args,omitempty"` // encoded table
	Policy     QueuePolicy `json:"policy"`
}

type exchangeFact struct {
	Name       name   `json:"name"`
	Type       string `json:"type,omitempty"`
	AutoDelete bool   `json:"auto_delete,omitempty"`
	Internal   bool   `json:"internal,omitempty"`
	Alternate  name   `json:"alternate,omitempty"`
	Args       []byte `json:"args,omitempty"`
	// Buffer is the queue that belongs to the exchange.
	Buffer *queueFact `json:"relay,omitempty"`
}

type bindingFact struct {
	Source     name   `json:"source"`
	ToQueue    uint64 `json:"to_queue,omitempty"`
	ToExchange name   `json:"to_exchange,omitempty"`
	Key        name   `json:"key,omitempty"`
	Args       []byte `json:"args,omitempty"`
}

// AccessFact is one change of virtual hosts, users and permissions; exactly one of the pointers is
// set. It sets the object or, with Delete, deletes it.
type AccessFact struct {
	Delete     bool            `json:"delete,omitempty"`
	VHost      *VHostFact      `json:"vhost,omitempty"`
	User       *UserFact       `json:"user,omitempty"`
	Permission *PermissionFact `json:"permission,omitempty"`
	Topic      *TopicFact      `json:"topic_permission,omitempty"`
	// Reset occurs only in checkpoints: all users and virtual hosts follow, and others are removed.
	Reset bool `json:"reset,omitempty"`
}

// VHostFact is a virtual host with its properties.
type VHostFact struct {
	Name             string   `json:"name"`
	Description      string   `json:"description,omitempty"`
	Tags             []string `json:"tags,omitempty"`
	DefaultQueueType string   `json:"default_queue_type,omitempty"`
	Limits           Limits   `json:"limits,omitempty"`
	Made             uint64   `json:"made,omitempty"` // index of the entry that created it; 0 for the first of its name in older logs
}

// UserFact is a user without its permissions.
type UserFact struct {
	Name string `json:"name"`
	access.Secret
	Tags         []string `json:"tags,omitempty"`
	LoopbackOnly bool     `json:"loopback_only,omitempty"`
	Limits       Limits   `json:"limits,omitempty"`
	Made         uint64   `json:"made,omitempty"` // index of the entry that created the user
}

// PermissionFact is what a user may do in a virtual host.
type PermissionFact struct {
	User      string `json:"user"`
	VHost     string `json:"vhost"`
	Configure string `json:"configure,omitempty"`
	Write     string `json:"write,omitempty"`
	Read      string `json:"read,omitempty"`
}

// TopicFact is the routing keys that a user may use with an exchange.
type TopicFact struct {
	User     string `json:"user"`
	VHost    string `json:"vhost"`
	Exchange name   `json:"exchange,omitempty"` // "" in a deletion means all
	Write    string `json:"write,omitempty"`
	Read     string `json:"read,omitempty"`
}

// ParameterFact sets a parameter or, with Delete, deletes it.
type ParameterFact struct {
	VHost     string          `json:"vhost"`
	Component name            `json:"component"`
	Name      name            `json:"name"`
	Value     json.RawMessage `json:"value,omitempty"`
	Delete    bool            `json:"delete,omitempty"`
}

// SequenceFact records that a sequence's numbers below UpTo may have been used.
type SequenceFact struct {
	Name name  `json:"name"`
	UpTo int64 `json:"up_to"`
}

func (f *topologyFact) Append(dst []byte) []byte { return appendFact(dst, factTopology, f) }

// Append implements Fact.
func (f *AccessFact) Append(dst []byte) []byte { return appendFact(dst, factAccess, f) }

// Append implements Fact.
func (f *SequenceFact) Append(dst []byte) []byte { return appendFact(dst, factSequence, f) }

// Append implements Fact.
func (f *ParameterFact) Append(dst []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keep the value as it is
	if err := e.Encode(f); err != nil {
		panic("catalog: a parameter cannot be encoded: " + err.Error()) // the value was checked: cannot happen
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return append(shardstate.AppendFact(dst, factParameter, len(text)), text...)
}

func appendFact(dst []byte, kind byte, f Fact) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("catalog: a fact cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	return append(shardstate.AppendFact(dst, kind, len(b)), b...)
}

func encodeArgs(t message.Table) []byte {
	if len(t) == 0 {
		return nil
	}
	return message.AppendTable(nil, t)
}

func decodeArgs(b []byte) message.Table {
	if len(b) < 4 {
		return nil
	}
	if n := binary.BigEndian.Uint32(b); int(n) != len(b)-4 {
		return nil
	}
	t, err := message.DecodeTable(b[4:])
	if err != nil {
		return nil
	}
	return t
}

// newExchangeFact returns the fact of an exchange; buffer is nil if it has none.
func newExchangeFact(s *routing.ExchangeSpec, buffer *Queue) *exchangeFact {
	f := &exchangeFact{
		Name: name(s.Name), Type: s.Type, AutoDelete: s.AutoDelete, Internal: s.Internal, Alternate: name(s.Alternate),
		Args: encodeArgs(s.Args),
	}
	if buffer != nil {
		f.Buffer = newQueueFact(buffer)
	}
	return f
}

func (f *exchangeFact) spec() routing.ExchangeSpec {
	return routing.ExchangeSpec{
		Name: string(f.Name), Type: f.Type, Durable: true, AutoDelete: f.AutoDelete, Internal: f.Internal,
		Alternate: string(f.Alternate), Args: decodeArgs(f.Args),
	}
}

func newQueueFact(q *Queue) *queueFact {
	return &queueFact{
		ID: q.ID, Name: name(q.Name), Shard: q.Shard, AutoDelete: q.AutoDelete, Implicit: q.Implicit(),
		Args: encodeArgs(q.Args), Policy: *q.Declared,
	}
}

func newBindingFact(b *routing.Binding) *bindingFact {
	return &bindingFact{
		Source: name(b.Source), ToQueue: uint64(b.ToQueue), ToExchange: name(b.ToExchange), Key: name(b.Key),
		Args: encodeArgs(b.Args),
	}
}

func (f *bindingFact) binding() routing.Binding {
	return routing.Binding{
		Source: string(f.Source), ToQueue: routing.QueueID(f.ToQueue), ToExchange: string(f.ToExchange), Key: string(f.Key),
		Args: decodeArgs(f.Args),
	}
}
