package jobs

import (
	"cmp"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// counting is a request that counts the jobs of a queue.
type counting struct{ jobs.Counts }

// queueStatus implements QUEUE.STATUS queue.
func queueStatus(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &counting{}
	r.Queue = string(args[1])
	return r, nil
}

func (r *counting) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Counts) }

func (r *counting) Reply(w *respwire.Writer) {
	if command.Missing(r.Err) {
		r.Counts = jobs.Counts{}
	}
	if r.Err != nil {
		command.Fail(w, r.Err)
		return
	}
	c := &r.Counts
	w.Map(7)
	w.Field("nqueued", int64(c.Queued))
	w.Field("nlocked", int64(c.Locked))
	w.Field("nbackoff", int64(c.Backoff))
	w.Field("nrequeue", int64(c.Behind))
	w.Field("ndone", int64(c.Done))
	w.Field("ndonebackoff", int64(c.DoneBackoff))
	w.Field("ntotal", int64(c.Queued+c.Locked+c.Backoff+c.Done))
}

// listing is a request that lists the jobs of a queue.
type listing struct{ jobs.Content }

// The default and the maximum number of jobs that QUEUE.CONTENT lists.
const (
	usualContent = 10
	mostContent  = 10_000
)

// queueContent implements QUEUE.CONTENT queue [CURSOR c] [COUNT n].
func queueContent(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &listing{}, command.Words{Rest: args[2:]}
	r.Queue, r.Max = string(args[1]), usualContent
	for w.More() {
		switch w.Keyword() {
		case "CURSOR":
			r.Cursor = string(w.Next())
		case "COUNT":
			r.Max = int(min(w.Positive(1<<31), mostContent))
		default:
			w.Unknown()
		}
	}
	if r.Cursor == "0" {
		r.Cursor = ""
	}
	return r, w.Err
}

func (r *listing) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Content) }

func (r *listing) Reply(w *respwire.Writer) {
	if command.Missing(r.Err) {
		r.Content = jobs.Content{}
	}
	if r.Err != nil {
		command.Fail(w, r.Err)
		return
	}
	w.Array(2)
	w.BulkString(cmp.Or(r.Next, "0"))
	w.Array(len(r.Jobs))
	for i := range r.Jobs {
		w.Map(1 + detailFields(&r.Jobs[i]))
		w.BulkString("mid")
		w.Bulk(r.Jobs[i].ID)
		writeDetail(w, &r.Jobs[i])
	}
}

// clearing is a request that removes the jobs of queues.
type clearing struct{ queues []jobs.Clear }

// queueClear implements QUEUE.CLEAR queue [queue …].
func queueClear(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &clearing{queues: make([]jobs.Clear, len(args)-1)}
	for i := range r.queues {
		r.queues[i].Queue = string(args[i+1])
	}
	return r, nil
}

func (r *clearing) Commands(dst []broker.Command) []broker.Command {
	for i := range r.queues {
		dst = append(dst, &r.queues[i])
	}
	return dst
}

func (r *clearing) Reply(w *respwire.Writer) {
	n := 0
	for i := range r.queues {
		switch q := &r.queues[i]; {
		case q.Err == nil:
			n += q.Cleared
		case !command.Missing(q.Err):
			command.Fail(w, q.Err)
			return
		}
	}
	w.Int(int64(n))
}

// queueNames implements QUEUE.NAMES [pattern]. It lists the queues that hold messages in any state
// and that the client may read.
func queueNames(c command.Conn, args [][]byte) {
	w := c.Writer()
	if len(args) > 2 {
		w.Error(string(command.ErrSyntax))
		return
	}
	all, err := inspect.ReadableQueues(c.Session())
	if err != nil {
		command.Fail(w, err)
		return
	}
	var names []string
	for _, q := range all {
		if q.Ready+q.Unacked+q.Scheduled > 0 && (len(args) == 1 || glob.Match(string(args[1]), q.Name)) {
			names = append(names, q.Name)
		}
	}
	w.Strings(names)
}
