package resp

import (
	"fiveways/internal/broker"
	"fiveways/internal/core/job"
	"fiveways/internal/protocol/resp/respwire"
)

// asking is a question about a job.
type asking struct {
	broker.JobStatus
	detail bool
}

// jobStatus is JOB.STATUS queue mid [DETAIL].
func jobStatus(_ *conn, args [][]byte) (request, error) {
	r := &asking{}
	r.Queue, r.JobStatus.ID = string(args[1]), args[2]
	w := words{args: args[3:]}
	for w.more() {
		if w.keyword() != "DETAIL" {
			w.unknown()
		}
		r.detail = true
	}
	return r, w.err
}

func (r *asking) commands(dst []broker.Command) []broker.Command { return append(dst, &r.JobStatus) }

func (r *asking) reply(w *respwire.Writer) {
	switch {
	case missing(r.Err) || r.Err == nil && r.State == job.None:
		w.Null()
	case r.Err != nil:
		jobError(w, r.JobStatus.ID, r.Err)
	case r.detail:
		w.Map(detailFields)
		writeDetail(w, &r.JobInfo)
	default:
		w.BulkString(r.State.String())
	}
}

const detailFields = 7

// writeDetail writes what is known of a job, as fields of a map that was begun.
func writeDetail(w *respwire.Writer, j *broker.JobInfo) {
	w.BulkString("status")
	w.BulkString(j.State.String())
	field(w, "attempts", int64(j.Attempts))
	field(w, "enqueued", j.First)
	field(w, "backoff", j.Backoff)
	field(w, "lock", j.Lock)
	field(w, "size", int64(j.Size))
	field(w, "priority", int64(j.Priority))
}

// cancelling removes a job.
type cancelling struct{ broker.Cancel }

// jobCancel is JOB.CANCEL queue mid [FORCE].
func jobCancel(_ *conn, args [][]byte) (request, error) {
	r := &cancelling{}
	r.Queue, r.ID = string(args[1]), args[2]
	w := words{args: args[3:]}
	for w.more() {
		if w.keyword() != "FORCE" {
			w.unknown()
		}
		r.Force = true
	}
	return r, w.err
}

func (r *cancelling) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Cancel) }

func (r *cancelling) reply(w *respwire.Writer) {
	switch {
	case r.Err != nil && !missing(r.Err):
		jobError(w, r.ID, r.Err)
	case r.Cancelled:
		w.Int(1)
	default:
		w.Int(0)
	}
}
