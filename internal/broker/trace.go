package broker

import (
	"strings"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// TraceParent is the header that says to which trace a message belongs, in the form of W3C Trace
// Context. The broker passes it on as it is.
const TraceParent = "traceparent"

// Traces hears of messages that belong to a trace. It is called on a shard's goroutine and must not
// wait; of what is given to it it keeps nothing but values.
type Traces interface {
	// Published is told of a message that has come into a queue.
	Published(t *Traced)
	// Delivered is told of a message that is handed out.
	Delivered(t *Traced)
}

// Traced is something that happened to a message that belongs to a trace.
type Traced struct {
	Parent       string // the value of TraceParent
	VHost, Queue string
	Since, At    int64 // unix ns; Since is when it came in, At when it is not known any more
	Bytes        int   // of the body
	Redelivered  bool
}

// tracked is a message that belongs to a trace and was not handed out yet.
type tracked struct {
	parent string
	at     int64 // unix ns
}

// trackedID names a message of a shard.
type trackedID struct {
	queue  uint64
	handle queue.Handle
}

// mostTracked is how many of them a shard remembers; beyond it some are forgotten, of which then
// the time in their queue is not known.
const mostTracked = 10_000

// parentForm is the form of TraceParent: version, trace, span, and flags of which the lowest bit
// says that the trace is recorded.
const parentForm = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

// traceParent is what a message says of its trace, "" when that is nothing, or that the trace is
// not recorded.
func traceParent(env message.Envelope) string {
	headers, ok := message.FindProperty(env.Properties(), message.HasHeaders)
	if !ok {
		return ""
	}
	letter, value, ok := message.FindHeader(headers, TraceParent)
	if !ok || letter != 'S' || len(value) != len(parentForm) || !strings.ContainsRune("13579bdf", rune(value[len(value)-1])) {
		return ""
	}
	return string(value)
}

// traceIn tells of a message that has come into a queue.
func (sh *shard) traceIn(q *Queue, h queue.Handle, env message.Envelope) {
	parent := traceParent(env)
	if parent == "" || q.relay != nil {
		return
	}
	now := sh.b.opts.Now().UnixNano()
	if sh.tracked == nil {
		sh.tracked = map[trackedID]tracked{}
	}
	for id := range sh.tracked {
		if len(sh.tracked) < mostTracked {
			break
		}
		delete(sh.tracked, id)
	}
	sh.tracked[trackedID{q.ID, h}] = tracked{parent, now}
	sh.b.opts.Traces.Published(&Traced{Parent: parent, VHost: q.vhost.Name, Queue: q.Name, Since: now, At: now, Bytes: len(env.Body())})
}

// traceOut tells of a message that is handed out.
func (sh *shard) traceOut(q *Queue, it *queue.Item) {
	if q.relay != nil {
		return
	}
	now := sh.b.opts.Now().UnixNano()
	id := trackedID{q.ID, it.Handle}
	came, known := sh.tracked[id]
	if known {
		delete(sh.tracked, id)
	} else if it.Env != nil {
		came = tracked{traceParent(it.Env), now}
	}
	if came.parent == "" {
		return
	}
	sh.b.opts.Traces.Delivered(&Traced{
		Parent: came.parent, VHost: q.vhost.Name, Queue: q.Name, Since: came.at, At: now, Bytes: int(it.Size), Redelivered: it.Flags&queue.Redelivered != 0,
	})
}
