package resp

import (
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// The stand-ins are commands for testing what the connection does for any command: TEST.PUSH queue
// body, TEST.POP queue [seconds], TEST.PANIC, TEST.DRAIN and TEST.END (which tell the connection to
// end while it executes a command), and TEST.KICK (which interrupts its next read).

func init() {
	for _, d := range []command.Command{
		{Name: "test.push", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fills, Keys: command.OneKey, Prepare: func(_ command.Conn, args [][]byte) (command.Request, error) {
			return &testPush{lists.Push{OnQueue: broker.OnQueue{Queue: string(args[1])}, Bodies: args[2:], Create: true}}, nil
		}},
		{Name: "test.pop", Arity: -2, Flags: command.Write, Keys: command.OneKey, Prepare: func(_ command.Conn, args [][]byte) (command.Request, error) {
			p := &testPop{Pop: lists.Pop{OnQueue: broker.OnQueue{Queue: string(args[1])}, Max: 1}, timeout: -1}
			if len(args) > 2 {
				p.Create = true
				var err error
				if p.timeout, err = command.Seconds(args[2]); err != nil {
					return nil, err
				}
			}
			return p, nil
		}},
		{Name: "test.panic", Arity: 1, Prepare: func(command.Conn, [][]byte) (command.Request, error) {
			return command.Told(func(*respwire.Writer) { panic("on purpose") }), nil
		}},
		{Name: "test.kick", Arity: 1, Now: on(func(c *conn, _ [][]byte) { c.in.Kick() })},
		{Name: "test.drain", Arity: 1, Now: on(func(c *conn, _ [][]byte) { c.Drain() })},
		{Name: "test.end", Arity: 1, Now: on(func(c *conn, _ [][]byte) { c.end("ERR enough") })},
	} {
		commands[d.Name] = &d
	}
}

type testPush struct{ lists.Push }

func (p *testPush) Commands(dst []broker.Command) []broker.Command { return append(dst, &p.Push) }

func (p *testPush) Reply(w *respwire.Writer) {
	if p.Err != nil {
		command.Fail(w, p.Err)
		return
	}
	w.Int(int64(p.Len))
}

type testPop struct {
	lists.Pop
	timeout time.Duration // negative: no wait
}

func (p *testPop) Commands(dst []broker.Command) []broker.Command { return append(dst, &p.Pop) }

func (p *testPop) Wait() ([]broker.Command, time.Duration) {
	if p.timeout < 0 {
		return nil, 0
	}
	return []broker.Command{&p.Pop}, p.timeout
}

func (p *testPop) Reply(w *respwire.Writer) {
	if p.Err != nil || len(p.Bodies) == 0 {
		w.Null()
		return
	}
	w.Bulk(p.Bodies[0])
}
