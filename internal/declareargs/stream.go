package declareargs

import (
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// StreamType is the x-queue-type of a stream.
const StreamType = "stream"

// RabbitMQ's names of its queue types.
const (
	classicKind = "rabbit_classic_queue"
	quorumKind  = "rabbit_quorum_queue"
	streamKind  = "rabbit_stream_queue"
)

// streamArgs are the arguments of a stream, in the order of the checks.
var streamArgs = []arg{
	{"x-max-length-bytes", func(v any, _ message.Table, p *catalog.QueuePolicy) string { return count(v, &p.MaxLengthBytes) }},
	{"x-max-age", maxAge},
	{segmentArg, ignoredCount},
	{"x-initial-cluster-size", clusterSize},
	{"x-queue-leader-locator", leaderLocator},
	{"x-stream-filter-size-bytes", ignoredCount},
	{"x-consumer-timeout", func(v any, _ message.Table, p *catalog.QueuePolicy) string {
		return positiveTimer(v, &p.ConsumerTimeout)
	}},
	{"x-sync", syncChoice},
}

// notOfStreams are arguments of other queues that streams do not support.
var notOfStreams = []string{
	"x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-dead-letter-strategy",
	"x-max-length", "x-max-in-memory-length", "x-max-in-memory-bytes", "x-max-priority", "x-overflow", "x-queue-mode",
	"x-queue-version", "x-single-active-consumer", "x-queue-master-locator", "x-quorum-initial-group-size", "x-delivery-limit",
	"x-delayed-retry-type", "x-delayed-retry-min", "x-delayed-retry-max", "x-group-header", "x-consume-after",
	"x-message-deduplication", "x-deduplication-header", "x-cache-size", "x-cache-ttl",
}

// Arguments that only streams support ask for something that no other queue does, so they are
// rejected and not ignored, as in RabbitMQ.
var (
	ofStreams          = []string{"x-max-age", segmentArg, "x-stream-filter-size-bytes", "x-initial-cluster-size"}
	ofStreamsConsumers = []string{"x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered"}
)

const (
	segmentArg = "x-stream-max-segment-size-bytes"
	maxSegment = 3_000_000_000 // bytes
)

// streamQueue parses the arguments of a stream.
func streamQueue(args message.Table) (catalog.QueuePolicy, *Refusal) {
	p := catalog.DefaultQueuePolicy()
	p.Stream = true
	if refused := check(streamArgs, args, &p); refused != nil {
		return p, refused
	}
	for _, f := range args {
		if slices.Contains(notOfStreams, f.Name) {
			return p, &Refusal{Arg: f.Name, Reason: streamKind, form: notOfType}
		}
	}
	if v, ok := args.Get(segmentArg); ok {
		if n, _ := message.Int(v); n > maxSegment {
			return p, &Refusal{Arg: segmentArg, form: tooLarge}
		}
	}
	return p, nil
}

// streamProperties rejects a stream that is not permanent.
func streamProperties(spec *catalog.QueueSpec) *Refusal {
	property := ""
	switch {
	case spec.AutoDelete:
		property = "auto-delete"
	case spec.Exclusive:
		property = "exclusive-owner"
	case !spec.Durable:
		property = "non-durable"
	}
	if property == "" {
		return nil
	}
	return &Refusal{Arg: property, form: wrongProperty}
}

// Consumer rejects consumer arguments that the type of the queue does not support. ofStream reports
// whether the queue is a stream.
func Consumer(args message.Table, ofStream bool) *Refusal {
	if ofStream {
		return refuse(args, []string{"x-priority", "x-cancel-on-ha-failover"}, streamKind)
	}
	return refuse(args, ofStreamsConsumers, classicKind)
}

// refuse rejects the given names in args, for a queue of RabbitMQ's type kind.
func refuse(args message.Table, names []string, kind string) *Refusal {
	for _, name := range names {
		if _, ok := args.Get(name); ok {
			return &Refusal{Arg: name, Reason: kind, form: notOfType}
		}
	}
	return nil
}

// ageUnits are the units of ages in ms. A month has 30 days, a year 365.
var ageUnits = map[string]int64{"s": 1000, "m": 60_000, "h": 3_600_000, "D": 86_400_000, "M": 30 * 86_400_000, "Y": 365 * 86_400_000}

// Age parses a duration in RabbitMQ's notation, such as 7D, and returns it in ms. ok is false if it
// is invalid. It is bounded so that sums with times stay in range.
func Age(s string) (ms int64, ok bool) {
	number := strings.TrimRight(s, "YMDhms")
	unit, known := ageUnits[s[len(number):]]
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil && len(number) > 0 && strings.Trim(number, "0123456789") == "" {
		n, err = maxTimer, nil
	}
	if !known || err != nil || n == 0 {
		return 0, false
	}
	return min(int64(n), maxTimer/unit) * unit, true
}

func maxAge(v any, _ message.Table, p *catalog.QueuePolicy) string {
	s, ok := v.(string)
	if !ok {
		return UnacceptableType(v)
	}
	if p.MaxAge, ok = Age(s); !ok {
		return "invalid_max_age"
	}
	return ""
}

// ignoredCount checks a number that has no meaning here.
func ignoredCount(v any, _ message.Table, _ *catalog.QueuePolicy) string {
	var n int64
	return count(v, &n)
}

func clusterSize(v any, _ message.Table, _ *catalog.QueuePolicy) string {
	var n int64
	if reason := count(v, &n); reason != "" || n > 0 {
		return reason
	}
	return "{value_zero,0}"
}

func leaderLocator(v any, _ message.Table, _ *catalog.QueuePolicy) string {
	switch s, ok := v.(string); {
	case !ok:
		return UnacceptableType(v)
	case !slices.Contains([]string{"client-local", "balanced", "random", "least-leaders"}, s):
		return "invalid_queue_locator_arg"
	}
	return ""
}
