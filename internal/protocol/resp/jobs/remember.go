package jobs

import (
	"math"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// remembering is a request that records the id of a job as done, for a job that was done elsewhere.
type remembering struct{ jobs.Remember }

// jobRemember implements JOB.REMEMBER queue mid ms [ATTEMPTS n] [FIRST ms].
func jobRemember(c command.Conn, args [][]byte) (command.Request, error) {
	r := &remembering{}
	r.Queue = string(args[1])
	w := command.Words{Rest: args[2:]}
	r.ID = jobID(&w)
	r.Until = c.Time() + w.MS()
	for w.More() {
		switch w.Keyword() {
		case "ATTEMPTS":
			r.Attempts = uint32(w.Number(math.MaxUint32))
		case "FIRST":
			r.First = w.MS()
		default:
			w.Unknown()
		}
	}
	return r, w.Err
}

func (r *remembering) Commands(dst []broker.Command) []broker.Command {
	return append(dst, &r.Remember)
}

func (r *remembering) Reply(w *respwire.Writer) {
	if r.Err != nil {
		jobError(w, r.ID, r.Err)
		return
	}
	w.OK()
}
