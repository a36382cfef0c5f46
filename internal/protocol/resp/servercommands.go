package resp

import (
	"time"

	"fiveways/internal/protocol/resp/respwire"
)

// serverCommands are those about the server.
func serverCommands() []command {
	about := func(name string, arity int, f flags, since, summary string, now func(c *conn, args [][]byte)) command {
		return command{name: name, arity: arity, flags: f, group: "server", since: since, summary: summary, now: now}
	}
	return []command{
		about("info", -1, loading|stale, "1.0.0", "Get information and statistics about the server", info),
		{name: "time", arity: 1, flags: loading | stale | fast, group: "server", since: "2.6.0", summary: "Return the current server time", prepare: now},
		{name: "command", arity: -1, flags: loading | stale, group: "server", since: "2.8.13", summary: "Get array of command details", now: commandAll,
			subs: []command{
				about("command|count", 2, loading|stale, "2.8.13", "Get total number of commands", commandCount),
				about("command|info", -2, loading|stale, "2.8.13", "Get array of specific command details", commandInfo),
				about("command|docs", -2, loading|stale, "7.0.0", "Get array of specific command documentation", commandDocs),
				about("command|list", -2, loading|stale, "7.0.0", "Get an array of command names", commandList),
				about("command|getkeys", -4, loading|stale, "2.8.13", "Extract keys given a full command", commandGetKeys),
			}},
		{name: "config", arity: -2, group: "server", since: "2.0.0", summary: "A container for server configuration commands", now: missingSub,
			subs: []command{
				about("config|get", -3, admin|noScript|loading|stale, "2.0.0", "Get the values of configuration parameters", configGet),
				about("config|set", -4, admin|noScript|loading|stale, "2.0.0", "Refused: the broker has its own configuration", configRefused),
				about("config|resetstat", 2, admin|noScript|loading|stale, "2.0.0", "Refused: figures count from the start", configRefused),
				about("config|rewrite", 2, admin|noScript|loading|stale, "2.8.0", "Refused: the broker has its own configuration", configRefused),
			}},
		{name: "wait", arity: 3, flags: noScript, group: "generic", since: "3.0.0", summary: "The number of replicas that have everything: none there are",
			prepare: waitReplicas},
	}
}

// now is TIME: seconds and microseconds.
func now(_ *conn, _ [][]byte) (request, error) {
	return told(func(w *respwire.Writer) {
		t := time.Now()
		w.Array(2)
		w.BulkString(decimal(t.Unix()))
		w.BulkString(decimal(int64(t.Nanosecond() / 1000)))
	}), nil
}

func waitReplicas(_ *conn, args [][]byte) (request, error) {
	if _, ok := integer(args[1]); !ok {
		return nil, errNotInteger
	}
	switch ms, ok := integer(args[2]); {
	case !ok:
		return nil, replyError("ERR timeout is not an integer or out of range")
	case ms < 0:
		return nil, errNegative
	}
	return told(func(w *respwire.Writer) { w.Int(0) }), nil
}
