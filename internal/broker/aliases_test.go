package broker

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Names of core/catalog and core/failure that the tests of this package use often.
type (
	Applied         = catalog.Applied
	BindSpec        = catalog.BindSpec
	ExchangeSpec    = catalog.ExchangeSpec
	Limits          = catalog.Limits
	Overflow        = catalog.Overflow
	Parameter       = catalog.Parameter
	Permission      = catalog.Permission
	Policies        = catalog.Policies
	QueuePolicy     = catalog.QueuePolicy
	QueueSpec       = catalog.QueueSpec
	Rates           = catalog.Rates
	RetryType       = catalog.RetryType
	Rules           = catalog.Rules
	Ruling          = catalog.Ruling
	SyncChoice      = catalog.SyncChoice
	TopicPermission = catalog.TopicPermission
	User            = catalog.User
	UserSpec        = catalog.UserSpec
	VHostID         = catalog.VHostID
	VHostSpec       = catalog.VHostSpec
	Error           = failure.Error
)

const (
	DropHead          = catalog.DropHead
	LimitChannels     = catalog.LimitChannels
	LimitConnections  = catalog.LimitConnections
	LimitPublishBytes = catalog.LimitPublishBytes
	LimitPublishRate  = catalog.LimitPublishRate
	LimitQueues       = catalog.LimitQueues
	RejectPublish     = catalog.RejectPublish
	RejectPublishDLX  = catalog.RejectPublishDLX
	RetryAll          = catalog.RetryAll
	RetryFailed       = catalog.RetryFailed
	RetryReturned     = catalog.RetryReturned
	SyncAlways        = catalog.SyncAlways
	SyncBatch         = catalog.SyncBatch
	SyncDefault       = catalog.SyncDefault
	SyncOS            = catalog.SyncOS
)

var (
	ErrAccessRefused       = failure.ErrAccessRefused
	ErrClosed              = failure.ErrClosed
	ErrDefaultExchange     = failure.ErrDefaultExchange
	ErrExchangeNotFound    = failure.ErrExchangeNotFound
	ErrExclusive           = failure.ErrExclusive
	ErrExclusiveConsumer   = failure.ErrExclusiveConsumer
	ErrInUse               = failure.ErrInUse
	ErrInequivalent        = failure.ErrInequivalent
	ErrInternalExchange    = failure.ErrInternalExchange
	ErrInvalidBinding      = failure.ErrInvalidBinding
	ErrInvalidLimit        = failure.ErrInvalidLimit
	ErrInvalidName         = failure.ErrInvalidName
	ErrInvalidParameter    = failure.ErrInvalidParameter
	ErrInvalidPattern      = failure.ErrInvalidPattern
	ErrLogFailed           = failure.ErrLogFailed
	ErrNoFront             = failure.ErrNoFront
	ErrNotEmpty            = failure.ErrNotEmpty
	ErrQueueLimit          = failure.ErrQueueLimit
	ErrQueueNotFound       = failure.ErrQueueNotFound
	ErrRejected            = failure.ErrRejected
	ErrReservedName        = failure.ErrReservedName
	ErrStale               = failure.ErrStale
	ErrSystemExchange      = failure.ErrSystemExchange
	ErrTooLarge            = failure.ErrTooLarge
	ErrUnknownExchangeType = failure.ErrUnknownExchangeType
	ErrUserChannels        = failure.ErrUserChannels
	ErrUserConnections     = failure.ErrUserConnections
	ErrUserDeleted         = failure.ErrUserDeleted
	ErrUserNotFound        = failure.ErrUserNotFound
	ErrVHostConnections    = failure.ErrVHostConnections
	ErrVHostDeleted        = failure.ErrVHostDeleted
	ErrVHostNotFound       = failure.ErrVHostNotFound
	ErrVHostRefused        = failure.ErrVHostRefused
	ErrWrongKind           = failure.ErrWrongKind
)

// DefaultQueuePolicy is catalog.DefaultQueuePolicy.
func DefaultQueuePolicy() QueuePolicy { return catalog.DefaultQueuePolicy() }
