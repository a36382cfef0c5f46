package forward

import (
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
)

// delayHeader is how many ms a delayed exchange holds a message. Consumers see it negated, so that
// a second delayed exchange does not delay the message again.
const delayHeader = "x-delay"

// MaxDelay bounds a delay in ms, so that adding it to a time cannot overflow: 140,000 years.
const MaxDelay = 1 << 52

// Delay reads the delay in ms from an encoded header table: an integer of any type, a decimal
// number as text, or a float, which is truncated. Anything else means no delay: 0.
func Delay(headers []byte) int64 {
	v, ok := message.HeaderLookup(headers, delayHeader)
	if !ok {
		return 0
	}
	d, _ := delayOf(v)
	return d
}

func delayOf(v any) (ms int64, ok bool) {
	if ms, ok = message.Int(v); !ok {
		switch v := v.(type) {
		case string:
			n, err := strconv.ParseInt(v, 10, 64)
			ms, ok = n, err == nil
		case float32:
			ms, ok = truncate(float64(v))
		case float64:
			ms, ok = truncate(v)
		case message.Decimal:
			ms, ok = truncate(float64(v.Value) / math.Pow10(int(v.Scale)))
		}
	}
	return min(ms, MaxDelay), ok
}

func truncate(f float64) (int64, bool) {
	if math.IsNaN(f) {
		return 0, false
	}
	return int64(max(-MaxDelay, min(f, MaxDelay))), true
}

// negateDelay negates the delay header of a delayed message. It returns props unchanged without a
// valid one.
func negateDelay(props []byte) []byte {
	p, err := message.DecodeProperties(props)
	if err != nil {
		return props
	}
	v, _ := p.Headers.Get(delayHeader)
	d, ok := delayOf(v)
	if !ok || d <= 0 {
		return props
	}
	if d <= math.MaxInt32 {
		p.Headers.Set(delayHeader, int32(-d)) // the type that the RabbitMQ plugin uses
	} else {
		p.Headers.Set(delayHeader, -d)
	}
	return p.Append(nil)
}
