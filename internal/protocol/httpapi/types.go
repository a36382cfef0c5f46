package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tags is a list of words, in JSON a list or one string with commas, as older clients of RabbitMQ send it.
type Tags []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tags) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err == nil {
		*t = list
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("tags are a list of strings, or one string with commas")
	}
	*t = nil
	for _, tag := range strings.Split(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			*t = append(*t, tag)
		}
	}
	return nil
}

// User is a user as it is shown.
type User struct {
	Name             string           `json:"name"`
	PasswordHash     string           `json:"password_hash"`
	HashingAlgorithm string           `json:"hashing_algorithm"`
	Tags             Tags             `json:"tags"`
	LoopbackOnly     bool             `json:"loopback_only"` // may log in from the broker's machine only
	Limits           map[string]int64 `json:"limits"`
}

// UserChange creates or changes a user: exactly one of Password and PasswordHash is set.
type UserChange struct {
	Password         *string `json:"password,omitempty"`
	PasswordHash     *string `json:"password_hash,omitempty"`
	HashingAlgorithm string  `json:"hashing_algorithm,omitempty"`
	Tags             Tags    `json:"tags"`
}

// VHost is a virtual host as it is shown.
type VHost struct {
	Name             string           `json:"name"`
	Description      string           `json:"description"`
	Tags             Tags             `json:"tags"`
	DefaultQueueType string           `json:"default_queue_type,omitempty"`
	Limits           map[string]int64 `json:"limits"`
}

// VHostChange creates or changes a virtual host.
type VHostChange struct {
	Description      string `json:"description,omitempty"`
	Tags             Tags   `json:"tags,omitempty"`
	DefaultQueueType string `json:"default_queue_type,omitempty"`
}

// Permission is what a user may do on a virtual host.
type Permission struct {
	User      string `json:"user,omitempty"`
	VHost     string `json:"vhost,omitempty"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// TopicPermission bounds the routing keys of a user on a topic exchange.
type TopicPermission struct {
	User     string `json:"user,omitempty"`
	VHost    string `json:"vhost,omitempty"`
	Exchange string `json:"exchange"`
	Write    string `json:"write"`
	Read     string `json:"read"`
}

// Switch turns one thing on or off.
type Switch struct {
	Value bool `json:"value"`
}

// LimitValue sets one limit.
type LimitValue struct {
	Value int64 `json:"value"`
}

// Limits are the limits of a user or a virtual host.
type Limits struct {
	User  string           `json:"user,omitempty"`
	VHost string           `json:"vhost,omitempty"`
	Value map[string]int64 `json:"value"`
}
