package keys

import (
	"math/rand/v2"
	"strconv"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// Commands returns the commands about keys.
func Commands() []command.Command {
	const readonly, fast = command.Readonly, command.Fast
	request := func(name string, arity int, f command.Flags, keys command.Keys, since, summary string, prepare command.Prepare) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Keys: keys, Group: "generic", Since: since, Summary: summary, Prepare: prepare}
	}
	search := func(name string, arity int, since, summary string, now func(command.Conn, [][]byte)) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: readonly, Group: "generic", Since: since, Summary: summary, Now: now}
	}
	return []command.Command{
		request("del", -2, command.Write, command.AllKeys, "1.0.0", "Take everything out of queues", del),
		request("unlink", -2, command.Write|fast, command.AllKeys, "4.0.0", "Take everything out of queues", del),
		request("exists", -2, readonly|fast, command.AllKeys, "1.0.0", "Count the queues that hold something", exists),
		request("type", 2, readonly|fast, command.OneKey, "1.0.0", "Tell whether a queue is a list or a stream", typeOf),
		search("keys", 2, "1.0.0", "Names of queues that match a pattern", names),
		search("scan", -2, "2.8.0", "Names of queues, some at a time", scan),
		search("randomkey", 1, "1.0.0", "The name of any queue", randomName),
		{Name: "dbsize", Arity: 1, Flags: readonly | fast, Group: "server", Since: "1.0.0",
			Summary: "Count the queues that hold something", Now: countNames},
	}
}

type delRequest struct{ clears []broker.Clear }

func del(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &delRequest{make([]broker.Clear, len(args)-1)}
	for i, name := range args[1:] {
		r.clears[i] = broker.Clear{OnQueue: broker.OnQueue{Queue: string(name)}}
	}
	return r, nil
}

func (r *delRequest) Commands(dst []broker.Command) []broker.Command {
	for i := range r.clears {
		dst = append(dst, &r.clears[i])
	}
	return dst
}

func (r *delRequest) Reply(w *respwire.Writer) {
	n := 0
	for i := range r.clears {
		k := &r.clears[i]
		if command.Failed(w, k.Err) {
			return
		}
		if k.Err == nil && k.Existed {
			n++
		}
	}
	w.Int(int64(n))
}

type inspectRequest struct {
	queues []inspect.KindOf
	one    bool
}

func inspectAll(names [][]byte, one bool) *inspectRequest {
	r := &inspectRequest{queues: make([]inspect.KindOf, len(names)), one: one}
	for i, name := range names {
		r.queues[i] = inspect.KindOf{OnQueue: broker.OnQueue{Queue: string(name)}}
	}
	return r
}

func exists(_ command.Conn, args [][]byte) (command.Request, error) {
	return inspectAll(args[1:], false), nil
}

func typeOf(_ command.Conn, args [][]byte) (command.Request, error) {
	return inspectAll(args[1:], true), nil
}

func (r *inspectRequest) Commands(dst []broker.Command) []broker.Command {
	for i := range r.queues {
		dst = append(dst, &r.queues[i])
	}
	return dst
}

func (r *inspectRequest) Reply(w *respwire.Writer) {
	n := 0
	for i := range r.queues {
		if command.Failed(w, r.queues[i].Err) {
			return
		}
		if r.queues[i].Kind != inspect.NoKind {
			n++
		}
	}
	if r.one {
		w.Simple(kindName(r.queues[0].Kind))
	} else {
		w.Int(int64(n))
	}
}

func kindName(k inspect.Kind) string {
	switch k {
	case inspect.ListKind:
		return "list"
	case inspect.StreamKind:
		return "stream"
	}
	return "none"
}

// Names returns the names of non-empty queues that the session may read and that match a pattern.
func Names(of *broker.Session, pattern string) (all []string, err error) {
	const page = 1000
	for from := uint64(0); ; {
		found, next, err := inspect.Scan(of, from, page)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if glob.Match(pattern, f.Name) {
				all = append(all, f.Name)
			}
		}
		if next == 0 {
			return all, nil
		}
		from = next
	}
}

func names(c command.Conn, args [][]byte) {
	w := c.Writer()
	all, err := Names(c.Session(), string(args[1]))
	if err != nil {
		command.Fail(w, err)
		return
	}
	w.Strings(all)
}

func countNames(c command.Conn, _ [][]byte) {
	w := c.Writer()
	all, err := Names(c.Session(), "*")
	if err != nil {
		command.Fail(w, err)
		return
	}
	w.Int(int64(len(all)))
}

func randomName(c command.Conn, _ [][]byte) {
	w := c.Writer()
	all, err := Names(c.Session(), "*")
	switch {
	case err != nil:
		command.Fail(w, err)
	case len(all) == 0:
		w.Null()
	default:
		w.BulkString(all[rand.IntN(len(all))]) // #nosec G404 -- RANDOMKEY; no secret
	}
}

// scanning holds the arguments of SCAN.
type scanning struct {
	from    uint64
	count   int
	pattern string
	kind    string // "": any
}

func readScan(args [][]byte) (s scanning, err error) {
	if s.from, err = strconv.ParseUint(string(args[1]), 10, 64); err != nil {
		return s, command.Error("ERR invalid cursor")
	}
	s.count, s.pattern = 10, "*"
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		switch {
		case len(rest) < 2:
			return s, command.ErrSyntax
		case command.Is(rest[0], "count"):
			n, ok := command.Integer(rest[1])
			if !ok {
				return s, command.ErrNotInteger
			}
			if n < 1 {
				return s, command.ErrSyntax
			}
			s.count = int(min(n, mostScanned))
		case command.Is(rest[0], "match"):
			s.pattern = string(rest[1])
		case command.Is(rest[0], "type"):
			s.kind = string(rest[1])
		default:
			return s, command.ErrSyntax
		}
	}
	return s, nil
}

// mostScanned is the maximum number of queues that one SCAN visits, regardless of COUNT.
const mostScanned = 10_000

func scan(c command.Conn, args [][]byte) {
	w := c.Writer()
	s, err := readScan(args)
	var found []inspect.Scanned
	var next uint64
	if err == nil {
		found, next, err = inspect.Scan(c.Session(), s.from, s.count)
	}
	if err != nil {
		command.Fail(w, err)
		return
	}
	var matching []string
	for _, f := range found {
		if glob.Match(s.pattern, f.Name) && (s.kind == "" || command.Is([]byte(s.kind), kindName(f.Kind))) {
			matching = append(matching, f.Name)
		}
	}
	w.Array(2)
	w.BulkString(strconv.FormatUint(next, 10))
	w.Strings(matching)
}
