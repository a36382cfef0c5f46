package broker

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Names of core/catalog and core/failure that only tests of this package use.
type (
	Permission      = catalog.Permission
	RetryType       = catalog.RetryType
	Rules           = catalog.Rules
	TopicPermission = catalog.TopicPermission
	UserSpec        = catalog.UserSpec
	VHostSpec       = catalog.VHostSpec
)

const (
	LimitQueues   = catalog.LimitQueues
	RejectPublish = catalog.RejectPublish
	RetryAll      = catalog.RetryAll
	RetryFailed   = catalog.RetryFailed
	RetryReturned = catalog.RetryReturned
	SyncDefault   = catalog.SyncDefault
)

var (
	ErrAccessRefused       = failure.ErrAccessRefused
	ErrDefaultExchange     = failure.ErrDefaultExchange
	ErrInvalidBinding      = failure.ErrInvalidBinding
	ErrInvalidLimit        = failure.ErrInvalidLimit
	ErrInvalidName         = failure.ErrInvalidName
	ErrInvalidParameter    = failure.ErrInvalidParameter
	ErrInvalidPattern      = failure.ErrInvalidPattern
	ErrQueueLimit          = failure.ErrQueueLimit
	ErrSystemExchange      = failure.ErrSystemExchange
	ErrUnknownExchangeType = failure.ErrUnknownExchangeType
	ErrUserDeleted         = failure.ErrUserDeleted
	ErrUserNotFound        = failure.ErrUserNotFound
	ErrVHostDeleted        = failure.ErrVHostDeleted
	ErrVHostRefused        = failure.ErrVHostRefused
)
