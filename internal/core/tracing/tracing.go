package tracing

import (
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Parent is the header with the trace of a message, in the form of W3C Trace Context. The broker
// passes it on unchanged.
const Parent = "traceparent"

// Listener receives the events of messages that belong to a trace. It is called on a shard's
// goroutine, must not block, and must not retain the pointer.
type Listener interface {
	// Published reports a message that was added to a queue.
	Published(e *Event)
	// Delivered reports a message that is delivered.
	Delivered(e *Event)
}

// Event is an event of a message that belongs to a trace.
type Event struct {
	Parent       string // the value of the header
	VHost, Queue string
	Since, At    int64 // unix ns; Since is when the message arrived, or At if that is unknown
	Bytes        int   // of the body
	Redelivered  bool
}

// Place is a queue.
type Place struct {
	ID           uint64
	VHost, Queue string
}

// Tracker reports the messages of a shard that belong to a trace.
type Tracker struct {
	to      Listener
	now     func() time.Time
	tracked map[messageID]tracked
}

// messageID identifies a message of a shard.
type messageID struct {
	queue  uint64
	handle queue.Handle
}

// tracked is a message that was not delivered yet.
type tracked struct {
	parent string
	at     int64 // unix ns
}

// maxTracked is how many messages a Tracker remembers. Beyond that it forgets others.
const maxTracked = 10_000

// NewTracker returns a tracker that reports to a listener and takes times from now.
func NewTracker(to Listener, now func() time.Time) *Tracker {
	return &Tracker{to, now, map[messageID]tracked{}}
}

// parentForm is the form of Parent: version, trace, span, and flags, of which the lowest bit means
// that the trace is recorded.
const parentForm = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

// parentOf returns the trace of a message, or "" if it has none or one that is not recorded.
func parentOf(env message.Envelope) string {
	headers, ok := message.FindProperty(env.Properties(), message.HasHeaders)
	if !ok {
		return ""
	}
	letter, value, ok := message.FindHeader(headers, Parent)
	if !ok || letter != 'S' || len(value) != len(parentForm) || !strings.ContainsRune("13579bdf", rune(value[len(value)-1])) {
		return ""
	}
	return string(value)
}

// Published must be called for each message that is added to a queue.
func (t *Tracker) Published(in Place, h queue.Handle, env message.Envelope) {
	parent := parentOf(env)
	if parent == "" {
		return
	}
	now := t.now().UnixNano()
	for id := range t.tracked {
		if len(t.tracked) < maxTracked {
			break
		}
		delete(t.tracked, id)
	}
	t.tracked[messageID{in.ID, h}] = tracked{parent, now}
	t.to.Published(&Event{Parent: parent, VHost: in.VHost, Queue: in.Queue, Since: now, At: now, Bytes: len(env.Body())})
}

// Delivered must be called for each message that is delivered.
func (t *Tracker) Delivered(in Place, it *queue.Item) {
	id, now := messageID{in.ID, it.Handle}, t.now().UnixNano()
	came, known := t.tracked[id]
	if known {
		delete(t.tracked, id)
	} else if it.Env != nil {
		came = tracked{parentOf(it.Env), now}
	}
	if came.parent == "" {
		return
	}
	t.to.Delivered(&Event{
		Parent: came.parent, VHost: in.VHost, Queue: in.Queue, Since: came.at, At: now, Bytes: int(it.Size),
		Redelivered: it.Flags&queue.Redelivered != 0,
	})
}
