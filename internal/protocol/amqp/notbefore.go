package amqp

import (
	"fmt"
	"math"
	"time"

	"fiveways/internal/core/message"
	"fiveways/internal/protocol/amqp/amqpwire"
)

// notBeforeName is the header with the time before which a message is not
// delivered.
const notBeforeName = "not-before"

// latest is the last time that a message may wait for, unix ms.
const latest = math.MaxInt64 / 4

// notBefore reads the time, in unix ms: a timestamp is seconds, an integer
// milliseconds, text is RFC 3339.
func notBefore(headers []byte) (int64, error) {
	v, ok := message.HeaderLookup(headers, notBeforeName)
	if !ok {
		return 0, badNotBefore("it cannot be read")
	}
	switch t := v.(type) {
	case message.Timestamp:
		return int64(min(uint64(t), latest/1000)) * 1000, nil
	case string:
		at, err := time.Parse(time.RFC3339, t)
		if err != nil {
			return 0, badNotBefore(fmt.Sprintf("'%s' is not a time of RFC 3339", t))
		}
		return max(0, at.UnixMilli()), nil
	}
	ms, ok := message.Int(v)
	switch {
	case !ok:
		return 0, badNotBefore("unacceptable type " + message.TypeName(v))
	case ms < 0:
		return 0, badNotBefore(fmt.Sprintf("%d is negative", ms))
	}
	return min(ms, latest), nil
}

func badNotBefore(reason string) *fault {
	return faultf(amqpwire.PreconditionFailed, "invalid '%s' header: %s", notBeforeName, reason)
}

// marks tell which headers with a meaning for publishing a message has.
type marks uint8

const (
	markKeys      marks = 1 << iota // CC or BCC: further routing keys
	markNotBefore                   // not-before
)

// readMarks looks at the names of a message's headers, in one pass.
func readMarks(headers []byte) (found marks) {
	for len(headers) > 0 {
		name, rest := message.SkipHeader(headers)
		switch len(name) {
		case len("CC"), len("BCC"):
			if string(name) == "CC" || string(name) == "BCC" {
				found |= markKeys
			}
		case len(notBeforeName):
			if string(name) == notBeforeName {
				found |= markNotBefore
			}
		}
		headers = rest
	}
	return found
}
