package resp

import (
	"math"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// remembering lets an id be known as done, of a job that was done elsewhere.
type remembering struct{ broker.Remember }

// jobRemember is JOB.REMEMBER queue mid ms [ATTEMPTS n] [FIRST ms].
func jobRemember(c *conn, args [][]byte) (request, error) {
	r := &remembering{}
	r.Queue = string(args[1])
	w := words{args: args[2:]}
	r.ID = w.mid()
	r.Until = c.srv.broker.Now() + w.ms()
	for w.more() {
		switch w.keyword() {
		case "ATTEMPTS":
			r.Attempts = uint32(w.number(math.MaxUint32))
		case "FIRST":
			r.First = w.ms()
		default:
			w.unknown()
		}
	}
	return r, w.err
}

func (r *remembering) commands(dst []broker.Command) []broker.Command {
	return append(dst, &r.Remember)
}

func (r *remembering) reply(w *respwire.Writer) {
	if r.Err != nil {
		jobError(w, r.ID, r.Err)
		return
	}
	w.OK()
}
