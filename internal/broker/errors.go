package broker

import "fiveways/internal/core/failure"

// The errors of the engine, as this package names them. Others import core/failure.
var (
	ErrQueueNotFound       = failure.ErrQueueNotFound
	ErrExchangeNotFound    = failure.ErrExchangeNotFound
	ErrVHostNotFound       = failure.ErrVHostNotFound
	ErrUserNotFound        = failure.ErrUserNotFound
	ErrInequivalent        = failure.ErrInequivalent
	ErrExclusive           = failure.ErrExclusive
	ErrInUse               = failure.ErrInUse
	ErrNotEmpty            = failure.ErrNotEmpty
	ErrReservedName        = failure.ErrReservedName
	ErrDefaultExchange     = failure.ErrDefaultExchange
	ErrSystemExchange      = failure.ErrSystemExchange
	ErrInternalExchange    = failure.ErrInternalExchange
	ErrDeadlock            = failure.ErrDeadlock
	ErrExclusiveConsumer   = failure.ErrExclusiveConsumer
	ErrAccessRefused       = failure.ErrAccessRefused
	ErrVHostRefused        = failure.ErrVHostRefused
	ErrVHostDeleted        = failure.ErrVHostDeleted
	ErrUserDeleted         = failure.ErrUserDeleted
	ErrVHostConnections    = failure.ErrVHostConnections
	ErrUserConnections     = failure.ErrUserConnections
	ErrUserChannels        = failure.ErrUserChannels
	ErrQueueLimit          = failure.ErrQueueLimit
	ErrInvalidName         = failure.ErrInvalidName
	ErrInvalidPassword     = failure.ErrInvalidPassword
	ErrInvalidPattern      = failure.ErrInvalidPattern
	ErrInvalidParameter    = failure.ErrInvalidParameter
	ErrInvalidLimit        = failure.ErrInvalidLimit
	ErrUnknownExchangeType = failure.ErrUnknownExchangeType
	ErrInvalidBinding      = failure.ErrInvalidBinding
	ErrAlreadyQueued       = failure.ErrAlreadyQueued
	ErrLocked              = failure.ErrLocked
	ErrBackoff             = failure.ErrBackoff
	ErrStale               = failure.ErrStale
	ErrRejected            = failure.ErrRejected
	ErrNoFront             = failure.ErrNoFront
	ErrTooLarge            = failure.ErrTooLarge
	ErrLogFailed           = failure.ErrLogFailed
	ErrWrongKind           = failure.ErrWrongKind
	ErrClosed              = failure.ErrClosed
)

// Error is failure.Error.
type Error = failure.Error
