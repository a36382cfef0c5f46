package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
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

// PasswordChange gives a user another password and leaves the rest.
type PasswordChange struct {
	Password string `json:"password"`
}

// TagsChange gives a user other tags and leaves the rest.
type TagsChange struct {
	Tags Tags `json:"tags"`
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

// Message is a message as it stands in its queue.
type Message struct {
	MessageID   string `json:"message_id"`
	State       string `json:"state"` // ready, unacked, scheduled or blocked
	Exchange    string `json:"exchange"`
	RoutingKey  string `json:"routing_key"`
	Redelivered bool   `json:"redelivered"`
	Returns     uint32 `json:"returns"`           // how often it came back
	Due         string `json:"due,omitempty"`     // RFC 3339, of one that is scheduled
	Expires     string `json:"expires,omitempty"` // RFC 3339
	Bytes       int    `json:"payload_bytes"`
	Payload     string `json:"payload"`          // the beginning of the body
	Encoding    string `json:"payload_encoding"` // of Payload: string or base64
}

// Scheduled is a message that waits for its time.
type Scheduled struct {
	MessageID  string `json:"message_id"`
	Due        string `json:"due"` // RFC 3339
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	Bytes      int    `json:"payload_bytes"`
}

// Schedule is one page of messages that wait for their time.
type Schedule struct {
	Total    int         `json:"total"`
	Messages []Scheduled `json:"messages"`
	Next     string      `json:"next,omitempty"` // for ?from=, when there are more
}

// DueTime says when.
type DueTime struct {
	Due time.Time `json:"due"` // RFC 3339
}

// Changed says how many messages a request was about.
type Changed struct {
	Messages int `json:"messages"`
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
