package respclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// IsReply reports whether an error is the broker's reply to a command, rather than a failure to
// reach it. LOADING is such a failure: a node that knows no leader has not executed the command.
func IsReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !strings.HasPrefix(reply.Error(), "LOADING ")
}

// IsNil reports whether the reply is null.
func IsNil(err error) bool { return errors.Is(err, redis.Nil) }

// Fields is a RESP3 map, or the flat array that replaces it in RESP2.
type Fields map[string]any

// FieldsOf converts a reply to Fields. If it is no map, there are no fields.
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

// Text returns a value as text, or "" if it is nil.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// Text returns the value of a field as text.
func (f Fields) Text(name string) string { return Text(f[name]) }

// Number returns the value of a field, or 0 if it is missing.
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

// Float returns the value of a field, or 0 if it is missing.
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

// Duration returns the value of a field in ms as a Duration.
func (f Fields) Duration(name string) time.Duration {
	return time.Duration(max(f.Number(name), 0)) * time.Millisecond
}

// Time returns the value of a field in unix ms as a Time. It is zero if unknown.
func (f Fields) Time(name string) time.Time {
	if n := f.Number(name); n > 0 {
		return time.UnixMilli(n)
	}
	return time.Time{}
}

// Milliseconds returns a duration in the unit of commands. A positive duration below a millisecond
// is rounded up to one.
func Milliseconds(d time.Duration) int64 {
	if d > 0 && d < time.Millisecond {
		return 1
	}
	return d.Milliseconds()
}
