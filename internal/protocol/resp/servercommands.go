package resp

import (
	"time"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// serverCommands returns the commands about the server.
func serverCommands() []command.Command {
	about := func(name string, arity int, f command.Flags, since, summary string, now func(c *conn, args [][]byte)) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Group: "server", Since: since, Summary: summary, Now: on(now)}
	}
	return []command.Command{
		about("info", -1, anywhere, "1.0.0", "Get information and statistics about the server", info),
		{Name: "time", Arity: 1, Flags: anywhere | command.Fast, Group: "server", Since: "2.6.0", Summary: "Return the current server time", Prepare: now},
		{Name: "role", Arity: 1, Flags: command.NoScript | anywhere | command.Fast, Group: "server", Since: "2.8.12",
			Summary: "Return the role of the server: a master without replicas", Prepare: role},
		withHelp("5.0.0", command.Command{Name: "command", Arity: -1, Flags: anywhere, Group: "server", Since: "2.8.13",
			Summary: "Get array of command details", Now: on(commandAll), Subs: []command.Command{
				about("command|count", 2, anywhere, "2.8.13", "Get total number of commands", commandCount),
				about("command|info", -2, anywhere, "2.8.13", "Get array of specific command details", commandInfo),
				about("command|docs", -2, anywhere, "7.0.0", "Get array of specific command documentation", commandDocs),
				about("command|list", -2, anywhere, "7.0.0", "Get an array of command names", commandList),
				about("command|getkeys", -4, anywhere, "2.8.13", "Extract keys given a full command", commandGetKeys),
			}}),
		withHelp("5.0.0", command.Command{Name: "config", Arity: -2, Group: "server", Since: "2.0.0", Summary: "A container for server configuration commands",
			Subs: []command.Command{
				about("config|get", -3, command.Admin|command.NoScript|anywhere, "2.0.0", "Get the values of configuration parameters", configGet),
				about("config|set", -4, command.Admin|command.NoScript|anywhere, "2.0.0", "Not supported: the broker has its own configuration", configRefused),
				about("config|resetstat", 2, command.Admin|command.NoScript|anywhere, "2.0.0", "Not supported: statistics count from the start of the broker", configRefused),
				about("config|rewrite", 2, command.Admin|command.NoScript|anywhere, "2.8.0", "Not supported: the broker has its own configuration", configRefused),
			}}),
		{Name: "wait", Arity: 3, Flags: command.NoScript, Group: "generic", Since: "3.0.0", Summary: "The number of replicas that have everything: none there are",
			Prepare: waitReplicas},
	}
}

// now implements TIME, which returns seconds and microseconds.
func now(_ command.Conn, _ [][]byte) (command.Request, error) {
	return command.Told(func(w *respwire.Writer) {
		t := time.Now()
		w.Array(2)
		w.BulkString(decimal(t.Unix()))
		w.BulkString(decimal(int64(t.Nanosecond() / 1000)))
	}), nil
}

// role implements ROLE: a master that has sent 0 bytes and has no replicas.
func role(_ command.Conn, _ [][]byte) (command.Request, error) {
	return command.Told(func(w *respwire.Writer) {
		w.Array(3)
		w.BulkString("master")
		w.Int(0)
		w.Array(0)
	}), nil
}

func waitReplicas(_ command.Conn, args [][]byte) (command.Request, error) {
	if _, ok := command.Integer(args[1]); !ok {
		return nil, command.ErrNotInteger
	}
	switch ms, ok := command.Integer(args[2]); {
	case !ok:
		return nil, command.Error("ERR timeout is not an integer or out of range")
	case ms < 0:
		return nil, command.ErrNegative
	}
	return command.Told(func(w *respwire.Writer) { w.Int(0) }), nil
}
