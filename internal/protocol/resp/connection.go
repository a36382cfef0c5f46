package resp

import (
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// connectionCommands returns the commands about the connection itself.
func connectionCommands() []command.Command {
	const login = command.NoScript | anywhere | command.Fast | command.NoAuth
	row := func(name string, arity int, f command.Flags, since, summary string, now func(*conn, [][]byte)) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Group: "connection", Since: since, Summary: summary, Now: on(now)}
	}
	return []command.Command{
		{Name: "ping", Arity: -1, Flags: command.Fast | command.Subscribed, Group: "connection", Since: "1.0.0",
			Summary: "Ping the server", Prepare: ping},
		{Name: "echo", Arity: 2, Flags: anywhere | command.Fast, Group: "connection", Since: "1.0.0",
			Summary: "Echo the given string", Prepare: echo},
		row("quit", -1, login|command.Control|command.Subscribed, "1.0.0", "Close the connection", quit),
		row("auth", -2, login, "1.0.0", "Authenticate to the server", auth),
		row("hello", -1, login, "6.0.0", "Handshake with Redis", hello),
		row("reset", 1, login|command.Control|command.Subscribed, "6.2.0", "Reset the connection", reset),
		row("select", 2, anywhere|command.Fast, "1.0.0", "Change the virtual host of the connection: 0 is /, or its name", selectVHost),
	}
}

// ping implements PING. The reply to a subscriber in RESP2 has the form of a message, because such
// a client expects nothing else.
func ping(of command.Conn, args [][]byte) (command.Request, error) {
	c := of.(*conn)
	var text []byte
	switch len(args) {
	case 1:
	case 2:
		text = args[1]
	default:
		return nil, command.WrongNumber("ping")
	}
	return command.Told(func(w *respwire.Writer) {
		switch {
		case c.subs.any() && !w.RESP3:
			w.Array(2)
			w.BulkString("pong")
			w.Bulk(text)
		case len(args) == 1:
			w.Simple("PONG")
		default:
			w.Bulk(text)
		}
	}), nil
}

func echo(_ command.Conn, args [][]byte) (command.Request, error) {
	return command.Told(func(w *respwire.Writer) { w.Bulk(args[1]) }), nil
}

func quit(c *conn, _ [][]byte) {
	c.w.OK()
	c.over = true
}
