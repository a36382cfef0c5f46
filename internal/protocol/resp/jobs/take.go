package jobs

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// taking is a request that takes jobs from queues.
type taking struct {
	takes   []jobs.Take // one per queue, in the order in which they are tried
	waits   bool
	timeout time.Duration // 0: no limit
}

// jobTake implements JOB.TAKE queue [queue …] [COUNT n] [LOCK ms] [BLOCK ms]. The list of queues
// ends at the first option.
func jobTake(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &taking{}, command.Words{Rest: args[1:]}
	for w.More() && (len(r.takes) == 0 || !takeOption(w.Rest[0])) {
		take := jobs.Take{Max: 1}
		take.Queue = string(w.Next())
		r.takes = append(r.takes, take)
	}
	most, lock := int64(1), int64(0)
	for w.More() {
		switch w.Keyword() {
		case "COUNT":
			most = w.Positive(math.MaxInt32)
		case "LOCK":
			lock = w.MS()
		case "BLOCK":
			r.waits, r.timeout = true, time.Duration(w.Number(int64(math.MaxInt64/time.Millisecond)))*time.Millisecond
		default:
			w.Unknown()
		}
	}
	for i := range r.takes {
		t := &r.takes[i]
		if t.Max, t.Lock = int(most), lock; i > 0 {
			t.Unless = &r.takes[i-1]
		}
	}
	return r, w.Err
}

func takeOption(b []byte) bool {
	switch command.Capitals(b) {
	case "COUNT", "LOCK", "BLOCK":
		return true
	}
	return false
}

// Bulk implements command.Bulky.
func (r *taking) Bulk() int { return r.takes[0].Max }

func (r *taking) Commands(dst []broker.Command) []broker.Command {
	for i := range r.takes {
		dst = append(dst, &r.takes[i])
	}
	return dst
}

func (r *taking) Wait() (commands []broker.Command, timeout time.Duration) {
	if !r.waits {
		return nil, 0
	}
	for i := range r.takes { // in a transaction takes run one by one and create no queues
		r.takes[i].Create, r.takes[i].Unless = true, nil
	}
	return r.Commands(nil), r.timeout
}

// Polled implements command.Pollable, for a request on one queue.
func (r *taking) Polled() bool { return r.takes[0].Err != nil || len(r.takes[0].Jobs) > 0 }

func (r *taking) Reply(w *respwire.Writer) {
	for i := range r.takes {
		switch t := &r.takes[i]; {
		case t.Err != nil && !command.Missing(t.Err):
			command.Fail(w, t.Err)
			return
		case t.Err == nil && len(t.Jobs) > 0:
			w.Array(len(t.Jobs))
			for j := range t.Jobs {
				writeJob(w, t.Queue, &t.Jobs[j])
			}
			return
		}
	}
	if r.waits {
		w.NullArray()
	} else {
		w.Array(0)
	}
}

// writeJob writes a taken job.
func writeJob(w *respwire.Writer, queue string, j *jobs.Job) {
	_, _, props, body := j.Env.Split()
	w.Map(8)
	w.TextField("queue", queue)
	w.BulkString("mid")
	w.Bulk(j.ID)
	w.BulkString("body")
	w.Bulk(body)
	w.Field("attempt", int64(j.Attempt))
	w.BulkString("token")
	var token [48]byte
	w.Bulk(j.Token.AppendTo(token[:0]))
	w.Field("lock", j.Lock)
	w.Field("enqueued", j.First)
	w.BulkString("headers")
	headers, _ := message.FindProperty(props, message.HasHeaders)
	writeHeaders(w, headers)
}
