package catalog

import "maps"

// The model of access: users, virtual hosts, and what each user may do in each. All of it is
// durable. What a tag allows outside of the engine (the HTTP API, the command line) is decided
// there.

// The tags that mean something to the engine or to RabbitMQ's tools. Others are kept and shown.
const (
	TagAdministrator = "administrator"
	TagImpersonator  = "impersonator" // may put any user's name into the user-id of its messages
)

// The names of limits, as RabbitMQ has them. A limit below 0 is none.
const (
	LimitConnections = "max-connections" // of a virtual host or of a user
	LimitQueues      = "max-queues"      // of a virtual host
	LimitChannels    = "max-channels"    // of a user, over all its connections

	LimitPublishRate  = "max-publish-rate"       // of a virtual host or of a user, messages per second
	LimitPublishBytes = "max-publish-bytes-rate" // the same, bytes of bodies per second
)

// Limits are the limits that are set, by name.
type Limits map[string]int64

// Get is a limit; below 0 is none.
func (l Limits) Get(name string) int64 {
	if n, ok := l[name]; ok {
		return n
	}
	return -1
}

// With is a copy in which one limit is different; remove takes it out.
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

// User is somebody who may log in.
type User struct {
	Name         string
	Tags         []string
	Hash         string // of the password; "": the user cannot log in with one
	Algorithm    string // how Hash was made: access.Argon2id, …
	LoopbackOnly bool   // may log in from this machine only
	Limits       Limits
	// Made tells the user from others that had its name before: what is granted to a user goes
	// with it.
	Made uint64
}

// UserSpec makes a user or changes one: password and tags become what it says. The password is
// given in clear (Password) or as a hash; without both the user cannot log in with a password.
type UserSpec struct {
	Name      string
	Password  string // hashed before it goes anywhere
	Hash      string
	Algorithm string // of Hash; "" is RabbitMQ's default, rabbit_password_hashing_sha256
	Tags      []string
	MakeOnly  bool // a user that is there stays as it is
}

// VHostSpec makes a virtual host or changes what is noted about it.
type VHostSpec struct {
	Name             string
	Description      string
	Tags             []string
	DefaultQueueType string // noted for tools; all queues are of one type here
}

// VHostInfo is a virtual host as it is.
type VHostInfo struct {
	VHostSpec
	Limits    Limits
	Queues    int // declared now, exclusive ones included
	Exchanges int // declared now, predeclared ones included
	Tapped    bool
}

// Permission is what a user may do in a virtual host: each member is a pattern (RE2) over the names
// of queues and exchanges, found anywhere in the name; the empty pattern matches no name. The
// default exchange is called amq.default here. Without a permission a user cannot enter a virtual
// host.
type Permission struct {
	User, VHost            string
	Configure, Write, Read string
}

// TopicPermission restricts, beyond the permission, with which routing keys a user may publish to a
// topic exchange and bind to it. Members are patterns over routing keys in which {username},
// {vhost} and {client_id} stand for their values.
type TopicPermission struct {
	User, VHost, Exchange string
	Write, Read           string
}

// Fact is the permission as the log has it.
func (p *Permission) Fact() *PermissionFact {
	return &PermissionFact{p.User, p.VHost, p.Configure, p.Write, p.Read}
}

// Fact is the topic permission as the log has it.
func (p *TopicPermission) Fact() *TopicFact {
	return &TopicFact{p.User, p.VHost, name(p.Exchange), p.Write, p.Read}
}
