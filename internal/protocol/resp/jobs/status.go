package jobs

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// asking is a request for the status of a job.
type asking struct {
	jobs.Status
	detail bool
}

// jobStatus implements JOB.STATUS queue mid [DETAIL].
func jobStatus(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &asking{}
	r.Queue, r.Status.ID = string(args[1]), args[2]
	w := command.Words{Rest: args[3:]}
	for w.More() {
		if w.Keyword() != "DETAIL" {
			w.Unknown()
		}
		r.detail = true
	}
	return r, w.Err
}

func (r *asking) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Status) }

func (r *asking) Reply(w *respwire.Writer) {
	switch {
	case command.Missing(r.Err) || r.Err == nil && r.State == job.None:
		w.Null()
	case r.Err != nil:
		jobError(w, r.Status.ID, r.Err)
	case r.detail:
		w.Map(detailFields(&r.Info))
		writeDetail(w, &r.Info)
	default:
		w.BulkString(r.State.String())
	}
}

// detailFields returns the number of fields that writeDetail writes.
func detailFields(j *jobs.Info) int {
	if j.Error != "" {
		return 8
	}
	return 7
}

// writeDetail writes the details of a job as fields of a map that the caller has begun.
func writeDetail(w *respwire.Writer, j *jobs.Info) {
	w.TextField("status", j.State.String())
	w.Field("attempts", int64(j.Attempts))
	w.Field("enqueued", j.First)
	w.Field("backoff", j.Backoff)
	w.Field("lock", j.Lock)
	w.Field("size", int64(j.Size))
	w.Field("priority", int64(j.Priority))
	if j.Error != "" {
		w.TextField("error", j.Error)
	}
}

// cancelling is a request that removes a job.
type cancelling struct{ jobs.Cancel }

// jobCancel implements JOB.CANCEL queue mid [FORCE].
func jobCancel(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &cancelling{}
	r.Queue, r.ID = string(args[1]), args[2]
	w := command.Words{Rest: args[3:]}
	for w.More() {
		if w.Keyword() != "FORCE" {
			w.Unknown()
		}
		r.Force = true
	}
	return r, w.Err
}

func (r *cancelling) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Cancel) }

func (r *cancelling) Reply(w *respwire.Writer) {
	switch {
	case r.Err != nil && !command.Missing(r.Err):
		jobError(w, r.ID, r.Err)
	case r.Cancelled:
		w.Int(1)
	default:
		w.Int(0)
	}
}
