package declareargs

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// count parses a non-negative number.
func count(v any, to *int64) string {
	n, ok := message.Int(v)
	switch {
	case !ok:
		return NotAnInteger(v)
	case n < 0:
		return fmt.Sprintf("{value_negative,%d}", n)
	}
	*to = n
	return ""
}

// Timer parses a time in ms, bounded so that sums of times stay in range.
func Timer(v any, to *int64) string {
	if reason := count(v, to); reason != "" {
		return reason
	}
	*to = min(*to, maxTimer)
	return ""
}

// expiry parses a TTL in ms.
func expiry(v any, to *int64) string {
	reason := Timer(v, to)
	if reason == "" && *to > MaxExpiry {
		n, _ := message.Int(v)
		return fmt.Sprintf("{value_too_large,%d}", n)
	}
	return reason
}

func text(v any, to *string) string {
	s, ok := v.(string)
	if !ok {
		return UnacceptableType(v)
	}
	*to = s
	return ""
}

// positiveTimer parses a positive time in ms.
func positiveTimer(v any, to *int64) string {
	reason := Timer(v, to)
	if reason == "" && *to == 0 {
		return "{value_zero,0}"
	}
	return reason
}

// Bool parses a boolean. Like Timer it returns the reason for rejecting the value, or "" if it is
// valid.
func Bool(v any, to *bool) string {
	on, ok := v.(bool)
	if !ok {
		return UnacceptableType(v)
	}
	*to = on
	return ""
}

// nonEmpty parses a non-empty name.
func nonEmpty(v any, to *string) string {
	reason := text(v, to)
	if reason == "" && *to == "" {
		return "\"must not be empty\""
	}
	return reason
}

func deliveryLimit(v any, _ message.Table, p *catalog.QueuePolicy) string {
	p.CountDeliveries = true
	if n, ok := message.Int(v); ok && n < 0 { // RabbitMQ 4: no limit
		p.DeliveryLimit = -1
		return ""
	}
	return count(v, &p.DeliveryLimit)
}

// word returns a check for an argument that is one of some words, each of which represents a value.
func word[T any](refusal string, words map[string]T, of func(*catalog.QueuePolicy) *T) func(any, message.Table, *catalog.QueuePolicy) string {
	return func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		s, ok := v.(string)
		if !ok {
			return UnacceptableType(v)
		}
		value, ok := words[s]
		if !ok {
			return refusal
		}
		*of(p) = value
		return ""
	}
}

// Arguments whose values are words.
var (
	deadLetterStrategy = word("invalid_dlx_strategy", map[string]bool{"at-most-once": false, "at-least-once": true},
		func(p *catalog.QueuePolicy) *bool { return &p.AtLeastOnce })
	retryType = word("invalid_delayed_retry_type",
		map[string]catalog.RetryType{"disabled": catalog.RetryDisabled, "all": catalog.RetryAll, "failed": catalog.RetryFailed, "returned": catalog.RetryReturned},
		func(p *catalog.QueuePolicy) *catalog.RetryType { return &p.RetryType })
	syncChoice = word("invalid_sync", map[string]catalog.SyncChoice{"always": catalog.SyncAlways, "batch": catalog.SyncBatch, "os": catalog.SyncOS},
		func(p *catalog.QueuePolicy) *catalog.SyncChoice { return &p.Sync })
	overflow = word("invalid_overflow",
		map[string]catalog.Overflow{"drop-head": catalog.DropHead, "reject-publish": catalog.RejectPublish, "reject-publish-dlx": catalog.RejectPublishDLX},
		func(p *catalog.QueuePolicy) *catalog.Overflow { return &p.Overflow })
)
