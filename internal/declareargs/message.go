package declareargs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
)

// NotBeforeName is the header with the earliest delivery time of a message.
const NotBeforeName = "not-before"

// LatestTime is the latest allowed delivery time, in unix ms.
const LatestTime = math.MaxInt64 / 4

// Expiration parses the expiration property, a number of ms as text. reason is RabbitMQ's error
// text, or "".
func Expiration(text []byte) (ms int64, reason string) {
	s := string(text)
	digits := len(s) - len(strings.TrimLeft(strings.TrimLeft(s, "+-"), "0123456789"))
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	number := strconv.FormatInt(n, 10)
	if errors.Is(err, strconv.ErrRange) { // n is then the closest number in range
		number, err = strings.TrimLeft(s, "+"), nil
	}
	switch {
	case err != nil:
		return 0, "no_integer"
	case digits < len(s):
		return 0, fmt.Sprintf("{leftover_string,%q}", s[digits:])
	case n < 0:
		return 0, fmt.Sprintf("{value_negative,%s}", number)
	case n > MaxExpiry:
		return 0, fmt.Sprintf("{value_too_large,%s}", number)
	}
	return n, ""
}

// NotBefore parses the header with the earliest delivery time and returns it in unix ms: a
// timestamp is in seconds, an integer in milliseconds, text is RFC 3339. reason describes an error.
func NotBefore(headers []byte) (ms int64, reason string) {
	v, ok := message.HeaderLookup(headers, NotBeforeName)
	if !ok {
		return 0, "it cannot be read"
	}
	switch t := v.(type) {
	case message.Timestamp:
		return int64(min(uint64(t), LatestTime/1000)) * 1000, ""
	case string:
		at, err := time.Parse(time.RFC3339, t)
		if err != nil {
			return 0, fmt.Sprintf("'%s' is not a time of RFC 3339", t)
		}
		return max(0, at.UnixMilli()), ""
	}
	ms, ok = message.Int(v)
	switch {
	case !ok:
		return 0, "unacceptable type " + message.TypeName(v)
	case ms < 0:
		return 0, fmt.Sprintf("%d is negative", ms)
	}
	return min(ms, LatestTime), ""
}
