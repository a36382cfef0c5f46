package catalog

import "maps"

// Access control: users, virtual hosts, and what each user may do in each. All of it is durable.
// What a tag allows outside the engine is decided by the HTTP API and the command line.

// The tags with a meaning for the engine or for RabbitMQ's tools. Other tags are only stored and
// shown.
const (
	TagAdministrator = "administrator"
	TagImpersonator  = "impersonator" // may set the user-id of messages to any user
)

// The names of limits, as in RabbitMQ. A limit below 0 is no limit.
const (
	LimitConnections = "max-connections" // of a virtual host or of a user
	LimitQueues      = "max-queues"      // of a virtual host
	LimitChannels    = "max-channels"    // of a user, across all its connections

	LimitPublishRate  = "max-publish-rate"       // of a virtual host or a user, messages per second
	LimitPublishBytes = "max-publish-bytes-rate" // the same, bytes of bodies per second
)

// Limits are the limits that have been set, by name.
type Limits map[string]int64

// Get returns a limit. A value below 0 means no limit.
func (l Limits) Get(name string) int64 {
	if n, ok := l[name]; ok {
		return n
	}
	return -1
}

// With returns a copy in which one limit is changed or, if remove is true, removed.
func (l Limits) With(name string, n int64, remove bool) Limits {
	c := maps.Clone(l)
	if remove {
		delete(c, name)
		return c
	}
	if c == nil {
		c = Limits{}
	}
	c[name] = n
	return c
}

// User is a user who may log in.
type User struct {
	Name         string
	Tags         []string
	Hash         string // of the password; "": the user cannot log in with one
	Algorithm    string // how Hash was computed: access.Argon2id, …
	LoopbackOnly bool   // may log in only from this machine
	Limits       Limits
	// Made distinguishes the user from earlier ones with its name, whose permissions it must not
	// inherit.
	Made uint64
}

// UserSpec creates a user, or replaces the password and tags of an existing one. The password is
// given in clear text (Password) or as a hash. Without either, the user cannot log in with a
// password.
type UserSpec struct {
	Name      string
	Password  string // hashed before it is stored or logged
	Hash      string
	Algorithm string // of Hash; "" means RabbitMQ's default, rabbit_password_hashing_sha256
	Tags      []string
	MakeOnly  bool // leave an existing user unchanged
}

// VHostSpec creates a virtual host or changes its description.
type VHostSpec struct {
	Name             string
	Description      string
	Tags             []string
	DefaultQueueType string // stored for tools; here all queues have the same type
}

// VHostInfo describes a virtual host.
type VHostInfo struct {
	VHostSpec
	Limits    Limits
	Queues    int // currently declared, including exclusive ones
	Exchanges int // currently declared, including predeclared ones
	Tapped    bool
}

// Permission is what a user may do in a virtual host. Each member is a pattern (RE2) that is
// searched in the names of queues and exchanges; the empty pattern matches no name. The default
// exchange is called amq.default here. Without a permission a user cannot enter a virtual host.
type Permission struct {
	User, VHost            string
	Configure, Write, Read string
}

// TopicPermission restricts, in addition to the permission, the routing keys with which a user may
// publish to a topic exchange and bind to it. Members are patterns over routing keys in which
// {username}, {vhost} and {client_id} stand for their values.
type TopicPermission struct {
	User, VHost, Exchange string
	Write, Read           string
}

// Fact returns the permission as a fact.
func (p *Permission) Fact() *PermissionFact {
	return &PermissionFact{p.User, p.VHost, p.Configure, p.Write, p.Read}
}

// Fact returns the topic permission as a fact.
func (p *TopicPermission) Fact() *TopicFact {
	return &TopicFact{p.User, p.VHost, name(p.Exchange), p.Write, p.Read}
}
