package definitions

import (
	"encoding/json"
	"fmt"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// File is a definition file. In the file of a single virtual host, queues, exchanges and bindings
// do not name it.
type File struct {
	RabbitVersion    string            `json:"rabbit_version,omitempty"`
	RabbitMQVersion  string            `json:"rabbitmq_version,omitempty"`
	ProductName      string            `json:"product_name,omitempty"`
	ProductVersion   string            `json:"product_version,omitempty"`
	Users            []User            `json:"users,omitempty"`
	VHosts           []VHost           `json:"vhosts,omitempty"`
	Permissions      []Permission      `json:"permissions,omitempty"`
	TopicPermissions []TopicPermission `json:"topic_permissions,omitempty"`
	Parameters       []Parameter       `json:"parameters"`
	GlobalParameters []GlobalParameter `json:"global_parameters,omitempty"`
	Policies         []Policy          `json:"policies"`
	Queues           []Queue           `json:"queues"`
	Exchanges        []Exchange        `json:"exchanges"`
	Bindings         []Binding         `json:"bindings"`
}

// User is a user. A file contains a hash of the password or, if written by hand, the password.
type User struct {
	Name             string    `json:"name"`
	PasswordHash     string    `json:"password_hash"`
	Password         string    `json:"password,omitempty"`
	HashingAlgorithm string    `json:"hashing_algorithm,omitempty"`
	Tags             rest.Tags `json:"tags"`
	Limits           limits    `json:"limits"`
	LoopbackOnly     *bool     `json:"loopback_only,omitempty"` // ours
}

// VHost is a virtual host. RabbitMQ writes its metadata beside its name or in the field metadata.
type VHost struct {
	Name             string    `json:"name"`
	Description      string    `json:"description,omitempty"`
	Tags             rest.Tags `json:"tags,omitempty"`
	DefaultQueueType string    `json:"default_queue_type,omitempty"`
	Limits           limits    `json:"limits,omitempty"`
	Metadata         metadata  `json:"metadata"`
}

type metadata struct {
	Description      string    `json:"description"`
	Tags             rest.Tags `json:"tags"`
	DefaultQueueType string    `json:"default_queue_type,omitempty"`
}

// Permission is what a user may do in a virtual host.
type Permission struct {
	User      string `json:"user"`
	VHost     string `json:"vhost"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// TopicPermission restricts the routing keys that a user may use.
type TopicPermission struct {
	User     string `json:"user"`
	VHost    string `json:"vhost"`
	Exchange string `json:"exchange"`
	Write    string `json:"write"`
	Read     string `json:"read"`
}

// Parameter is a parameter of a virtual host: a shovel, a part of federation, limits, or an
// operator policy.
type Parameter struct {
	Value     json.RawMessage `json:"value"`
	VHost     string          `json:"vhost,omitempty"`
	Component string          `json:"component"`
	Name      string          `json:"name"`
}

// GlobalParameter is a parameter of the whole broker.
type GlobalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Policy is a policy of a virtual host.
type Policy struct {
	VHost      string          `json:"vhost,omitempty"`
	Name       string          `json:"name"`
	Pattern    json.RawMessage `json:"pattern,omitempty"`  // a text
	ApplyTo    json.RawMessage `json:"apply-to,omitempty"` // a text
	Definition json.RawMessage `json:"definition"`
	Priority   json.RawMessage `json:"priority,omitempty"` // a number
}

// Queue is a queue.
type Queue struct {
	Name       string     `json:"name"`
	VHost      string     `json:"vhost,omitempty"`
	Durable    bool       `json:"durable"`
	AutoDelete bool       `json:"auto_delete"`
	Type       string     `json:"type,omitempty"` // in files of RabbitMQ 4, beside x-queue-type
	Arguments  rest.Table `json:"arguments"`
}

// Exchange is an exchange.
type Exchange struct {
	Name       string     `json:"name"`
	VHost      string     `json:"vhost,omitempty"`
	Type       string     `json:"type"`
	Durable    bool       `json:"durable"`
	AutoDelete bool       `json:"auto_delete"`
	Internal   bool       `json:"internal"`
	Arguments  rest.Table `json:"arguments"`
}

// Binding is a binding.
type Binding struct {
	Source          string     `json:"source"`
	VHost           string     `json:"vhost,omitempty"`
	Destination     string     `json:"destination"`
	DestinationType string     `json:"destination_type"` // queue or exchange
	RoutingKey      string     `json:"routing_key"`
	Arguments       rest.Table `json:"arguments"`
}

// limits are numbers by name. In JSON they are an object or, in some versions of RabbitMQ, a list
// of {"name", "value"}, which is empty if there are none.
type limits map[string]int64

// JSONSchema returns the schema of limits in JSON.
func (limits) JSONSchema() map[string]any {
	object := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "integer"}}
	return map[string]any{"oneOf": []any{object, map[string]any{"type": "array", "items": map[string]any{"type": "object"}}}}
}

func (l limits) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]int64(l))
}

func (l *limits) UnmarshalJSON(b []byte) error {
	var object map[string]int64
	if err := json.Unmarshal(b, &object); err == nil {
		*l = object
		return nil
	}
	var list []struct {
		Name  string `json:"name"`
		Value int64  `json:"value"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("limits must be an object of numbers")
	}
	*l = limits{}
	for _, one := range list {
		(*l)[one.Name] = one.Value
	}
	return nil
}
