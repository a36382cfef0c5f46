package resp

import (
	"errors"

	"fiveways/internal/broker"
	"fiveways/internal/core/glob"
	"fiveways/internal/protocol/resp/respwire"
)

// missing tells that a queue is not there, which is the same as an empty one.
func missing(err error) bool { return errors.Is(err, broker.ErrQueueNotFound) }

// counting counts the jobs of a queue.
type counting struct{ broker.JobCounts }

// queueStatus is QUEUE.STATUS queue.
func queueStatus(_ *conn, args [][]byte) (request, error) {
	r := &counting{}
	r.Queue = string(args[1])
	return r, nil
}

func (r *counting) commands(dst []broker.Command) []broker.Command { return append(dst, &r.JobCounts) }

func (r *counting) reply(w *respwire.Writer) {
	if missing(r.Err) {
		r.JobCounts = broker.JobCounts{}
	}
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	c := &r.JobCounts
	w.Map(7)
	field(w, "nqueued", int64(c.Queued))
	field(w, "nlocked", int64(c.Locked))
	field(w, "nbackoff", int64(c.Backoff))
	field(w, "nrequeue", int64(c.Behind))
	field(w, "ndone", int64(c.Done))
	field(w, "ndonebackoff", int64(c.DoneBackoff))
	field(w, "ntotal", int64(c.Queued+c.Locked+c.Backoff+c.Done))
}

// listing lists the jobs of a queue.
type listing struct{ broker.JobContent }

// The number of jobs that QUEUE.CONTENT lists when it is not told one, and at most.
const (
	usualContent = 10
	mostContent  = 10_000
)

// queueContent is QUEUE.CONTENT queue [CURSOR c] [COUNT n].
func queueContent(_ *conn, args [][]byte) (request, error) {
	r, w := &listing{}, words{args: args[2:]}
	r.Queue, r.Max = string(args[1]), usualContent
	for w.more() {
		switch w.keyword() {
		case "CURSOR":
			r.Cursor = string(w.next())
		case "COUNT":
			n := w.number(1 << 31)
			if w.err == nil && n == 0 {
				w.fail(errNotPositive)
			}
			r.Max = int(min(n, mostContent))
		default:
			w.unknown()
		}
	}
	if r.Cursor == "0" {
		r.Cursor = ""
	}
	return r, w.err
}

func (r *listing) commands(dst []broker.Command) []broker.Command { return append(dst, &r.JobContent) }

func (r *listing) reply(w *respwire.Writer) {
	if missing(r.Err) {
		r.JobContent = broker.JobContent{}
	}
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	w.Array(2)
	if r.Next == "" {
		r.Next = "0"
	}
	w.BulkString(r.Next)
	w.Array(len(r.Jobs))
	for i := range r.Jobs {
		w.Map(1 + detailFields)
		w.BulkString("mid")
		w.Bulk(r.Jobs[i].ID)
		writeDetail(w, &r.Jobs[i])
	}
}

// clearing removes the jobs of queues.
type clearing struct{ queues []broker.JobClear }

// queueClear is QUEUE.CLEAR queue [queue …].
func queueClear(_ *conn, args [][]byte) (request, error) {
	r := &clearing{queues: make([]broker.JobClear, len(args)-1)}
	for i := range r.queues {
		r.queues[i].Queue = string(args[i+1])
	}
	return r, nil
}

func (r *clearing) commands(dst []broker.Command) []broker.Command {
	for i := range r.queues {
		dst = append(dst, &r.queues[i])
	}
	return dst
}

func (r *clearing) reply(w *respwire.Writer) {
	n := 0
	for i := range r.queues {
		switch q := &r.queues[i]; {
		case q.Err == nil:
			n += q.Cleared
		case !missing(q.Err):
			replyWith(w, q.Err)
			return
		}
	}
	w.Int(int64(n))
}

// queueNames is QUEUE.NAMES [pattern]: the queues that hold messages, whatever is happening to them, and that the client may read.
func queueNames(c *conn, args [][]byte) {
	if len(args) > 2 {
		c.w.Error(string(errSyntax))
		return
	}
	all, err := c.session.ReadableQueues()
	if err != nil {
		replyWith(&c.w, err)
		return
	}
	var names []string
	for _, q := range all {
		if q.Ready+q.Unacked+q.Scheduled > 0 && (len(args) == 1 || glob.Match(string(args[1]), q.Name)) {
			names = append(names, q.Name)
		}
	}
	c.w.Array(len(names))
	for _, name := range names {
		c.w.BulkString(name)
	}
}
