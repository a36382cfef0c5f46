package httpapi

import (
	"fiveways.dev/fiveways/internal/protocol/httpapi/access"
	"fiveways.dev/fiveways/internal/protocol/httpapi/messages"
	"fiveways.dev/fiveways/internal/protocol/httpapi/policy"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Types of the paths of package access.
type (
	Tags            = rest.Tags
	User            = access.User
	UserChange      = access.UserChange
	PasswordChange  = access.PasswordChange
	TagsChange      = access.TagsChange
	VHost           = access.VHost
	VHostChange     = access.VHostChange
	Tracing         = rest.Switch // of VHostChange
	Permission      = access.Permission
	TopicPermission = access.TopicPermission
	Switch          = access.Switch
)

// Types of the paths of package policy.
type (
	LimitValue = policy.LimitValue
	Limits     = policy.Limits
)

// Types of the paths of package messages.
type (
	MessagePage = messages.Page
	Schedule    = messages.Schedule
	DueTime     = messages.DueTime
	Changed     = messages.Changed
)
