package lists

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

type popRequest struct {
	lists.Pop
	counted bool // a count was given: the answer is an array
}

func pop(back bool) command.Prepare {
	return func(_ command.Conn, args [][]byte) (command.Request, error) {
		r := &popRequest{Pop: lists.Pop{OnQueue: onQueue(args[1]), Back: back, Max: 1}}
		switch {
		case len(args) > 3:
			name := "rpop"
			if back {
				name = "lpop"
			}
			return nil, command.WrongNumber(name)
		case len(args) == 3:
			n, ok := command.Integer(args[2])
			if !ok || n < 0 {
				return nil, command.ErrNotPositive
			}
			r.Max, r.counted = int(n), true
		}
		return r, nil
	}
}

func (r *popRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Pop) }

// Bulk implements command.Bulky.
func (r *popRequest) Bulk() int { return r.Max }

func (r *popRequest) Reply(w *respwire.Writer) {
	empty := r.Err != nil || len(r.Bodies) == 0
	switch {
	case command.Failed(w, r.Err):
	case !r.counted && empty:
		w.Null()
	case !r.counted:
		w.Bulk(r.Bodies[0])
	case empty && (r.Err != nil || r.Left == 0):
		w.NullArray()
	default:
		bulks(w, r.Bodies)
	}
}

// firstPop takes elements from the first of several lists that has any.
type firstPop struct {
	pops    []lists.Pop
	many    bool          // the answer has an array of elements instead of one element
	timeout time.Duration // negative: no wait

	one   [1]lists.Pop // room for pops
	waits [1]broker.Command
}

// newFirstPop returns a request that takes up to most elements. Each list is tried only if those
// before it were empty.
func newFirstPop(names [][]byte, back bool, most int) *firstPop {
	r := &firstPop{timeout: -1}
	if r.pops = r.one[:]; len(names) != 1 {
		r.pops = make([]lists.Pop, len(names))
	}
	for i, name := range names {
		p := &r.pops[i]
		*p = lists.Pop{OnQueue: onQueue(name), Back: back, Max: most}
		if i > 0 {
			p.Unless = &r.pops[i-1]
		}
	}
	return r
}

func blockingPop(back bool) command.Prepare {
	return func(_ command.Conn, args [][]byte) (command.Request, error) {
		last := len(args) - 1
		r := newFirstPop(args[1:last], back, 1)
		var err error
		r.timeout, err = command.Seconds(args[last])
		return r, err
	}
}

// manyPop parses the arguments that LMPOP and BLMPOP share: numkeys key... LEFT|RIGHT [COUNT n].
func manyPop(args [][]byte, at int) (*firstPop, error) {
	n, ok := command.Integer(args[at])
	if !ok || n <= 0 {
		return nil, command.Error("ERR numkeys should be greater than 0")
	}
	at++
	if n >= int64(len(args)-at) {
		return nil, command.ErrSyntax
	}
	names, rest := args[at:at+int(n)], args[at+int(n):]
	back, err := left(rest[0])
	if err != nil {
		return nil, err
	}
	most := int64(1)
	for counted, rest := false, rest[1:]; len(rest) > 0; counted, rest = true, rest[2:] {
		if counted || len(rest) < 2 || !command.Is(rest[0], "count") {
			return nil, command.ErrSyntax
		}
		if most, ok = command.Integer(rest[1]); !ok || most <= 0 {
			return nil, command.Error("ERR count should be greater than 0")
		}
	}
	r := newFirstPop(names, back, int(min(most, math.MaxInt)))
	r.many = true
	return r, nil
}

func lmpop(_ command.Conn, args [][]byte) (command.Request, error) { return manyPop(args, 1) }

func blmpop(_ command.Conn, args [][]byte) (command.Request, error) {
	timeout, err := command.Seconds(args[1])
	if err != nil {
		return nil, err
	}
	r, err := manyPop(args, 2)
	if err != nil {
		return nil, err
	}
	r.timeout = timeout
	return r, nil
}

func (r *firstPop) Commands(dst []broker.Command) []broker.Command {
	for i := range r.pops {
		dst = append(dst, &r.pops[i])
	}
	return dst
}

func (r *firstPop) Wait() (commands []broker.Command, timeout time.Duration) {
	if r.timeout < 0 {
		return nil, 0
	}
	for i := range r.pops {
		r.pops[i].Create, r.pops[i].Unless = true, nil
	}
	return r.Commands(r.waits[:0]), r.timeout
}

// Bulk implements command.Bulky.
func (r *firstPop) Bulk() int { return r.pops[0].Max }

// Polled implements command.Pollable, for a request on one list.
func (r *firstPop) Polled() bool { return r.pops[0].Err != nil || len(r.pops[0].Bodies) > 0 }

func (r *firstPop) Reply(w *respwire.Writer) {
	for i := range r.pops {
		p := &r.pops[i]
		switch {
		case command.Missing(p.Err):
			continue
		case p.Err != nil:
			command.Fail(w, p.Err)
			return
		case len(p.Bodies) == 0:
			continue
		}
		w.Array(2)
		w.BulkString(p.Queue)
		if r.many {
			bulks(w, p.Bodies)
		} else {
			w.Bulk(p.Bodies[0])
		}
		return
	}
	w.NullArray()
}
