package lists

import (
	"bytes"
	"math"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// positionRequest is LPOS, which returns the positions of an element in a list.
type positionRequest struct {
	look    lists.Range
	size    broker.Count // look may omit elements at the left
	element []byte
	skip    int // matches to skip
	most    int // maximum number of matches to return
	fromEnd bool
	counted bool // COUNT was given: the reply is an array
}

const rankIsZero = command.Error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list")

func lpos(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &positionRequest{
		look:    lists.Range{OnQueue: onQueue(args[1]), First: 0, Last: -1, Back: true},
		size:    broker.Count{OnQueue: onQueue(args[1])},
		element: args[2], most: 1,
	}
	for rest := args[3:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 {
			return nil, command.ErrSyntax
		}
		n, whole := command.Integer(rest[1])
		switch {
		case command.Is(rest[0], "rank"):
			switch {
			case !whole:
				return nil, command.ErrNotInteger
			case n == 0:
				return nil, rankIsZero
			}
			// The minimum integer has no positive counterpart. Redis then skips nothing.
			r.fromEnd, r.skip = n < 0, max(int(max(n, -n)), 1)-1
		case command.Is(rest[0], "count"):
			if !whole || n < 0 {
				return nil, command.Error("ERR COUNT can't be negative")
			}
			if r.counted, r.most = true, int(n); n == 0 {
				r.most = math.MaxInt
			}
		case command.Is(rest[0], "maxlen"):
			if !whole || n < 0 {
				return nil, command.Error("ERR MAXLEN can't be negative")
			}
			r.look.Last = int(n) - 1
		default:
			return nil, command.ErrSyntax
		}
	}
	if n := r.look.Last; r.fromEnd && n >= 0 {
		r.look.First, r.look.Last = -n-1, -1
	}
	return r, nil
}

func (r *positionRequest) Commands(dst []broker.Command) []broker.Command {
	return append(dst, &r.look, &r.size)
}

// Bulk implements command.Bulky: the request reads the elements that it compares.
func (r *positionRequest) Bulk() int { return math.MaxInt }

func (r *positionRequest) Reply(w *respwire.Writer) {
	if command.Failed(w, r.look.Err) || command.Failed(w, r.size.Err) {
		return
	}
	found := r.matches()
	switch {
	case r.counted:
		w.Array(len(found))
		for _, at := range found {
			w.Int(int64(at))
		}
	case len(found) == 0:
		w.Null()
	default:
		w.Int(int64(found[0]))
	}
}

// matches returns the positions to report, in the order of the search.
func (r *positionRequest) matches() (found []int) {
	bodies, skip := r.look.Bodies, r.skip
	if r.look.Err != nil { // the queue does not exist
		return nil
	}
	for i := range bodies {
		at, position := i, i
		if r.fromEnd {
			at = len(bodies) - 1 - i
			position = int(r.size.Ready) - 1 - i
		}
		if !bytes.Equal(bodies[at], r.element) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if found = append(found, position); len(found) == r.most {
			break
		}
	}
	return found
}
