package jobs

import (
	"math"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// enqueuing is a request that enqueues a job.
type enqueuing struct {
	jobs.Enqueue
	bad error // an error in its options: it is not enqueued
}

func (r *enqueuing) Commands(dst []broker.Command) []broker.Command {
	if r.bad != nil {
		return dst
	}
	return append(dst, &r.Enqueue)
}

func (r *enqueuing) Reply(w *respwire.Writer) {
	switch {
	case r.bad != nil:
		command.Fail(w, r.bad)
		return
	case r.Err != nil:
		jobError(w, r.ID, r.Err)
		return
	}
	w.Array(2)
	if r.Updated {
		w.BulkString("updated")
	} else {
		w.BulkString("added")
	}
	w.Bulk(r.ID)
}

// jobEnqueue implements JOB.ENQUEUE queue body [option …].
func jobEnqueue(c command.Conn, args [][]byte) (command.Request, error) {
	r := &enqueuing{}
	r.Queue, r.Body = string(args[1]), args[2]
	if err := r.options(c, args[3:]); err != nil {
		return nil, err
	}
	return r, nil
}

// options parses the options of a job.
func (r *enqueuing) options(c command.Conn, args [][]byte) error {
	w := command.Words{Rest: args}
	for w.More() {
		switch w.Keyword() {
		case "ID":
			r.ID = jobID(&w)
		case "BACKOFF":
			r.Backoff = w.MS()
		case "LOCK":
			r.Lock = w.MS()
		case "UPDATE":
			r.Update = true
		case "REQUEUE":
			r.Requeue = true
		case "RESETBACKOFF":
			r.ResetBackoff = true
		case "PRIORITY":
			r.Priority = uint8(w.Number(255))
		case "EXPIRE":
			r.TTL = w.MS()
		case "ATTEMPTS":
			r.Attempts = uint32(w.Number(math.MaxUint32))
		case "FIRST":
			r.First = w.MS()
		case "LOCKED":
			r.LeasedUntil = c.Time() + w.MS()
		case "HEADERS":
			r.headers(&w)
		default:
			w.Unknown()
		}
	}
	return w.Err
}

// headers reads names and values up to the last argument. Clients may not set the broker's own
// headers of jobs.
func (r *enqueuing) headers(w *command.Words) {
	if !w.More() {
		w.CutOff()
	}
	for w.More() {
		name, value := w.Next(), w.Next()
		if w.Err == nil && (len(name) > message.MaxShortStr || ownHeader(name)) {
			w.Fail(command.Errorf("ERR invalid header name '%s'", command.Quoted(name)))
		}
		r.Headers = append(r.Headers, message.Field{Name: string(name), Value: string(value)})
	}
}

// enqueuingMany is a request that enqueues several jobs.
type enqueuingMany struct{ jobs []enqueuing }

func (r *enqueuingMany) Commands(dst []broker.Command) []broker.Command {
	for i := range r.jobs {
		dst = r.jobs[i].Commands(dst)
	}
	return dst
}

func (r *enqueuingMany) Reply(w *respwire.Writer) {
	w.Array(len(r.jobs))
	for i := range r.jobs {
		r.jobs[i].Reply(w)
	}
}

// jobEnqueueMany implements JOB.MENQUEUE queue n, followed n times by a body, the number of option
// words, and these words.
func jobEnqueueMany(c command.Conn, args [][]byte) (command.Request, error) {
	w := command.Words{Rest: args[2:]}
	n := int(w.Positive(int64(len(args)) / 2))
	if w.Err != nil {
		return nil, w.Err
	}
	r, queue := &enqueuingMany{jobs: make([]enqueuing, n)}, string(args[1])
	for i := range r.jobs {
		job := &r.jobs[i]
		job.Queue, job.Body = queue, w.Next()
		many := int(w.Number(int64(len(args))))
		if many > len(w.Rest) {
			w.CutOff()
		}
		if w.Err != nil {
			return nil, w.Err
		}
		job.bad = job.options(c, w.Rest[:many])
		w.Rest = w.Rest[many:]
	}
	if w.More() {
		w.Next()
		w.Unknown()
	}
	return r, w.Err
}
