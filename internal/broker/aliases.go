package broker

import (
	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// Names of core/catalog and authn that this package uses often. Other packages import the
// originals.
type (
	QueuePolicy  = catalog.QueuePolicy
	Overflow     = catalog.Overflow
	SyncChoice   = catalog.SyncChoice
	QueueSpec    = catalog.QueueSpec
	ExchangeSpec = catalog.ExchangeSpec
	BindSpec     = catalog.BindSpec
	User         = catalog.User
	Limits       = catalog.Limits
	Parameter    = catalog.Parameter
	Policies     = catalog.Policies
	Ruling       = catalog.Ruling
	Applied      = catalog.Applied
	Rates        = catalog.Rates
	VHostID      = catalog.VHostID
	Credentials  = authn.Credentials
)

const (
	DropHead         = catalog.DropHead
	RejectPublishDLX = catalog.RejectPublishDLX

	SyncAlways = catalog.SyncAlways
	SyncBatch  = catalog.SyncBatch
	SyncOS     = catalog.SyncOS

	LimitConnections  = catalog.LimitConnections
	LimitChannels     = catalog.LimitChannels
	LimitPublishRate  = catalog.LimitPublishRate
	LimitPublishBytes = catalog.LimitPublishBytes
)

// DefaultQueuePolicy is catalog.DefaultQueuePolicy.
func DefaultQueuePolicy() QueuePolicy { return catalog.DefaultQueuePolicy() }
