package resp

import (
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// The stand-ins are commands with which the tests of this edge try what it does for all commands: TEST.PUSH queue body, TEST.POP queue [seconds],
// TEST.PANIC, TEST.DRAIN and TEST.END (the connection is told to end while it is at work), TEST.KICK (its next read is for nothing).

func init() {
	for _, d := range []command{
		{name: "test.push", arity: 3, flags: write | denyOOM, keys: oneKey, prepare: func(_ *conn, args [][]byte) (request, error) {
			return &testPush{broker.Push{OnQueue: broker.OnQueue{Queue: string(args[1])}, Bodies: args[2:], Create: true}}, nil
		}},
		{name: "test.pop", arity: -2, flags: write, keys: oneKey, prepare: func(_ *conn, args [][]byte) (request, error) {
			p := &testPop{Pop: broker.Pop{OnQueue: broker.OnQueue{Queue: string(args[1])}, Max: 1}, timeout: -1}
			if len(args) > 2 {
				p.Create = true
				var err error
				if p.timeout, err = seconds(args[2]); err != nil {
					return nil, err
				}
			}
			return p, nil
		}},
		{name: "test.panic", arity: 1, prepare: func(*conn, [][]byte) (request, error) {
			return told(func(*respwire.Writer) { panic("on purpose") }), nil
		}},
		{name: "test.kick", arity: 1, now: func(c *conn, _ [][]byte) { c.in.Kick() }},
		{name: "test.drain", arity: 1, now: func(c *conn, _ [][]byte) { c.Drain() }},
		{name: "test.end", arity: 1, now: func(c *conn, _ [][]byte) { c.end("ERR enough") }},
	} {
		commands[d.name] = &d
	}
}

type testPush struct{ broker.Push }

func (p *testPush) commands(dst []broker.Command) []broker.Command { return append(dst, &p.Push) }

func (p *testPush) reply(w *respwire.Writer) {
	if p.Err != nil {
		replyWith(w, p.Err)
		return
	}
	w.Int(int64(p.Len))
}

type testPop struct {
	broker.Pop
	timeout time.Duration // negative: it does not wait
}

func (p *testPop) commands(dst []broker.Command) []broker.Command { return append(dst, &p.Pop) }

func (p *testPop) wait() ([]broker.Command, time.Duration) {
	if p.timeout < 0 {
		return nil, 0
	}
	return []broker.Command{&p.Pop}, p.timeout
}

func (p *testPop) reply(w *respwire.Writer) {
	if p.Err != nil || len(p.Bodies) == 0 {
		w.Null()
		return
	}
	w.Bulk(p.Bodies[0])
}
