package resp

import (
	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// reporting is what became of a job, on its way.
type reporting struct{ broker.Report }

func (r *reporting) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Report) }

func (r *reporting) reply(w *respwire.Writer) { okOr(w, r.ID, r.Err) }

func okOr(w *respwire.Writer, mid []byte, err error) {
	switch {
	case missing(err):
		replyWith(w, staleToken(mid))
	case err != nil:
		jobError(w, mid, err)
	default:
		w.OK()
	}
}

// staleToken is the answer to a token that cannot be one: no lock has it.
func staleToken(mid []byte) error { return errorf(jobErrors[3].text, cut(mid, mostQuoted)) }

// leaseToken reads the token of a job.
func leaseToken(mid, text []byte) (broker.Token, error) {
	token, ok := broker.ParseToken(text)
	if !ok {
		return token, staleToken(mid)
	}
	return token, nil
}

// jobDone is JOB.DONE queue mid token [BACKOFF ms].
func jobDone(_ *conn, args [][]byte) (request, error) { return report(args, broker.JobDone) }

// jobRetry is JOB.RETRY queue mid token [BACKOFF ms].
func jobRetry(_ *conn, args [][]byte) (request, error) { return report(args, broker.JobRetry) }

// jobFail is JOB.FAIL queue mid token [ERROR text].
func jobFail(_ *conn, args [][]byte) (request, error) { return report(args, broker.JobFailed) }

func report(args [][]byte, outcome broker.Outcome) (request, error) {
	r := &reporting{}
	r.Queue, r.ID, r.Outcome = string(args[1]), args[2], outcome
	w := words{args: args[4:]}
	for w.more() {
		switch option := w.keyword(); {
		case option == "BACKOFF" && outcome != broker.JobFailed:
			r.Backoff = w.ms()
		case option == "ERROR" && outcome == broker.JobFailed:
			r.Error = w.next()
		default:
			w.unknown()
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	var err error
	r.Token, err = leaseToken(r.ID, args[3])
	return r, err
}

// extending sets the time of a lock.
type extending struct{ broker.Extend }

func (r *extending) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Extend) }

func (r *extending) reply(w *respwire.Writer) { okOr(w, r.ID, r.Err) }

// jobExtend is JOB.EXTEND queue mid token ms.
func jobExtend(_ *conn, args [][]byte) (request, error) {
	r, w := &extending{}, words{args: args[4:]}
	r.Queue, r.ID = string(args[1]), args[2]
	if r.Lock = w.ms(); w.err == nil && r.Lock == 0 {
		w.fail(errNotPositive)
	}
	if w.err != nil {
		return nil, w.err
	}
	var err error
	r.Token, err = leaseToken(r.ID, args[3])
	return r, err
}
