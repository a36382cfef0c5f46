package floor

import (
	"strconv"

	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// redisAnswerer answers the commands of the job and list loads as the broker would.
type redisAnswerer struct {
	parser respwire.Parser
	args   [][]byte
}

func (a *redisAnswerer) answer(b []byte, r *reply) (int, error) { return whole(b, r, a.request) }

// request answers one command.
func (a *redisAnswerer) request(b []byte, r *reply) (int, error) {
	if a.parser.Limits == (respwire.Limits{}) {
		a.parser.Limits = respwire.Limits{Bulk: 1 << 20, Request: 16 << 20}
	}
	args, n, err := a.parser.Next(b, a.args[:0])
	if err != nil || n == 0 || len(args) == 0 {
		return n, err
	}
	a.args = args
	w := respwire.Writer{Buf: r.out}
	name := string(args[0])
	switch name {
	case "PING":
		w.Simple("PONG")
	case "JOB.ENQUEUE":
		w.Array(2)
		w.BulkString("added")
		w.Bulk(args[len(args)-1])
	case "JOB.TAKE":
		take(&w, args)
	case "LPUSH":
		w.Int(1)
	case "BRPOP":
		w.Array(2)
		w.Bulk(args[1])
		w.BulkString(hundred)
	case "JOB.DONE", "DEL", "QUEUE.CLEAR":
		w.Int(1)
	default: // JOB.STATUS: it has no jobs
		w.Null()
	}
	r.out = w.Buf
	switch name {
	case "JOB.ENQUEUE", "JOB.TAKE", "JOB.DONE", "LPUSH", "BRPOP":
		r.keep = append(r.keep, b[:n]...)
	}
	return n, nil
}

// hundred is a body of the size that the loads use.
const hundred = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

// take answers JOB.TAKE queue COUNT n with n jobs.
func take(w *respwire.Writer, args [][]byte) {
	n, err := strconv.Atoi(string(args[len(args)-1]))
	if err != nil {
		w.Error("ERR value is not an integer or out of range")
		return
	}
	w.Array(n)
	for range n {
		w.Map(8)
		for _, field := range [...][2]string{{"queue", string(args[1])}, {"mid", "job-1-1"}, {"body", hundred}, {"token", "1-1070422585147"}} {
			w.BulkString(field[0])
			w.BulkString(field[1])
		}
		w.Field("attempt", 1)
		w.Field("lock", 3_600_000)
		w.Field("enqueued", 1_795_876_717_930)
		w.BulkString("headers")
		w.Map(0)
	}
}
