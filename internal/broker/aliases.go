package broker

import (
	"fiveways/internal/authn"
	"fiveways/internal/core/catalog"
)

// Names of core/catalog and authn that this package uses very often. Others import those packages.
type (
	QueuePolicy     = catalog.QueuePolicy
	Overflow        = catalog.Overflow
	RetryType       = catalog.RetryType
	SyncChoice      = catalog.SyncChoice
	QueueSpec       = catalog.QueueSpec
	ExchangeSpec    = catalog.ExchangeSpec
	BindSpec        = catalog.BindSpec
	User            = catalog.User
	UserSpec        = catalog.UserSpec
	VHostSpec       = catalog.VHostSpec
	VHostInfo       = catalog.VHostInfo
	Permission      = catalog.Permission
	TopicPermission = catalog.TopicPermission
	Limits          = catalog.Limits
	Parameter       = catalog.Parameter
	Policies        = catalog.Policies
	Rules           = catalog.Rules
	Ruling          = catalog.Ruling
	Applied         = catalog.Applied
	Rates           = catalog.Rates
	VHostID         = catalog.VHostID
	Credentials     = authn.Credentials
)

const (
	DropHead         = catalog.DropHead
	RejectPublish    = catalog.RejectPublish
	RejectPublishDLX = catalog.RejectPublishDLX

	RetryDisabled = catalog.RetryDisabled
	RetryAll      = catalog.RetryAll
	RetryFailed   = catalog.RetryFailed
	RetryReturned = catalog.RetryReturned

	SyncDefault = catalog.SyncDefault
	SyncAlways  = catalog.SyncAlways
	SyncBatch   = catalog.SyncBatch
	SyncOS      = catalog.SyncOS

	TagAdministrator = catalog.TagAdministrator
	TagImpersonator  = catalog.TagImpersonator

	LimitConnections  = catalog.LimitConnections
	LimitQueues       = catalog.LimitQueues
	LimitChannels     = catalog.LimitChannels
	LimitPublishRate  = catalog.LimitPublishRate
	LimitPublishBytes = catalog.LimitPublishBytes
)

// DefaultQueuePolicy is catalog.DefaultQueuePolicy.
func DefaultQueuePolicy() QueuePolicy { return catalog.DefaultQueuePolicy() }
