package broker

import "fiveways.dev/fiveways/internal/core/failure"

// Errors of the engine that this package uses. Other packages import core/failure.
var (
	ErrQueueNotFound     = failure.ErrQueueNotFound
	ErrExchangeNotFound  = failure.ErrExchangeNotFound
	ErrVHostNotFound     = failure.ErrVHostNotFound
	ErrInequivalent      = failure.ErrInequivalent
	ErrExclusive         = failure.ErrExclusive
	ErrInUse             = failure.ErrInUse
	ErrNotEmpty          = failure.ErrNotEmpty
	ErrReservedName      = failure.ErrReservedName
	ErrInternalExchange  = failure.ErrInternalExchange
	ErrExclusiveConsumer = failure.ErrExclusiveConsumer
	ErrVHostConnections  = failure.ErrVHostConnections
	ErrUserConnections   = failure.ErrUserConnections
	ErrUserChannels      = failure.ErrUserChannels
	ErrStale             = failure.ErrStale
	ErrRejected          = failure.ErrRejected
	ErrNoFront           = failure.ErrNoFront
	ErrTooLarge          = failure.ErrTooLarge
	ErrLogFailed         = failure.ErrLogFailed
	ErrWrongKind         = failure.ErrWrongKind
	ErrClosed            = failure.ErrClosed
)

// Error is failure.Error.
type Error = failure.Error
