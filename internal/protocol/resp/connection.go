package resp

import (
	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// connectionCommands are those about the connection itself.
func connectionCommands() []command {
	return []command{
		{name: "ping", arity: -1, flags: fast | subscribed, group: "connection", since: "1.0.0", summary: "Ping the server", prepare: ping},
		{name: "echo", arity: 2, flags: loading | stale | fast, group: "connection", since: "1.0.0", summary: "Echo the given string", prepare: echo},
		{name: "quit", arity: -1, flags: noScript | loading | stale | fast | noAuth | control | subscribed, group: "connection", since: "1.0.0",
			summary: "Close the connection", now: quit},
		{name: "auth", arity: -2, flags: noScript | loading | stale | fast | noAuth, group: "connection", since: "1.0.0",
			summary: "Authenticate to the server", now: auth},
		{name: "hello", arity: -1, flags: noScript | loading | stale | fast | noAuth, group: "connection", since: "6.0.0",
			summary: "Handshake with Redis", now: hello},
		{name: "reset", arity: 1, flags: noScript | loading | stale | fast | noAuth | control | subscribed, group: "connection", since: "6.2.0",
			summary: "Reset the connection", now: reset},
		{name: "select", arity: 2, flags: loading | stale | fast, group: "connection", since: "1.0.0",
			summary: "Change the virtual host of the connection: 0 is /, or its name", now: selectVHost},
	}
}

// told is a request that needs no engine.
type told func(w *respwire.Writer)

func (told) commands(dst []broker.Command) []broker.Command { return dst }
func (t told) reply(w *respwire.Writer)                     { t(w) }

// ping answers a subscriber in RESP2 with something that has the form of a message: it expects nothing else.
func ping(c *conn, args [][]byte) (request, error) {
	var text []byte
	switch len(args) {
	case 1:
	case 2:
		text = args[1]
	default:
		return nil, wrongNumber("ping")
	}
	return told(func(w *respwire.Writer) {
		switch {
		case c.subs.count() > 0 && !w.RESP3:
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

func echo(_ *conn, args [][]byte) (request, error) {
	return told(func(w *respwire.Writer) { w.Bulk(args[1]) }), nil
}

func quit(c *conn, _ [][]byte) {
	c.w.OK()
	c.over = true
}
