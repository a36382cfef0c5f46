package resp

import (
	"math/rand/v2"
	"strconv"

	"fiveways/internal/broker"
	"fiveways/internal/core/glob"
	"fiveways/internal/protocol/resp/respwire"
)

// The names of queues that hold something, as Redis tells of keys. A queue without ready messages is there for other protocols, but here it is none.

func keyCommands() []command {
	return []command{
		{name: "del", arity: -2, flags: write, keys: keys{1, -1, 1}, group: "generic", since: "1.0.0", summary: "Take everything out of queues", prepare: del},
		{name: "unlink", arity: -2, flags: write | fast, keys: keys{1, -1, 1}, group: "generic", since: "4.0.0",
			summary: "Take everything out of queues", prepare: del},
		{name: "exists", arity: -2, flags: readonly | fast, keys: keys{1, -1, 1}, group: "generic", since: "1.0.0",
			summary: "Count the queues that hold something", prepare: exists},
		{name: "type", arity: 2, flags: readonly | fast, keys: oneKey, group: "generic", since: "1.0.0", summary: "Tell whether a queue is a list or a stream",
			prepare: typeOf},
		{name: "keys", arity: 2, flags: readonly, group: "generic", since: "1.0.0", summary: "Names of queues that match a pattern", now: names},
		{name: "scan", arity: -2, flags: readonly, group: "generic", since: "2.8.0", summary: "Names of queues, some at a time", now: scan},
		{name: "randomkey", arity: 1, flags: readonly, group: "generic", since: "1.0.0", summary: "The name of any queue", now: randomName},
		{name: "dbsize", arity: 1, flags: readonly | fast, group: "server", since: "1.0.0", summary: "Count the queues that hold something", now: countNames},
	}
}

type delRequest struct{ clears []broker.Clear }

func del(_ *conn, args [][]byte) (request, error) {
	r := &delRequest{make([]broker.Clear, len(args)-1)}
	for i, name := range args[1:] {
		r.clears[i] = broker.Clear{OnQueue: onQueue(name)}
	}
	return r, nil
}

func (r *delRequest) commands(dst []broker.Command) []broker.Command {
	for i := range r.clears {
		dst = append(dst, &r.clears[i])
	}
	return dst
}

func (r *delRequest) reply(w *respwire.Writer) {
	n := 0
	for i := range r.clears {
		k := &r.clears[i]
		if failed(w, k.Err) {
			return
		}
		if k.Err == nil && k.Existed {
			n++
		}
	}
	w.Int(int64(n))
}

type inspectRequest struct {
	queues []broker.Inspect
	one    bool
}

func inspect(names [][]byte, one bool) *inspectRequest {
	r := &inspectRequest{queues: make([]broker.Inspect, len(names)), one: one}
	for i, name := range names {
		r.queues[i] = broker.Inspect{OnQueue: onQueue(name)}
	}
	return r
}

func exists(_ *conn, args [][]byte) (request, error) { return inspect(args[1:], false), nil }

func typeOf(_ *conn, args [][]byte) (request, error) { return inspect(args[1:], true), nil }

func (r *inspectRequest) commands(dst []broker.Command) []broker.Command {
	for i := range r.queues {
		dst = append(dst, &r.queues[i])
	}
	return dst
}

func (r *inspectRequest) reply(w *respwire.Writer) {
	n := 0
	for i := range r.queues {
		if failed(w, r.queues[i].Err) {
			return
		}
		if r.queues[i].Kind != broker.NoKind {
			n++
		}
	}
	if r.one {
		w.Simple(kindName(r.queues[0].Kind))
	} else {
		w.Int(int64(n))
	}
}

func kindName(k broker.Kind) string {
	switch k {
	case broker.ListKind:
		return "list"
	case broker.StreamKind:
		return "stream"
	}
	return "none"
}

// allNames are the names of queues that hold something and match a pattern.
func (c *conn) allNames(pattern string) (all []string, err error) {
	const page = 1000
	for from := uint64(0); ; {
		found, next, err := c.session.Scan(from, page)
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

func names(c *conn, args [][]byte) {
	all, err := c.allNames(string(args[1]))
	if err != nil {
		replyWith(&c.w, err)
		return
	}
	c.w.Array(len(all))
	for _, name := range all {
		c.w.BulkString(name)
	}
}

func countNames(c *conn, _ [][]byte) {
	all, err := c.allNames("*")
	if err != nil {
		replyWith(&c.w, err)
		return
	}
	c.w.Int(int64(len(all)))
}

func randomName(c *conn, _ [][]byte) {
	all, err := c.allNames("*")
	switch {
	case err != nil:
		replyWith(&c.w, err)
	case len(all) == 0:
		c.w.Null()
	default:
		c.w.BulkString(all[rand.IntN(len(all))]) // #nosec G404 -- RANDOMKEY; no secret
	}
}

// scanning is what SCAN is asked for.
type scanning struct {
	from    uint64
	count   int
	pattern string
	kind    string // "": any
}

func readScan(args [][]byte) (s scanning, err error) {
	if s.from, err = strconv.ParseUint(string(args[1]), 10, 64); err != nil {
		return s, replyError("ERR invalid cursor")
	}
	s.count, s.pattern = 10, "*"
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		switch {
		case len(rest) < 2:
			return s, errSyntax
		case is(rest[0], "count"):
			n, ok := integer(rest[1])
			if !ok {
				return s, errNotInteger
			}
			if n < 1 {
				return s, errSyntax
			}
			s.count = int(min(n, mostScanned))
		case is(rest[0], "match"):
			s.pattern = string(rest[1])
		case is(rest[0], "type"):
			s.kind = string(rest[1])
		default:
			return s, errSyntax
		}
	}
	return s, nil
}

// mostScanned is how many queues one SCAN looks at, whatever it asks for.
const mostScanned = 10_000

func scan(c *conn, args [][]byte) {
	s, err := readScan(args)
	var found []broker.Scanned
	var next uint64
	if err == nil {
		found, next, err = c.session.Scan(s.from, s.count)
	}
	if err != nil {
		replyWith(&c.w, err)
		return
	}
	var matching []string
	for _, f := range found {
		if glob.Match(s.pattern, f.Name) && (s.kind == "" || is([]byte(s.kind), kindName(f.Kind))) {
			matching = append(matching, f.Name)
		}
	}
	c.w.Array(2)
	c.w.BulkString(strconv.FormatUint(next, 10))
	c.w.Array(len(matching))
	for _, name := range matching {
		c.w.BulkString(name)
	}
}
