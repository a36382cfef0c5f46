package declareargs

import (
	"fmt"
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// maxTimer limits times in ms so that their sums stay in range: 140,000 years.
const maxTimer = 1 << 52

// MaxExpiry is RabbitMQ's limit of a TTL or expiry in ms: ten years.
const MaxExpiry = 315_360_000_000

// argCheck parses one argument into the policy. It returns the reason for rejecting it, in
// RabbitMQ's notation, or "" if it is valid.
type argCheck func(v any, args message.Table, p *catalog.QueuePolicy) (reason string)

// arg is an argument with a meaning here.
type arg struct {
	name  string
	check argCheck
}

// queueArgs are the arguments of queue.declare with a meaning here, in the order of the checks.
var queueArgs = []arg{
	{"x-expires", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		reason := expiry(v, &p.Expires)
		if reason == "" && p.Expires == 0 {
			return "{value_zero,0}"
		}
		return reason
	}},
	{"x-message-ttl", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return expiry(v, &p.MessageTTL) }},
	{"x-dead-letter-exchange", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		p.DeadLetter = true
		return text(v, &p.DeadLetterExchange)
	}},
	{"x-dead-letter-routing-key", func(v any, args message.Table, p *catalog.QueuePolicy) string {
		p.HasDeadLetterKey = true
		if reason := text(v, &p.DeadLetterKey); reason != "" {
			return reason
		}
		if _, ok := args.Get("x-dead-letter-exchange"); !ok {
			return "routing_key_but_no_dlx_defined"
		}
		if len(p.DeadLetterKey) > message.MaxShortStr {
			return "{max_value_exceeded," + strconv.Itoa(len(p.DeadLetterKey)) + "}"
		}
		return ""
	}},
	{"x-max-length", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return count(v, &p.MaxLength) }},
	{"x-max-length-bytes", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return count(v, &p.MaxLengthBytes) }},
	{"x-max-priority", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		var n int64
		if reason := count(v, &n); reason != "" {
			return reason
		}
		if n > math.MaxUint8 {
			return fmt.Sprintf("{max_value_exceeded,%d}", n)
		}
		p.MaxPriority = uint8(n)
		return ""
	}},
	{"x-overflow", overflow},
	{"x-queue-mode", queueMode},
	{"x-queue-version", queueVersion},
	{"x-single-active-consumer", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return Bool(v, &p.SingleActive) }},
	{"x-consumer-timeout", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		return positiveTimer(v, &p.ConsumerTimeout)
	}},
	{"x-delivery-limit", deliveryLimit},
	{"x-dead-letter-strategy", deadLetterStrategy},
	{"x-delayed-retry-type", retryType},
	{"x-delayed-retry-min", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return Timer(v, &p.RetryMin) }},
	{"x-delayed-retry-max", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return Timer(v, &p.RetryMax) }},
	{"x-group-header", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return nonEmpty(v, &p.GroupHeader) }},
	{"x-consume-after", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return Bool(v, &p.ConsumeAfter) }},
	dedupArgs[0], dedupArgs[1], dedupArgs[2], dedupArgs[3],
	{"x-sync", syncChoice},
}

// dedupArgs are the arguments of deduplication, for queues and exchanges.
var dedupArgs = [...]arg{
	{"x-message-deduplication", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return Bool(v, &p.Deduplicate) }},
	{"x-deduplication-header", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return nonEmpty(v, &p.DedupHeader) }},
	{"x-cache-size", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		if reason := count(v, &p.DedupEntries); reason != "" || p.DedupEntries > 0 {
			return reason
		}
		return "{value_zero,0}"
	}},
	{"x-cache-ttl", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return positiveTimer(v, &p.DedupTTL) }},
}
