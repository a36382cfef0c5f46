package routing

import (
	"math"

	"fiveways.dev/fiveways/internal/core/message"
)

// exact is a value that equals only an equal value of the same type: a table, an array, or a value
// without a simpler form.
type exact string

// plain converts a header value so that == compares values regardless of type: integers of any
// width, timestamps and whole floats become int64, text and bytes become string.
func plain(v any) any {
	if i, ok := message.Int(v); ok {
		return i
	}
	switch v := v.(type) {
	case nil, bool, string, message.Decimal:
		return v
	case message.Bytes:
		return string(v)
	case message.Timestamp:
		return int64(v)
	case float32:
		return plainFloat(float64(v))
	case float64:
		return plainFloat(v)
	}
	return exact(message.AppendTable(nil, message.Table{{Value: v}}))
}

func plainFloat(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return int64(f)
	}
	return f
}
