package arguments

import (
	"fmt"
	"slices"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
)

// count reads a number that is not negative.
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

// Timer reads a time in ms, bounded so that sums of times stay in range.
func Timer(v any, to *int64) string {
	if reason := count(v, to); reason != "" {
		return reason
	}
	*to = min(*to, maxTimer)
	return ""
}

// expiry reads a time in ms after which something is gone.
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

// positiveTimer reads a time in ms that is not zero.
func positiveTimer(v any, to *int64) string {
	reason := Timer(v, to)
	if reason == "" && *to == 0 {
		return "{value_zero,0}"
	}
	return reason
}

// Bool reads a choice. Like Timer it returns the reason for refusing the value, "" when it is well.
func Bool(v any, to *bool) string {
	on, ok := v.(bool)
	if !ok {
		return UnacceptableType(v)
	}
	*to = on
	return ""
}

// nonEmpty reads a name.
func nonEmpty(v any, to *string) string {
	reason := text(v, to)
	if reason == "" && *to == "" {
		return "\"must not be empty\""
	}
	return reason
}

func deliveryLimit(v any, _ message.Table, p *broker.QueuePolicy) string {
	p.CountDeliveries = true
	if n, ok := message.Int(v); ok && n < 0 { // RabbitMQ 4: no limit
		p.DeliveryLimit = -1
		return ""
	}
	return count(v, &p.DeliveryLimit)
}

func deadLetterStrategy(v any, _ message.Table, p *broker.QueuePolicy) string {
	p.AtLeastOnce = v == "at-least-once"
	return oneOf(v, "invalid_dlx_strategy", "at-most-once", "at-least-once")
}

func retryType(v any, _ message.Table, p *broker.QueuePolicy) string {
	switch v {
	case "all":
		p.RetryType = broker.RetryAll
	case "failed":
		p.RetryType = broker.RetryFailed
	case "returned":
		p.RetryType = broker.RetryReturned
	}
	return oneOf(v, "invalid_delayed_retry_type", "disabled", "all", "failed", "returned")
}

func syncChoice(v any, _ message.Table, p *broker.QueuePolicy) string {
	switch v {
	case "always":
		p.Sync = broker.SyncAlways
	case "batch":
		p.Sync = broker.SyncBatch
	case "os":
		p.Sync = broker.SyncOS
	}
	return oneOf(v, "invalid_sync", "always", "batch", "os")
}

func oneOf(v any, reason string, allowed ...string) string {
	s, ok := v.(string)
	switch {
	case !ok:
		return UnacceptableType(v)
	case !slices.Contains(allowed, s):
		return reason
	}
	return ""
}

func overflow(v any, _ message.Table, p *broker.QueuePolicy) string {
	if reason := oneOf(v, "invalid_overflow", "drop-head", "reject-publish", "reject-publish-dlx"); reason != "" {
		return reason
	}
	switch v {
	case "reject-publish":
		p.Overflow = broker.RejectPublish
	case "reject-publish-dlx":
		p.Overflow = broker.RejectPublishDLX
	}
	return ""
}
