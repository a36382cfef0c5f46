package resp

import (
	"bytes"

	"fiveways/internal/broker"
	"fiveways/internal/semaphores"
)

// multiCommands are those of transactions.
func multiCommands() []command {
	const about = noScript | loading | stale | fast
	return []command{
		{name: "multi", arity: 1, flags: about | control, group: "transactions", since: "1.2.0", summary: "Mark the start of a transaction block", now: multi},
		{name: "exec", arity: 1, flags: noScript | loading | stale | control, group: "transactions", since: "1.2.0",
			summary: "Execute all commands issued after MULTI, all of them at one moment", now: exec},
		{name: "discard", arity: 1, flags: about | control, group: "transactions", since: "2.0.0", summary: "Discard all commands issued after MULTI",
			now: discard},
		{name: "watch", arity: -2, flags: about | control, keys: keys{1, -1, 1}, group: "transactions", since: "2.2.0",
			summary: "Watch the given queues to determine execution of the MULTI/EXEC block", now: watchQueues},
		{name: "unwatch", arity: 1, flags: about, group: "transactions", since: "2.2.0", summary: "Forget about all watched queues", now: unwatch},
	}
}

// transaction is what a client has said since MULTI.
type transaction struct {
	kept   []kept
	bytes  int
	adds   bool // it has commands that need memory
	broken bool // something was refused: EXEC will not do it
}

// kept is a command that waits for EXEC; its arguments are copies.
type kept struct {
	d    *command
	args [][]byte
}

// What a command that is kept takes beside the bytes of its arguments, and each of these, about.
const (
	keptBytes    = 64
	keptArgBytes = 40
)

// keep adds a command; false tells that the transaction has too much.
func (tx *transaction) keep(d *command, args [][]byte, most int) bool {
	tx.bytes += keptBytes
	for _, a := range args {
		tx.bytes += len(a) + keptArgBytes
	}
	if tx.bytes > most {
		tx.kept = nil // it will not be done
		return false
	}
	own := make([][]byte, len(args))
	for i, a := range args {
		own[i] = bytes.Clone(a)
	}
	tx.kept = append(tx.kept, kept{d, own})
	tx.adds = tx.adds || d.flags&denyOOM != 0
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
func (c *conn) queue(d *command, args [][]byte) {
	if !c.tx.keep(d, args, c.parser.Limits.Request) {
		c.tx.broken = true
		c.gather(pending{ready: errorReply("ERR the transaction is too large")})
		return
	}
	c.queued.Store(int32(len(c.tx.kept)))
	c.gather(pending{ready: "+QUEUED\r\n"})
}

// step is a command of a transaction that is being done.
type step struct {
	kept
	req    request
	err    error // of preparing it
	engine bool  // it has commands of the engine
}

// exec is EXEC.
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
	defer func() { c.executing = false }()
	c.w.Array(len(steps))
	for i := range steps {
		c.tell(&steps[i], err)
		steps[i] = step{}
		if len(c.w.Buf) >= flushBytes && c.muted == loud && c.subs.count() == 0 { // what it subscribed to must not come within the answer
			c.flush()
		}
	}
}

// plan prepares the commands of a transaction, and appends what the engine is to do for them.
func (c *conn) plan(tx *transaction, cmds []broker.Command) ([]step, []broker.Command, []semaphores.Change) {
	steps := make([]step, len(tx.kept))
	var changes []semaphores.Change
	for i, k := range tx.kept {
		s := &steps[i]
		s.kept = k
		if k.d.prepare == nil {
			continue
		}
		if s.req, s.err = k.d.prepare(c, k.args); s.err == nil {
			before := len(cmds) + len(changes)
			cmds = s.req.commands(cmds)
			if r, ok := s.req.(changer); ok {
				changes = r.changes(changes)
			}
			s.engine = len(cmds)+len(changes) > before
		}
	}
	return steps, cmds, changes
}

// tell writes the answer of one command of a transaction. One that does not concern the engine's queues is done only now. failed is the error
// of all that do.
func (c *conn) tell(s *step, failed error) {
	switch {
	case s.err != nil:
		replyWith(&c.w, s.err)
	case s.req == nil:
		s.d.now(c, s.args)
	case s.engine && failed != nil:
		replyWith(&c.w, failed)
	default:
		s.req.reply(&c.w)
	}
}

// reset is RESET: the connection is as it was at first.
func reset(c *conn, _ [][]byte) {
	c.endTransaction()
	c.leave()
	c.user, c.assumed, c.mistaken = "", false, false
	c.welcome()
	c.change(func(f *face) { *f = face{} })
	c.speak(false)
	if c.muted != skipping { // the answer to this one is still skipped
		c.muted = loud
	}
	c.w.Simple("RESET")
}
