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

func ping(c *conn, args [][]byte) (request, error) {
	switch len(args) {
	case 1:
		if c.subs.count() > 0 && !c.w.RESP3 {
			return pongOfSubscriber(nil), nil
		}
		return pong, nil
	case 2:
		if c.subs.count() > 0 && !c.w.RESP3 {
			return pongOfSubscriber(args[1]), nil
		}
		return told(func(w *respwire.Writer) { w.Bulk(args[1]) }), nil
	}
	return nil, wrongNumber("ping")
}

var pong request = told(func(w *respwire.Writer) { w.Simple("PONG") })

// pongOfSubscriber has the form of a message: such a client expects nothing else.
func pongOfSubscriber(text []byte) request {
	return told(func(w *respwire.Writer) {
		w.Array(2)
		w.BulkString("pong")
		w.Bulk(text)
	})
}

func echo(_ *conn, args [][]byte) (request, error) {
	return told(func(w *respwire.Writer) { w.Bulk(args[1]) }), nil
}

func quit(c *conn, _ [][]byte) {
	c.w.OK()
	c.over = true
}
