package access

import (
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// User is a user as the API shows it.
type User struct {
	Name             string           `json:"name"`
	PasswordHash     string           `json:"password_hash"`
	HashingAlgorithm string           `json:"hashing_algorithm"`
	Tags             rest.Tags        `json:"tags"`
	LoopbackOnly     bool             `json:"loopback_only"` // may log in only from the broker's machine
	Limits           map[string]int64 `json:"limits"`
}

// UserChange creates or changes a user. At most one of Password and PasswordHash is set. With
// neither, or with an empty hash, the user can log in only without a password, by a certificate.
type UserChange struct {
	Password         *string    `json:"password,omitempty"`
	PasswordHash     *string    `json:"password_hash,omitempty"`
	HashingAlgorithm string     `json:"hashing_algorithm,omitempty"`
	Tags             *rest.Tags `json:"tags"`
}

// PasswordChange changes only the password of a user.
type PasswordChange struct {
	Password string `json:"password"`
}

// TagsChange changes only the tags of a user.
type TagsChange struct {
	Tags rest.Tags `json:"tags"`
}

// UserNames names users.
type UserNames struct {
	Users []string `json:"users"`
}

// VHost is a virtual host as the API shows it, with its totals as of the last sample.
type VHost struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Tags             rest.Tags         `json:"tags"`
	DefaultQueueType string            `json:"default_queue_type"` // as it was set; "undefined": it was not set
	Metadata         Metadata          `json:"metadata"`
	Tracing          bool              `json:"tracing"`
	ClusterState     map[string]string `json:"cluster_state"`
	Limits           map[string]int64  `json:"limits"`
	monitor.Lengths
	Stats any `json:"message_stats,omitempty"` // monitor.Figures
}

// Metadata repeats the metadata of a virtual host.
type Metadata struct {
	Description string    `json:"description"`
	Tags        rest.Tags `json:"tags"`
	QueueType   string    `json:"default_queue_type,omitempty"`
}

// VHostChange creates or changes a virtual host.
type VHostChange struct {
	Description      string    `json:"description,omitempty"`
	Tags             rest.Tags `json:"tags,omitempty"`
	DefaultQueueType string    `json:"default_queue_type,omitempty"`

	Tracing *rest.Switch `json:"tracing,omitempty"` // if left out, it does not change
}

// Permission is what a user may do on a virtual host.
type Permission struct {
	User      string `json:"user,omitempty"`
	VHost     string `json:"vhost,omitempty"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// permissionChange is a Permission all of whose fields are required.
type permissionChange struct {
	Configure *string `json:"configure"`
	Write     *string `json:"write"`
	Read      *string `json:"read"`
}

// TopicPermission restricts the routing keys that a user may use with a topic exchange.
type TopicPermission struct {
	User     string `json:"user,omitempty"`
	VHost    string `json:"vhost,omitempty"`
	Exchange string `json:"exchange"`
	Write    string `json:"write"`
	Read     string `json:"read"`
}

// topicPermissionChange is a TopicPermission all of whose fields are required.
type topicPermissionChange struct {
	Exchange *string `json:"exchange"`
	Write    *string `json:"write"`
	Read     *string `json:"read"`
}

// Switch turns a setting on or off.
type Switch struct {
	Value bool `json:"value"`
}
