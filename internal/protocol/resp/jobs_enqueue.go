package resp

import (
	"math"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/protocol/resp/respwire"
)

// enqueuing is a job on its way into a queue.
type enqueuing struct {
	broker.Enqueue
	bad error // what is wrong with its options: it is not enqueued
}

func (r *enqueuing) commands(dst []broker.Command) []broker.Command {
	if r.bad != nil {
		return dst
	}
	return append(dst, &r.Enqueue)
}

func (r *enqueuing) reply(w *respwire.Writer) {
	switch {
	case r.bad != nil:
		replyWith(w, r.bad)
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

// jobEnqueue is JOB.ENQUEUE queue body [option …].
func jobEnqueue(c *conn, args [][]byte) (request, error) {
	r := &enqueuing{}
	r.Queue, r.Body = string(args[1]), args[2]
	if err := r.options(c, args[3:]); err != nil {
		return nil, err
	}
	return r, nil
}

// options reads the options of a job.
func (r *enqueuing) options(c *conn, args [][]byte) error {
	w := words{args: args}
	for w.more() {
		switch w.keyword() {
		case "ID":
			r.ID = w.mid()
		case "BACKOFF":
			r.Backoff = w.ms()
		case "LOCK":
			r.Lock = w.ms()
		case "UPDATE":
			r.Update = true
		case "REQUEUE":
			r.Requeue = true
		case "RESETBACKOFF":
			r.ResetBackoff = true
		case "PRIORITY":
			r.Priority = uint8(w.number(255))
		case "EXPIRE":
			r.TTL = w.ms()
		case "ATTEMPTS":
			r.Attempts = uint32(w.number(math.MaxUint32))
		case "FIRST":
			r.First = w.ms()
		case "LOCKED":
			r.LeasedUntil = c.srv.broker.Now() + w.ms()
		case "HEADERS":
			r.headers(&w)
		default:
			w.unknown()
		}
	}
	return w.err
}

// headers reads names and values to the end. The names of the broker's own headers of jobs are not the client's to set.
func (r *enqueuing) headers(w *words) {
	if !w.more() {
		w.cutOff()
	}
	for w.more() {
		name, value := w.next(), w.next()
		if w.err == nil && (len(name) > message.MaxShortStr || ownHeader(name)) {
			w.fail(errorf("ERR invalid header name '%s'", cut(name, mostQuoted)))
		}
		r.Headers = append(r.Headers, message.Field{Name: string(name), Value: string(value)})
	}
}

// enqueuingMany is several jobs on their way.
type enqueuingMany struct{ jobs []enqueuing }

func (r *enqueuingMany) commands(dst []broker.Command) []broker.Command {
	for i := range r.jobs {
		dst = r.jobs[i].commands(dst)
	}
	return dst
}

func (r *enqueuingMany) reply(w *respwire.Writer) {
	w.Array(len(r.jobs))
	for i := range r.jobs {
		r.jobs[i].reply(w)
	}
}

// jobEnqueueMany is JOB.MENQUEUE queue n, then n times: body, the number of words of options, these words.
func jobEnqueueMany(c *conn, args [][]byte) (request, error) {
	w := words{args: args[2:]}
	n := int(w.number(int64(len(args)) / 2))
	if w.err == nil && n == 0 {
		w.fail(errNotPositive)
	}
	if w.err != nil {
		return nil, w.err
	}
	r, queue := &enqueuingMany{jobs: make([]enqueuing, n)}, string(args[1])
	for i := range r.jobs {
		job := &r.jobs[i]
		job.Queue, job.Body = queue, w.next()
		many := int(w.number(int64(len(args))))
		if many > len(w.args) {
			w.cutOff()
		}
		if w.err != nil {
			return nil, w.err
		}
		job.bad = job.options(c, w.args[:many])
		w.args = w.args[many:]
	}
	if w.more() {
		w.next()
		w.unknown()
	}
	return r, w.err
}
