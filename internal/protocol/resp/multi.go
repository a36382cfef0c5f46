package resp

import (
	"bytes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/semaphores"
)

// multiCommands returns the commands of transactions.
func multiCommands() []command.Command {
	const about = command.NoScript | anywhere | command.Fast
	return []command.Command{
		{Name: "multi", Arity: 1, Flags: about | command.Control, Group: "transactions", Since: "1.2.0", Summary: "Mark the start of a transaction block", Now: on(multi)},
		{Name: "exec", Arity: 1, Flags: command.NoScript | anywhere | command.Control, Group: "transactions", Since: "1.2.0",
			Summary: "Execute all commands issued after MULTI, all of them at one moment", Now: on(exec)},
		{Name: "discard", Arity: 1, Flags: about | command.Control, Group: "transactions", Since: "2.0.0", Summary: "Discard all commands issued after MULTI",
			Now: on(discard)},
		{Name: "watch", Arity: -2, Flags: about | command.Control, Keys: command.AllKeys, Group: "transactions", Since: "2.2.0",
			Summary: "Watch the given queues to determine execution of the MULTI/EXEC block", Now: on(watchQueues)},
		{Name: "unwatch", Arity: 1, Flags: about, Group: "transactions", Since: "2.2.0", Summary: "Forget about all watched queues", Now: on(unwatch)},
	}
}

// transaction holds the commands that a client has sent since MULTI.
type transaction struct {
	kept   []kept
	bytes  int
	adds   bool // it has commands that need memory
	broken bool // a command was rejected: EXEC will fail
}

// kept is a command that waits for EXEC. Its arguments are copies.
type kept struct {
	d    *command.Command
	args [][]byte
}

// The approximate memory of a kept command and of each of its arguments, in addition to their
// bytes.
const (
	keptBytes    = 64
	keptArgBytes = 40
)

// keep adds a command. It returns false if the transaction would exceed most bytes.
func (tx *transaction) keep(d *command.Command, args [][]byte, most int) bool {
	tx.bytes += keptBytes
	for _, a := range args {
		tx.bytes += len(a) + keptArgBytes
	}
	if tx.bytes > most {
		tx.kept = nil // it will not run
		return false
	}
	own := make([][]byte, len(args))
	for i, a := range args {
		own[i] = bytes.Clone(a)
	}
	tx.kept = append(tx.kept, kept{d, own})
	tx.adds = tx.adds || d.Flags&command.DenyOOM != 0
	return true
}

func multi(c *conn, _ [][]byte) {
	if c.tx != nil {
		c.w.Error("ERR MULTI calls can not be nested")
		return
	}
	c.tx = &transaction{}
	c.queued.Store(0)
	c.w.OK()
}

func discard(c *conn, _ [][]byte) {
	if c.tx == nil {
		c.w.Error("ERR DISCARD without MULTI")
		return
	}
	c.endTransaction()
	c.w.OK()
}

func (c *conn) endTransaction() {
	c.tx, c.watched = nil, nil
	c.queued.Store(-1)
}

// queue keeps a command for EXEC.
func (c *conn) queue(d *command.Command, args [][]byte) {
	if !c.tx.keep(d, args, c.parser.Limits.Request) {
		c.tx.broken = true
		c.gather(pending{ready: errorReply("ERR the transaction is too large")})
		return
	}
	c.queued.Store(int32(len(c.tx.kept)))
	c.gather(pending{ready: "+QUEUED\r\n"})
}

// step is a command of a transaction that EXEC runs.
type step struct {
	kept
	req    command.Request
	err    error // from preparing it
	engine bool  // it has engine commands
}

// exec implements EXEC.
func exec(c *conn, _ [][]byte) {
	tx := c.tx
	if tx == nil {
		c.w.Error("ERR EXEC without MULTI")
		return
	}
	conditions := c.conditions()
	c.endTransaction()
	if tx.broken {
		c.w.Error(string(errExecAborted))
		return
	}
	var cmds []broker.Command
	for _, u := range conditions {
		cmds = append(cmds, u)
	}
	steps, cmds, changes := c.plan(tx, cmds)
	var err error
	switch {
	case len(changes) > 0:
		err = c.srv.o.Semaphores.DoWith(c.session, semaphores.Group{Commands: cmds}, changes...)
	case len(cmds) > 0:
		err = c.session.DoAll(cmds...)
	}
	for _, u := range conditions {
		if err == nil && u.Changed {
			c.w.NullArray()
			return
		}
	}
	c.executing = true
	c.w.Array(len(steps))
	for i := range steps {
		c.tell(&steps[i], err)
		steps[i] = step{}
		if len(c.w.Buf) >= flushBytes && c.muted == loud {
			c.flush()
		}
	}
	c.executing = false
	if c.out.holds { // what is held follows the answer
		c.flush()
		c.out.release()
	}
}

// plan prepares the commands of a transaction, and appends the engine commands for them.
func (c *conn) plan(tx *transaction, cmds []broker.Command) ([]step, []broker.Command, []semaphores.Change) {
	steps := make([]step, len(tx.kept))
	var changes []semaphores.Change
	for i, k := range tx.kept {
		s := &steps[i]
		s.kept = k
		if k.d.Prepare == nil {
			continue
		}
		if s.req, s.err = k.d.Prepare(c, k.args); s.err == nil {
			before := len(cmds) + len(changes)
			cmds = s.req.Commands(cmds)
			if r, ok := s.req.(command.Changer); ok {
				changes = r.Changes(changes)
			}
			s.engine = len(cmds)+len(changes) > before
		}
	}
	return steps, cmds, changes
}

// tell writes the answer of one command of a transaction. A command that does not use the engine's
// queues runs only now. failed is the error of all commands that do use them.
func (c *conn) tell(s *step, failed error) {
	switch {
	case s.err != nil:
		command.Fail(&c.w, s.err)
	case s.req == nil:
		s.d.Now(c, s.args)
	case s.engine && failed != nil:
		command.Fail(&c.w, failed)
	default:
		s.req.Reply(&c.w)
	}
}

// reset implements RESET: it restores the initial state of the connection.
func reset(c *conn, _ [][]byte) {
	c.endTransaction()
	c.leave()
	c.user, c.assumed, c.mistaken = "", false, false
	c.welcome()
	c.change(func(f *face) { *f = face{} })
	c.speak(false)
	if c.muted != skipping { // the answer to this command is still skipped
		c.muted = loud
	}
	c.w.Simple("RESET")
}
