package access

import (
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// User is a user as it is shown.
type User struct {
	Name             string           `json:"name"`
	PasswordHash     string           `json:"password_hash"`
	HashingAlgorithm string           `json:"hashing_algorithm"`
	Tags             rest.Tags        `json:"tags"`
	LoopbackOnly     bool             `json:"loopback_only"` // may log in from the broker's machine only
	Limits           map[string]int64 `json:"limits"`
}

// UserChange creates or changes a user: at most one of Password and PasswordHash is set. Without
// both, and with an empty hash, it is one that logs in without a password only, by a certificate.
type UserChange struct {
	Password         *string    `json:"password,omitempty"`
	PasswordHash     *string    `json:"password_hash,omitempty"`
	HashingAlgorithm string     `json:"hashing_algorithm,omitempty"`
	Tags             *rest.Tags `json:"tags"`
}

// PasswordChange gives a user another password and leaves the rest.
type PasswordChange struct {
	Password string `json:"password"`
}

// TagsChange gives a user other tags and leaves the rest.
type TagsChange struct {
	Tags rest.Tags `json:"tags"`
}

// UserNames names users.
type UserNames struct {
	Users []string `json:"users"`
}

// VHost is a virtual host as it is shown, with what it holds as of the last sample.
type VHost struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Tags             rest.Tags         `json:"tags"`
	DefaultQueueType string            `json:"default_queue_type"` // as it was given; "undefined": it was not
	Metadata         Metadata          `json:"metadata"`
	Tracing          bool              `json:"tracing"`
	ClusterState     map[string]string `json:"cluster_state"`
	Limits           map[string]int64  `json:"limits"`
	monitor.Lengths
	Stats any `json:"message_stats,omitempty"` // monitor.Figures
}

// Metadata is what is noted about a virtual host, again.
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

	Tracing *rest.Switch `json:"tracing,omitempty"` // left out, it stays as it is
}

// Permission is what a user may do on a virtual host.
type Permission struct {
	User      string `json:"user,omitempty"`
	VHost     string `json:"vhost,omitempty"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// permissionChange is a Permission of which nothing may be left out.
type permissionChange struct {
	Configure *string `json:"configure"`
	Write     *string `json:"write"`
	Read      *string `json:"read"`
}

// TopicPermission bounds the routing keys of a user on a topic exchange.
type TopicPermission struct {
	User     string `json:"user,omitempty"`
	VHost    string `json:"vhost,omitempty"`
	Exchange string `json:"exchange"`
	Write    string `json:"write"`
	Read     string `json:"read"`
}

// topicPermissionChange is a TopicPermission of which nothing may be left out.
type topicPermissionChange struct {
	Exchange *string `json:"exchange"`
	Write    *string `json:"write"`
	Read     *string `json:"read"`
}

// Switch turns one thing on or off.
type Switch struct {
	Value bool `json:"value"`
}
