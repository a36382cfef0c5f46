package respclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// IsReply says that an error is what the broker answered, not that it could not be asked. A node
// that knows no leader (LOADING) has asked nobody.
func IsReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !strings.HasPrefix(reply.Error(), "LOADING ")
}

// IsNil says that the broker answered with nothing.
func IsNil(err error) bool { return errors.Is(err, redis.Nil) }

// Fields is a map of RESP3, or the flat array that stands for one in RESP2.
type Fields map[string]any

// FieldsOf reads a map; what is none has no fields.
func FieldsOf(v any) Fields {
	f := Fields{}
	switch v := v.(type) {
	case map[any]any:
		for k, value := range v {
			f[Text(k)] = value
		}
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			f[Text(v[i])] = v[i+1]
		}
	}
	return f
}

// Text is a value as text; "" for nothing.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// Text is the value of that name as text.
func (f Fields) Text(name string) string { return Text(f[name]) }

// Number is 0 for what is not there.
func (f Fields) Number(name string) int64 {
	switch v := f[name].(type) {
	case int64:
		return v
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return n
	}
	return 0
}

// Float is 0 for what is not there.
func (f Fields) Float(name string) float64 {
	switch v := f[name].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case string:
		n, _ := strconv.ParseFloat(v, 64)
		return n
	}
	return 0
}

// Duration is a span of time in ms.
func (f Fields) Duration(name string) time.Duration {
	return time.Duration(max(f.Number(name), 0)) * time.Millisecond
}

// Time is a moment in unix ms, zero for one that is not known.
func (f Fields) Time(name string) time.Time {
	if n := f.Number(name); n > 0 {
		return time.UnixMilli(n)
	}
	return time.Time{}
}

// Milliseconds is a time as commands take it; one that is less than a millisecond is one.
func Milliseconds(d time.Duration) int64 {
	if d > 0 && d < time.Millisecond {
		return 1
	}
	return d.Milliseconds()
}
