package amqp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/core/selector"
	"fiveways/internal/protocol/amqp/amqpwire"
)

// maxTimer bounds times in ms, so that their sums stay in range: 140,000 years.
const maxTimer = 1 << 52

// maxExpiry is RabbitMQ's bound of a TTL or expiry in ms: ten years.
const maxExpiry = 315_360_000_000

// argCheck reads one argument into the policy. What it returns is the reason
// for refusing it, in RabbitMQ's notation, "" when it is well.
type argCheck func(v any, args message.Table, p *broker.QueuePolicy) (reason string)

// arg is an argument that means something here.
type arg struct {
	name  string
	check argCheck
}

// queueArgs are the arguments of queue.declare that mean something here, in the
// order in which they are checked.
var queueArgs = []arg{
	{"x-expires", func(v any, _ message.Table, p *broker.QueuePolicy) string {
		reason := expiryArg(v, &p.Expires)
		if reason == "" && p.Expires == 0 {
			return "{value_zero,0}"
		}
		return reason
	}},
	{"x-message-ttl", func(v any, _ message.Table, p *broker.QueuePolicy) string { return expiryArg(v, &p.MessageTTL) }},
	{"x-dead-letter-exchange", func(v any, _ message.Table, p *broker.QueuePolicy) string {
		p.DeadLetter = true
		return stringArg(v, &p.DeadLetterExchange)
	}},
	{"x-dead-letter-routing-key", func(v any, args message.Table, p *broker.QueuePolicy) string {
		p.HasDeadLetterKey = true
		if reason := stringArg(v, &p.DeadLetterKey); reason != "" {
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
	{"x-max-length", func(v any, _ message.Table, p *broker.QueuePolicy) string { return countArg(v, &p.MaxLength) }},
	{"x-max-length-bytes", func(v any, _ message.Table, p *broker.QueuePolicy) string { return countArg(v, &p.MaxLengthBytes) }},
	{"x-max-priority", func(v any, _ message.Table, p *broker.QueuePolicy) string {
		var n int64
		if reason := countArg(v, &n); reason != "" {
			return reason
		}
		if n > math.MaxUint8 {
			return fmt.Sprintf("{max_value_exceeded,%d}", n)
		}
		p.MaxPriority = uint8(n)
		return ""
	}},
	{"x-overflow", overflowArg},
	{"x-queue-mode", func(v any, _ message.Table, _ *broker.QueuePolicy) string {
		return oneOf(v, fmt.Sprintf("\"unsupported queue mode '%v'\"", v), "default", "lazy")
	}},
	{"x-queue-version", func(v any, _ message.Table, _ *broker.QueuePolicy) string {
		var n int64
		if reason := countArg(v, &n); reason != "" || n == 1 || n == 2 {
			return reason
		}
		return fmt.Sprintf("\"unsupported queue version '%d'\"", n)
	}},
	{"x-single-active-consumer", func(v any, _ message.Table, p *broker.QueuePolicy) string { return boolArg(v, &p.SingleActive) }},
	{"x-consumer-timeout", func(v any, _ message.Table, p *broker.QueuePolicy) string {
		return positiveTimerArg(v, &p.ConsumerTimeout)
	}},
	{"x-delivery-limit", deliveryLimitArg},
	{"x-dead-letter-strategy", deadLetterStrategyArg},
	{"x-delayed-retry-type", retryTypeArg},
	{"x-delayed-retry-min", func(v any, _ message.Table, p *broker.QueuePolicy) string { return timerArg(v, &p.RetryMin) }},
	{"x-delayed-retry-max", func(v any, _ message.Table, p *broker.QueuePolicy) string { return timerArg(v, &p.RetryMax) }},
	{"x-group-header", func(v any, _ message.Table, p *broker.QueuePolicy) string { return nonEmptyArg(v, &p.GroupHeader) }},
	{"x-consume-after", func(v any, _ message.Table, p *broker.QueuePolicy) string { return boolArg(v, &p.ConsumeAfter) }},
	dedupArgs[0], dedupArgs[1], dedupArgs[2], dedupArgs[3],
	{"x-sync", syncArg},
}

// dedupArgs are the arguments of de-duplication, for queues and exchanges.
var dedupArgs = [...]arg{
	{"x-message-deduplication", func(v any, _ message.Table, p *broker.QueuePolicy) string { return boolArg(v, &p.Deduplicate) }},
	{"x-deduplication-header", func(v any, _ message.Table, p *broker.QueuePolicy) string { return nonEmptyArg(v, &p.DedupHeader) }},
	{"x-cache-size", func(v any, _ message.Table, p *broker.QueuePolicy) string {
		if reason := countArg(v, &p.DedupEntries); reason != "" || p.DedupEntries > 0 {
			return reason
		}
		return "{value_zero,0}"
	}},
	{"x-cache-ttl", func(v any, _ message.Table, p *broker.QueuePolicy) string { return positiveTimerArg(v, &p.DedupTTL) }},
}

// exchangePolicy reads those of exchange.declare for the exchange that rs names.
func exchangePolicy(args message.Table, rs string) (broker.QueuePolicy, error) {
	p := broker.DefaultQueuePolicy()
	for _, a := range dedupArgs {
		if v, ok := args.Get(a.name); ok {
			if reason := a.check(v, args, &p); reason != "" {
				return p, invalidArg(a.name, rs, reason)
			}
		}
	}
	return p, nil
}

// queuePolicy reads the arguments of queue.declare for the queue that rs names.
// Arguments that mean nothing here are kept and ignored, as RabbitMQ does.
func queuePolicy(args message.Table, rs string) (broker.QueuePolicy, error) {
	p := broker.DefaultQueuePolicy()
	if _, err := nameArg(args, "x-dead-letter-exchange", rs); err != nil {
		return p, err
	}
	for _, a := range queueArgs {
		v, ok := args.Get(a.name)
		if !ok {
			continue
		}
		if reason := a.check(v, args, &p); reason != "" {
			return p, invalidArg(a.name, rs, reason)
		}
	}
	rabbitKind := "rabbit_classic_queue"
	if v, ok := args.Get("x-queue-type"); ok {
		switch kind, ok := v.(string); {
		case !ok:
			return p, invalidArg("x-queue-type", rs, unacceptableType(v))
		case kind == "quorum":
			quorumDefaults(args, &p)
			rabbitKind = "rabbit_quorum_queue"
		case kind != "classic":
			return p, faultf(amqpwire.PreconditionFailed, "unsupported queue type '%s'", kind)
		}
	}
	return p, refuseStreamArgs(args, streamQueueArgs, rs, rabbitKind)
}

// quorumDeliveryLimit is the delivery limit of a quorum queue that names none.
const quorumDeliveryLimit = 20

// quorumDefaults gives a queue what RabbitMQ's quorum queues have unasked.
func quorumDefaults(args message.Table, p *broker.QueuePolicy) {
	p.CountDeliveries, p.ActiveByRank = true, true
	if _, ok := args.Get("x-delivery-limit"); !ok {
		p.DeliveryLimit = quorumDeliveryLimit
	}
}

// comparedArgs names the arguments that a second declaration must repeat: those
// that mean something, and the type unless it is the usual one.
func comparedArgs(args message.Table) []string {
	names := make([]string, len(queueArgs), len(queueArgs)+1)
	for i, a := range queueArgs {
		names[i] = a.name
	}
	if kind, ok := args.Get("x-queue-type"); ok && kind != "classic" {
		names = append(names, "x-queue-type")
	}
	return names
}

// consumerPriority reads x-priority of basic.consume.
func consumerPriority(args message.Table, rs string) (int, error) {
	const arg = "x-priority"
	v, ok := args.Get(arg)
	if !ok {
		return 0, nil
	}
	n, ok := message.Int(v)
	if !ok {
		return 0, invalidArg(arg, rs, notAnInteger(v))
	}
	return int(n), nil
}

// consumerSelector reads x-selector of basic.consume, nil when it is not there.
func consumerSelector(args message.Table, rs string) (*selector.Selector, error) {
	const arg = "x-selector"
	v, ok := args.Get(arg)
	if !ok {
		return nil, nil
	}
	text, ok := v.(string)
	if !ok {
		return nil, invalidArg(arg, rs, unacceptableType(v))
	}
	s, err := selector.Compile(text)
	if err != nil {
		return nil, invalidArg(arg, rs, err.Error())
	}
	return s, nil
}

// nameArg reads an argument that names an exchange, "" when it is not there.
func nameArg(args message.Table, arg, rs string) (string, error) {
	v, ok := args.Get(arg)
	if !ok {
		return "", nil
	}
	name, ok := v.(string)
	if !ok || len(name) > message.MaxShortStr {
		return "", faultf(amqpwire.PreconditionFailed, "invalid type '%s' for arg '%s' in %s", message.TypeName(v), arg, rs)
	}
	return name, nil
}

func invalidArg(arg, rs, reason string) *fault {
	return faultf(amqpwire.PreconditionFailed, "invalid arg '%s' for %s: %s", arg, rs, reason)
}

// notOfType refuses an argument that queues of that kind do not have.
func notOfType(arg, rs, kind string) *fault {
	return faultf(amqpwire.PreconditionFailed, "invalid arg '%s' for %s of queue type %s", arg, rs, kind)
}

func unacceptableType(v any) string { return "{unacceptable_type," + message.TypeName(v) + "}" }

func notAnInteger(v any) string { return `"expected integer, got ` + message.TypeName(v) + `"` }

// countArg reads a number that is not negative.
func countArg(v any, to *int64) string {
	n, ok := message.Int(v)
	switch {
	case !ok:
		return notAnInteger(v)
	case n < 0:
		return fmt.Sprintf("{value_negative,%d}", n)
	}
	*to = n
	return ""
}

// timerArg reads a time in ms.
func timerArg(v any, to *int64) string {
	if reason := countArg(v, to); reason != "" {
		return reason
	}
	*to = min(*to, maxTimer)
	return ""
}

// expiryArg reads a time in ms after which something is gone.
func expiryArg(v any, to *int64) string {
	reason := timerArg(v, to)
	if reason == "" && *to > maxExpiry {
		n, _ := message.Int(v)
		return fmt.Sprintf("{value_too_large,%d}", n)
	}
	return reason
}

func stringArg(v any, to *string) string {
	s, ok := v.(string)
	if !ok {
		return unacceptableType(v)
	}
	*to = s
	return ""
}

// positiveTimerArg reads a time in ms that is not zero.
func positiveTimerArg(v any, to *int64) string {
	reason := timerArg(v, to)
	if reason == "" && *to == 0 {
		return "{value_zero,0}"
	}
	return reason
}

func boolArg(v any, to *bool) string {
	on, ok := v.(bool)
	if !ok {
		return unacceptableType(v)
	}
	*to = on
	return ""
}

// nonEmptyArg reads a name.
func nonEmptyArg(v any, to *string) string {
	reason := stringArg(v, to)
	if reason == "" && *to == "" {
		return "\"must not be empty\""
	}
	return reason
}

func deliveryLimitArg(v any, _ message.Table, p *broker.QueuePolicy) string {
	p.CountDeliveries = true
	if n, ok := message.Int(v); ok && n < 0 { // RabbitMQ 4: no limit
		p.DeliveryLimit = -1
		return ""
	}
	return countArg(v, &p.DeliveryLimit)
}

func deadLetterStrategyArg(v any, _ message.Table, p *broker.QueuePolicy) string {
	p.AtLeastOnce = v == "at-least-once"
	return oneOf(v, "invalid_dlx_strategy", "at-most-once", "at-least-once")
}

func retryTypeArg(v any, _ message.Table, p *broker.QueuePolicy) string {
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

func syncArg(v any, _ message.Table, p *broker.QueuePolicy) string {
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
		return unacceptableType(v)
	case !slices.Contains(allowed, s):
		return reason
	}
	return ""
}

func overflowArg(v any, _ message.Table, p *broker.QueuePolicy) string {
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

// expiration reads the expiration property, a number of ms in text.
func expiration(b []byte) (int64, error) {
	s := string(b)
	digits := len(s) - len(strings.TrimLeft(strings.TrimLeft(s, "+-"), "0123456789"))
	reason := ""
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	number := strconv.FormatInt(n, 10)
	if errors.Is(err, strconv.ErrRange) { // n is then the number that comes next to it
		number, err = strings.TrimLeft(s, "+"), nil
	}
	switch {
	case err != nil:
		reason = "no_integer"
	case digits < len(s):
		reason = fmt.Sprintf("{leftover_string,%q}", s[digits:])
	case n < 0:
		reason = fmt.Sprintf("{value_negative,%s}", number)
	case n > maxExpiry:
		reason = fmt.Sprintf("{value_too_large,%s}", number)
	default:
		return n, nil
	}
	return 0, faultf(amqpwire.PreconditionFailed, "invalid expiration '%s': %s", s, reason)
}

// inequivalentText tells how two declarations differ. The engine's differences
// of exchanges come worded.
func inequivalentText(e *broker.Error) string {
	received, current := e.Received, e.Current
	if e.Kind == "queue" {
		typed := received == nil || current == nil
		received, current = phrase(received, typed), phrase(current, typed)
	}
	return fmt.Sprintf("inequivalent arg '%s' for %s: received %v but current is %v",
		e.Arg, resource(e.Kind, e.Name, e.VHost), received, current)
}

// phrase words a value of a queue's declaration, with its type where there is
// no other value to compare it with.
func phrase(v any, typed bool) string {
	if v == nil {
		return "none"
	}
	kind := message.TypeName(v)
	switch x := v.(type) {
	case message.Decimal:
		v = fmt.Sprintf("{%d,%d}", x.Scale, x.Value)
	case message.Bytes:
		v = string(x)
	case float32:
		v = floatText(float64(x), 32)
	case float64:
		v = floatText(x, 64)
	}
	if typed {
		return fmt.Sprintf("the value '%v' of type '%s'", v, kind)
	}
	return fmt.Sprintf("'%v'", v)
}

// floatText words a number as RabbitMQ does: with a point, always.
func floatText(x float64, bits int) string {
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
