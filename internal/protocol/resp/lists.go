package resp

import (
	"errors"
	"math"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// A list is a queue. Its left end is the end of the queue, where other protocols publish; its right end is the head, which consumers get next.

func listCommands() []command {
	const about = write | noScript | blocking
	return []command{
		{name: "lpush", arity: -3, flags: write | denyOOM | fast, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Put elements at the left end: publish to the queue", prepare: push(false, false)},
		{name: "rpush", arity: -3, flags: write | denyOOM | fast, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Put elements at the right end: before the head of the queue", prepare: push(true, false)},
		{name: "lpushx", arity: -3, flags: write | denyOOM | fast, keys: oneKey, group: "list", since: "2.2.0",
			summary: "Put elements at the left end of a list that has some", prepare: push(false, true)},
		{name: "rpushx", arity: -3, flags: write | denyOOM | fast, keys: oneKey, group: "list", since: "2.2.0",
			summary: "Put elements at the right end of a list that has some", prepare: push(true, true)},
		{name: "lpop", arity: -2, flags: write | fast, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Take elements off the left end: the youngest messages", prepare: pop(true)},
		{name: "rpop", arity: -2, flags: write | fast, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Take elements off the right end: the next messages of the queue", prepare: pop(false)},
		{name: "blpop", arity: -3, flags: about, keys: keys{1, -2, 1}, group: "list", since: "2.0.0",
			summary: "Take the youngest message of the first queue that has one, or wait for one", prepare: blockingPop(true)},
		{name: "brpop", arity: -3, flags: about, keys: keys{1, -2, 1}, group: "list", since: "2.0.0",
			summary: "Take the next message of the first queue that has one, or wait for one", prepare: blockingPop(false)},
		{name: "lmpop", arity: -4, flags: write | movableKeys, group: "list", since: "7.0.0",
			summary: "Take several elements of the first list that has some", prepare: func(_ *conn, args [][]byte) (request, error) { return manyPop(args, 1) }},
		{name: "blmpop", arity: -5, flags: write | blocking | movableKeys, group: "list", since: "7.0.0",
			summary: "Take several elements of the first list that has some, or wait for one", prepare: blockingManyPop},
		{name: "llen", arity: 2, flags: readonly | fast, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Count the messages that wait in a queue", prepare: length},
		{name: "lrange", arity: 4, flags: readonly, keys: oneKey, group: "list", since: "1.0.0",
			summary: "Look at a range of a list; 0 is the youngest message", prepare: lrange},
		{name: "lindex", arity: 3, flags: readonly, keys: oneKey, group: "list", since: "1.0.0", summary: "Look at one element of a list", prepare: lindex},
		{name: "lpos", arity: -3, flags: readonly, keys: oneKey, group: "list", since: "6.0.6", summary: "Tell where in a list an element is", prepare: lpos},
		{name: "lrem", arity: 4, flags: write, keys: oneKey, group: "list", since: "1.0.0", summary: "Take the elements out that are equal to one", prepare: lrem},
		{name: "ltrim", arity: 4, flags: write, keys: oneKey, group: "list", since: "1.0.0", summary: "Keep a range of a list only", prepare: ltrim},
		{name: "lmove", arity: 5, flags: write | denyOOM, keys: keys{1, 2, 1}, group: "list", since: "6.2.0",
			summary: "Move an element from one list to another", prepare: lmove},
		{name: "blmove", arity: 6, flags: about | denyOOM, keys: keys{1, 2, 1}, group: "list", since: "6.2.0",
			summary: "Move an element from one list to another, or wait for one", prepare: blmove},
		{name: "rpoplpush", arity: 3, flags: write | denyOOM, keys: keys{1, 2, 1}, group: "list", since: "1.2.0",
			summary: "Move the next message of a queue to the end of another", prepare: rpoplpush},
		{name: "brpoplpush", arity: 4, flags: about | denyOOM, keys: keys{1, 2, 1}, group: "list", since: "2.2.0",
			summary: "Move the next message of a queue to the end of another, or wait for one", prepare: brpoplpush},
	}
}

// onQueue names the queue of an argument.
func onQueue(name []byte) broker.OnQueue { return broker.OnQueue{Queue: string(name)} }

// failed writes the error of a command, if it has one. That there is no queue is none: it is empty.
func failed(w *respwire.Writer, err error) bool {
	if err == nil || errors.Is(err, broker.ErrQueueNotFound) {
		return false
	}
	replyWith(w, err)
	return true
}

type pushRequest struct{ broker.Push }

func push(front, mustExist bool) func(*conn, [][]byte) (request, error) {
	return func(_ *conn, args [][]byte) (request, error) {
		return &pushRequest{broker.Push{OnQueue: onQueue(args[1]), Bodies: args[2:], Front: front, Create: !mustExist, MustExist: mustExist}}, nil
	}
}

func (r *pushRequest) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Push) }

func (r *pushRequest) reply(w *respwire.Writer) {
	if failed(w, r.Err) {
		return
	}
	if r.Err != nil {
		r.Len = 0
	}
	w.Int(int64(r.Len))
}

type lengthRequest struct{ broker.Count }

func length(_ *conn, args [][]byte) (request, error) {
	return &lengthRequest{broker.Count{OnQueue: onQueue(args[1])}}, nil
}

func (r *lengthRequest) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Count) }

func (r *lengthRequest) reply(w *respwire.Writer) {
	if failed(w, r.Err) {
		return
	}
	if r.Err != nil {
		r.Ready = 0
	}
	w.Int(int64(r.Ready))
}

// place is a whole number that is a place in a list.
func place(b []byte) (int, error) {
	n, ok := integer(b)
	if !ok {
		return 0, errNotInteger
	}
	return int(n), nil
}

// places are the two ends of a range.
func places(args [][]byte) (first, last int, err error) {
	if first, err = place(args[0]); err == nil {
		last, err = place(args[1])
	}
	return first, last, err
}

type rangeRequest struct {
	broker.Range
	one bool
	bad error // what is wrong with the place, when there is an element at all
}

func lrange(_ *conn, args [][]byte) (request, error) {
	first, last, err := places(args[2:])
	return &rangeRequest{Range: broker.Range{OnQueue: onQueue(args[1]), First: first, Last: last, Back: true}}, err
}

func lindex(_ *conn, args [][]byte) (request, error) {
	at, err := place(args[2])
	return &rangeRequest{Range: broker.Range{OnQueue: onQueue(args[1]), First: at, Last: at, Back: true}, one: true, bad: err}, nil
}

func (r *rangeRequest) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Range) }

func (r *rangeRequest) reply(w *respwire.Writer) {
	switch {
	case failed(w, r.Err):
	case r.Err != nil && r.one, r.one && len(r.Bodies) == 0:
		w.Null()
	case r.bad != nil:
		replyWith(w, r.bad)
	case r.Err != nil:
		w.Array(0)
	case r.one:
		w.Bulk(r.Bodies[0])
	default:
		bulks(w, r.Bodies)
	}
}

func bulks(w *respwire.Writer, all [][]byte) {
	w.Array(len(all))
	for _, b := range all {
		w.Bulk(b)
	}
}

type removeRequest struct{ broker.Remove }

func lrem(_ *conn, args [][]byte) (request, error) {
	n, err := place(args[2])
	r := &removeRequest{broker.Remove{OnQueue: onQueue(args[1]), Max: n, Back: n > 0, Body: args[3]}}
	switch {
	case n == math.MinInt:
		r.Max = math.MaxInt
	case n < 0:
		r.Max = -n
	}
	return r, err
}

func (r *removeRequest) commands(dst []broker.Command) []broker.Command {
	return append(dst, &r.Remove)
}

func (r *removeRequest) reply(w *respwire.Writer) {
	if failed(w, r.Err) {
		return
	}
	if r.Err != nil {
		r.Removed = 0
	}
	w.Int(int64(r.Removed))
}

type trimRequest struct{ broker.Trim }

func ltrim(_ *conn, args [][]byte) (request, error) {
	first, last, err := places(args[2:])
	return &trimRequest{broker.Trim{OnQueue: onQueue(args[1]), First: first, Last: last, Back: true}}, err
}

func (r *trimRequest) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Trim) }

func (r *trimRequest) reply(w *respwire.Writer) {
	if !failed(w, r.Err) {
		w.OK()
	}
}

// moveRequest is one of the commands that take from one list and put into another.
type moveRequest struct {
	broker.Move
	timeout time.Duration // negative: it does not wait
	waited  bool
}

// left tells whether a word says LEFT; else it must say RIGHT.
func left(b []byte) (bool, error) {
	switch {
	case is(b, "left"):
		return true, nil
	case is(b, "right"):
		return false, nil
	}
	return false, errSyntax
}

func newMove(from, to []byte, fromLeft, toLeft bool) *moveRequest {
	return &moveRequest{
		Move:    broker.Move{OnQueue: onQueue(from), To: string(to), FromBack: fromLeft, ToFront: !toLeft, CreateTo: true},
		timeout: -1,
	}
}

func lmove(_ *conn, args [][]byte) (request, error) {
	fromLeft, err := left(args[3])
	if err != nil {
		return nil, err
	}
	toLeft, err := left(args[4])
	return newMove(args[1], args[2], fromLeft, toLeft), err
}

func rpoplpush(_ *conn, args [][]byte) (request, error) {
	return newMove(args[1], args[2], false, true), nil
}

func blmove(c *conn, args [][]byte) (request, error) {
	r, err := lmove(c, args)
	if err != nil {
		return nil, err
	}
	return mayWait(r.(*moveRequest), args[5])
}

func brpoplpush(_ *conn, args [][]byte) (request, error) {
	return mayWait(newMove(args[1], args[2], false, true), args[3])
}

func mayWait(r *moveRequest, timeout []byte) (request, error) {
	var err error
	r.timeout, err = seconds(timeout)
	return r, err
}

func (r *moveRequest) commands(dst []broker.Command) []broker.Command { return append(dst, &r.Move) }

func (r *moveRequest) wait() ([]broker.Command, time.Duration) {
	if r.timeout < 0 {
		return nil, 0
	}
	r.waited, r.Create = true, true
	return []broker.Command{&r.Move}, r.timeout
}

func (r *moveRequest) reply(w *respwire.Writer) {
	switch {
	case failed(w, r.Err):
	case r.Err == nil && r.Moved:
		w.Bulk(r.Body)
	case r.waited:
		w.NullArray()
	default:
		w.Null()
	}
}
