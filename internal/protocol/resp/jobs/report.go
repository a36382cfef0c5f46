package jobs

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// reporting is a request that reports the outcome of a job.
type reporting struct{ jobs.Report }

func (r *reporting) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Report) }

func (r *reporting) Reply(w *respwire.Writer) { okOr(w, r.ID, r.Err) }

func okOr(w *respwire.Writer, mid []byte, err error) {
	switch {
	case command.Missing(err):
		command.Fail(w, staleToken(mid))
	case err != nil:
		jobError(w, mid, err)
	default:
		w.OK()
	}
}

// staleToken returns the error for a malformed token, which no lock can have.
func staleToken(mid []byte) error { return command.Errorf(jobErrors[3].text, command.Quoted(mid)) }

// leaseToken parses the token of a job.
func leaseToken(mid, text []byte) (jobs.Token, error) {
	token, ok := jobs.ParseToken(text)
	if !ok {
		return token, staleToken(mid)
	}
	return token, nil
}

// jobDone implements JOB.DONE queue mid token [BACKOFF ms].
func jobDone(_ command.Conn, args [][]byte) (command.Request, error) {
	return report(args, jobs.Done)
}

// jobRetry implements JOB.RETRY queue mid token [BACKOFF ms] [ERROR text].
func jobRetry(_ command.Conn, args [][]byte) (command.Request, error) {
	return report(args, jobs.Retry)
}

// jobFail implements JOB.FAIL queue mid token [ERROR text].
func jobFail(_ command.Conn, args [][]byte) (command.Request, error) {
	return report(args, jobs.Failed)
}

func report(args [][]byte, outcome jobs.Outcome) (command.Request, error) {
	r := &reporting{}
	r.Queue, r.ID, r.Outcome = string(args[1]), args[2], outcome
	w := command.Words{Rest: args[4:]}
	for w.More() {
		switch option := w.Keyword(); {
		case option == "BACKOFF" && outcome != jobs.Failed:
			r.Backoff = w.MS()
		case option == "ERROR" && outcome != jobs.Done:
			r.Error = w.Next()
		default:
			w.Unknown()
		}
	}
	if w.Err != nil {
		return nil, w.Err
	}
	var err error
	r.Token, err = leaseToken(r.ID, args[3])
	return r, err
}

// extending is a request that sets how long a lock still lasts.
type extending struct{ jobs.Extend }

func (r *extending) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Extend) }

func (r *extending) Reply(w *respwire.Writer) { okOr(w, r.ID, r.Err) }

// jobExtend implements JOB.EXTEND queue mid token ms.
func jobExtend(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &extending{}, command.Words{Rest: args[4:]}
	r.Queue, r.ID = string(args[1]), args[2]
	if r.Lock = w.MS(); w.Err == nil && r.Lock == 0 {
		w.Fail(command.ErrNotPositive)
	}
	if w.Err != nil {
		return nil, w.Err
	}
	var err error
	r.Token, err = leaseToken(r.ID, args[3])
	return r, err
}
