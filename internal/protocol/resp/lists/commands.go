package lists

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// The flags of list commands.
const (
	readonly = command.Readonly
	write    = command.Write
	grow     = command.Write | command.DenyOOM | command.Fills
	fast     = command.Fast
	wait     = command.NoScript | command.Blocking
	movable  = command.MovableKeys
)

// Commands returns the commands about lists.
func Commands() []command.Command {
	allButLast := command.Keys{First: 1, Last: -2, Step: 1}
	row := func(name string, arity int, f command.Flags, keys command.Keys, since, summary string, prepare command.Prepare) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Keys: keys, Group: "list", Since: since, Summary: summary, Prepare: prepare}
	}
	one, two, none := command.OneKey, command.TwoKeys, command.Keys{}
	return []command.Command{
		row("lpush", -3, grow|fast, one, "1.0.0", "Put elements at the left end: publish to the queue", push(false, false)),
		row("rpush", -3, grow|fast, one, "1.0.0", "Put elements at the right end: before the head of the queue", push(true, false)),
		row("lpushx", -3, grow|fast, one, "2.2.0", "Put elements at the left end of a list that has some", push(false, true)),
		row("rpushx", -3, grow|fast, one, "2.2.0", "Put elements at the right end of a list that has some", push(true, true)),
		row("lpop", -2, write|fast, one, "1.0.0", "Take elements off the left end: the youngest messages", pop(true)),
		row("rpop", -2, write|fast, one, "1.0.0", "Take elements off the right end: the next messages of the queue", pop(false)),
		row("blpop", -3, write|wait, allButLast, "2.0.0", "Take the youngest message of the first queue that has one, or wait for one", blockingPop(true)),
		row("brpop", -3, write|wait, allButLast, "2.0.0", "Take the next message of the first queue that has one, or wait for one", blockingPop(false)),
		row("lmpop", -4, write|movable, none, "7.0.0", "Take several elements of the first list that has some", lmpop),
		row("blmpop", -5, write|movable|command.Blocking, none, "7.0.0", "Take several elements of the first list that has some, or wait for one", blmpop),
		row("llen", 2, readonly|fast, one, "1.0.0", "Count the messages that wait in a queue", length),
		row("lrange", 4, readonly, one, "1.0.0", "Look at a range of a list; 0 is the youngest message", lrange),
		row("lindex", 3, readonly, one, "1.0.0", "Look at one element of a list", lindex),
		row("lpos", -3, readonly, one, "6.0.6", "Tell where in a list an element is", lpos),
		row("lrem", 4, write, one, "1.0.0", "Take the elements out that are equal to one", lrem),
		row("ltrim", 4, write, one, "1.0.0", "Keep a range of a list only", ltrim),
		row("lmove", 5, grow, two, "6.2.0", "Move an element from one list to another", lmove),
		row("blmove", 6, grow|wait, two, "6.2.0", "Move an element from one list to another, or wait for one", blmove),
		row("rpoplpush", 3, grow, two, "1.2.0", "Move the next message of a queue to the end of another", rpoplpush),
		row("brpoplpush", 4, grow|wait, two, "2.2.0", "Move the next message of a queue to the end of another, or wait for one", brpoplpush),
	}
}

// onQueue returns the queue that an argument names.
func onQueue(name []byte) broker.OnQueue { return broker.OnQueue{Queue: string(name)} }

// number answers with a number, which is 0 for a list that does not exist.
func number(w *respwire.Writer, err error, n int) {
	if command.Failed(w, err) {
		return
	}
	if err != nil {
		n = 0
	}
	w.Int(int64(n))
}

type pushRequest struct{ lists.Push }

func push(front, mustExist bool) command.Prepare {
	return func(_ command.Conn, args [][]byte) (command.Request, error) {
		return &pushRequest{lists.Push{OnQueue: onQueue(args[1]), Bodies: args[2:], Front: front, Create: !mustExist, MustExist: mustExist}}, nil
	}
}

func (r *pushRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Push) }

func (r *pushRequest) Reply(w *respwire.Writer) { number(w, r.Err, r.Len) }

type lengthRequest struct{ broker.Count }

func length(_ command.Conn, args [][]byte) (command.Request, error) {
	return &lengthRequest{broker.Count{OnQueue: onQueue(args[1])}}, nil
}

func (r *lengthRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Count) }

func (r *lengthRequest) Reply(w *respwire.Writer) { number(w, r.Err, r.Ready) }

// place parses an index in a list.
func place(b []byte) (int, error) {
	n, ok := command.Integer(b)
	if !ok {
		return 0, command.ErrNotInteger
	}
	return int(n), nil
}

// places parses the two ends of a range.
func places(args [][]byte) (first, last int, err error) {
	if first, err = place(args[0]); err == nil {
		last, err = place(args[1])
	}
	return first, last, err
}

type rangeRequest struct {
	lists.Range
	one bool
	bad error // error of the place, reported only if there is an element
}

func lrange(_ command.Conn, args [][]byte) (command.Request, error) {
	first, last, err := places(args[2:])
	return &rangeRequest{Range: lists.Range{OnQueue: onQueue(args[1]), First: first, Last: last, Back: true}}, err
}

func lindex(_ command.Conn, args [][]byte) (command.Request, error) {
	at, err := place(args[2])
	return &rangeRequest{Range: lists.Range{OnQueue: onQueue(args[1]), First: at, Last: at, Back: true}, one: true, bad: err}, nil
}

func (r *rangeRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Range) }

// Bulk implements command.Bulky.
func (r *rangeRequest) Bulk() int {
	n := r.Last - r.First // cannot overflow if both count from the same end
	if (r.First < 0) != (r.Last < 0) || n == math.MaxInt {
		return math.MaxInt
	}
	return max(n, 0) + 1
}

func (r *rangeRequest) Reply(w *respwire.Writer) {
	switch {
	case command.Failed(w, r.Err):
	case r.Err != nil && r.one, r.one && len(r.Bodies) == 0:
		w.Null()
	case r.bad != nil:
		command.Fail(w, r.bad)
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

type removeRequest struct{ lists.Remove }

func lrem(_ command.Conn, args [][]byte) (command.Request, error) {
	n, err := place(args[2])
	r := &removeRequest{lists.Remove{OnQueue: onQueue(args[1]), Max: n, Back: n > 0, Body: args[3]}}
	switch {
	case n == math.MinInt:
		r.Max = math.MaxInt
	case n < 0:
		r.Max = -n
	}
	return r, err
}

func (r *removeRequest) Commands(dst []broker.Command) []broker.Command {
	return append(dst, &r.Remove)
}

func (r *removeRequest) Reply(w *respwire.Writer) { number(w, r.Err, r.Removed) }

type trimRequest struct{ lists.Trim }

func ltrim(_ command.Conn, args [][]byte) (command.Request, error) {
	first, last, err := places(args[2:])
	return &trimRequest{lists.Trim{OnQueue: onQueue(args[1]), First: first, Last: last, Back: true}}, err
}

func (r *trimRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Trim) }

func (r *trimRequest) Reply(w *respwire.Writer) {
	if !command.Failed(w, r.Err) {
		w.OK()
	}
}

// moveRequest is a command that takes an element from one list and adds it to another.
type moveRequest struct {
	lists.Move
	timeout time.Duration // negative: no wait
	waited  bool
}

// left reports whether a word is LEFT. It fails if the word is neither LEFT nor RIGHT.
func left(b []byte) (bool, error) {
	switch {
	case command.Is(b, "left"):
		return true, nil
	case command.Is(b, "right"):
		return false, nil
	}
	return false, command.ErrSyntax
}

func newMove(from, to []byte, fromLeft, toLeft bool) *moveRequest {
	return &moveRequest{
		Move:    lists.Move{OnQueue: onQueue(from), To: string(to), FromBack: fromLeft, ToFront: !toLeft, CreateTo: true},
		timeout: -1,
	}
}

func lmove(_ command.Conn, args [][]byte) (command.Request, error) {
	fromLeft, err := left(args[3])
	if err != nil {
		return nil, err
	}
	toLeft, err := left(args[4])
	return newMove(args[1], args[2], fromLeft, toLeft), err
}

func rpoplpush(_ command.Conn, args [][]byte) (command.Request, error) {
	return newMove(args[1], args[2], false, true), nil
}

func blmove(c command.Conn, args [][]byte) (command.Request, error) {
	r, err := lmove(c, args)
	if err != nil {
		return nil, err
	}
	return mayWait(r.(*moveRequest), args[5])
}

func brpoplpush(_ command.Conn, args [][]byte) (command.Request, error) {
	return mayWait(newMove(args[1], args[2], false, true), args[3])
}

func mayWait(r *moveRequest, timeout []byte) (command.Request, error) {
	var err error
	r.timeout, err = command.Seconds(timeout)
	return r, err
}

func (r *moveRequest) Commands(dst []broker.Command) []broker.Command { return append(dst, &r.Move) }

func (r *moveRequest) Wait() ([]broker.Command, time.Duration) {
	if r.timeout < 0 {
		return nil, 0
	}
	r.waited, r.Create = true, true
	return []broker.Command{&r.Move}, r.timeout
}

func (r *moveRequest) Reply(w *respwire.Writer) {
	switch {
	case command.Failed(w, r.Err):
	case r.Err == nil && r.Moved:
		w.Bulk(r.Body)
	case r.waited:
		w.NullArray()
	default:
		w.Null()
	}
}
