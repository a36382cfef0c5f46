package dedup

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// ttlHeader is how long the message's key is remembered, in ms, overriding the queue's setting.
const ttlHeader = "x-cache-ttl"

// KeyIn returns the key of a message: a hash of the value of a header. A message without the header
// is never a duplicate. own is how long the message asks for its key to be remembered in ms, 0 if
// not given.
func KeyIn(env message.Envelope, header string) (key Key, own int64, ok bool) {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return key, 0, false
	}
	v, ok := message.HeaderLookup(peek.Headers, header)
	if !ok || v == nil {
		return key, 0, false
	}
	if ttl, ok := message.HeaderLookup(peek.Headers, ttlHeader); ok {
		if ms, ok := message.Int(ttl); ok && ms > 0 {
			own = ms
		}
	}
	return KeyOf(bytesOf(v)), own, true
}

// bytesOf converts a header value to bytes. Integers are written as text, so that 7 of any width
// and "7" are the same key.
func bytesOf(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case message.Bytes:
		return v
	}
	return fmt.Append(nil, v)
}
