package httpapi

import (
	"fiveways/internal/protocol/httpapi/access"
	"fiveways/internal/protocol/httpapi/messages"
)

// What the paths of package access show and take.
type (
	Tags            = access.Tags
	User            = access.User
	UserChange      = access.UserChange
	PasswordChange  = access.PasswordChange
	TagsChange      = access.TagsChange
	VHost           = access.VHost
	VHostChange     = access.VHostChange
	Permission      = access.Permission
	TopicPermission = access.TopicPermission
	Switch          = access.Switch
)

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

// What the paths of package messages show and take.
type (
	MessagePage = messages.Page
	Schedule    = messages.Schedule
	DueTime     = messages.DueTime
	Changed     = messages.Changed
)
