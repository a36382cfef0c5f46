package resp

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

const (
	flushBytes   = 64 << 10 // buffered replies are written at this size
	keepOutBytes = 64 << 10 // larger buffers are not reused
	keepSlots    = 4096     // like keepOutBytes, for arguments and requests
	mostGathered = 1024     // maximum number of requests in a batch
	mostBulk     = 1024     // a batch ends once its requests may return this many messages
	largeBulk    = 256      // a request counts as at most this many, because its own result is limited
	growth       = 64 << 10 // initial read room beyond the data that has arrived
)

// workspace holds the buffers that a connection needs while it handles input.
type workspace struct {
	out     []byte
	args    [][]byte
	batch   []pending // all for the same engine, or for none
	about   engine    // the engine of the batch
	bulk    int       // how many messages the batch may return
	cmds    []broker.Command
	changes []semaphores.Change
}

// engine identifies the part of the broker that executes a request.
type engine uint8

const (
	nothing engine = iota // answered without an engine
	queueEngine
	semaphoreEngine
)

// engineOf returns the engine of r. A rejected request is nil and has none.
func engineOf(r command.Request) engine {
	switch r.(type) {
	case nil, command.Told:
		return nothing
	case command.Changer:
		return semaphoreEngine
	}
	return queueEngine
}

var workspaces = sync.Pool{New: func() any { return &workspace{out: make([]byte, 0, 4<<10)} }}

// pending is a request that is not answered yet.
type pending struct {
	req     command.Request
	ready   string // the answer, if req is nil
	engine  bool   // it has engine commands
	waits   bool   // it is a command.Pollable, which waits if it gets nothing:
	awaited []broker.Command
	timeout time.Duration
}

// loop handles the client's input until the connection ends.
func (c *conn) loop() {
	for !c.mustEnd() {
		if err := c.in.Fill(c.want()); errors.Is(err, protocol.ErrKicked) {
			continue
		} else if err != nil {
			return
		}
		c.handleAll()
	}
}

// mustEnd reports whether the connection is over. It first applies an end that another goroutine
// asked for, and writes its error.
func (c *conn) mustEnd() bool {
	if e := c.fatal.Load(); e != nil {
		if *e != "" {
			c.w.Error(string(*e))
		}
		c.over = true
	}
	return c.over || c.draining.Load()
}

// want returns how much room the next read needs: enough for the current request, but not much more
// than the client has sent so far.
func (c *conn) want() int { return min(c.parser.Want(), 2*len(c.in.Pending())+growth) }

// handleAll handles the complete requests in the input buffer, and writes the answers.
func (c *conn) handleAll() {
	c.resume()
	c.lastAt.Store(time.Now().UnixMilli())
	done := int64(0)
	for !c.over {
		from := len(c.work.args)
		all, n, err := c.parser.Next(c.in.Pending(), c.work.args)
		if err != nil {
			c.run()
			c.w.Error("ERR " + err.Error())
			c.over, c.linger = true, true
			break
		}
		if n == 0 {
			break
		}
		if c.polling != "" && !hasPollKey(all[from:], c.polling) {
			c.run() // it may wait and read more: the request is parsed again
			continue
		}
		c.in.Consume(n)
		c.work.args = all
		if len(all) > from {
			c.handle(all[from:])
			done++
		}
	}
	c.srv.processed.Add(done)
	c.run()
	c.flush()
	c.giveBack()
}

// resume takes a workspace from the pool.
func (c *conn) resume() {
	c.work = workspaces.Get().(*workspace)
	c.w.Buf = append(c.work.out[:0], c.w.Buf...)
}

// giveBack returns the workspace to the pool. All requests must have been answered.
func (c *conn) giveBack() {
	k := c.work
	c.work = nil
	if n := cap(c.w.Buf); n > 0 && n <= keepOutBytes {
		k.out = c.w.Buf
	}
	c.w.Buf = nil
	if cap(k.args) > keepSlots {
		k.args = nil
	}
	clear(k.args)
	k.args = k.args[:0]
	workspaces.Put(k)
}

// handle executes a request, or adds it to the batch.
func (c *conn) handle(args [][]byte) {
	if command.Is(args[0], "post") || command.Is(args[0], "host:") {
		c.cutOff()
		return
	}
	d, e := c.admit(args)
	if d != nil {
		c.last.Store(d)
	}
	switch {
	case e != "":
		c.refuse(d, e)
	case c.tx != nil && d.Flags&command.Control == 0:
		c.queue(d, args)
	case d.Now != nil:
		c.run()
		c.answer(func() { d.Now(c, args) })
	default:
		req, err := d.Prepare(c, args)
		if err != nil {
			c.gather(pending{ready: errorReply(command.Error(command.Text(err)))})
			return
		}
		if b, ok := req.(command.Blocker); ok {
			if cmds, timeout := b.Wait(); len(cmds) > 0 {
				if _, ok := b.(command.Pollable); ok && len(cmds) == 1 {
					if c.polling == "" {
						c.polling = pollKey(args)
					}
					c.gather(pending{req: req, waits: true, awaited: cmds, timeout: timeout})
					return
				}
				c.run()
				c.await(b, cmds, timeout)
				return
			}
		}
		if c.polling != "" {
			c.run()
		}
		c.gather(pending{req: req})
		switch req.(type) {
		case command.SemaphoreBlocker: // the following requests run after it
			c.run()
		}
	}
}

// pollKey returns equal keys for requests that can be polled together: those with the same command
// and the same queue. It copies the arguments.
func pollKey(args [][]byte) string {
	if len(args) < 2 {
		return ""
	}
	return string(args[0]) + " " + string(args[1])
}

// hasPollKey reports whether the pollKey of args is key, whose command has no space in its name.
func hasPollKey(args [][]byte, key string) bool {
	if len(args) < 2 {
		return key == ""
	}
	name, rest, _ := strings.Cut(key, " ")
	return name == string(args[0]) && rest == string(args[1])
}

// cutOff closes a connection on which HTTP is spoken: a malicious web page may have made a browser
// send commands to this machine, where no login is needed. Redis does the same.
func (c *conn) cutOff() {
	c.srv.quiet.Warn("redis: a client speaks HTTP, closing the connection", "conn", c.id, "peer", c.nc.RemoteAddr())
	c.run()
	c.over, c.linger = true, true
}

// refuse answers a command that may not run. d is nil if there is no such command. An open
// transaction is marked as failed.
func (c *conn) refuse(d *command.Command, e command.Error) {
	if c.tx != nil {
		c.tx.broken = true
	}
	if d != nil && d.Name == "exec" {
		c.endTransaction()
		e = command.Errorf("EXECABORT Transaction discarded because of: %s", strings.TrimPrefix(string(e), "ERR "))
	}
	c.gather(pending{ready: errorReply(e)})
}

// admit returns the command of a request, or the reason why it may not run. The checks are in the
// order of Redis.
func (c *conn) admit(args [][]byte) (*command.Command, command.Error) {
	d, ok := lookUp(args)
	switch {
	case !ok, d.Group == command.SemaphoreGroup && c.srv.o.Semaphores == nil:
		return nil, unknown(args)
	case len(d.Subs) > 0 && len(args) > 1:
		return d, unknownSub(args)
	case !d.Takes(len(args)):
		return d, command.WrongNumber(d.Name)
	case d.Flags&command.NoAuth == 0:
		if e := c.enter(); e != "" {
			return d, e
		}
	}
	if c.tx != nil && d.Flags&command.NoMulti != 0 {
		return d, "ERR Command not allowed inside a transaction"
	}
	if e := c.barred(d, args); e != "" {
		return d, e
	}
	if c.subs.any() && !c.w.RESP3 && d.Flags&command.Subscribed == 0 {
		return d, command.Errorf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", d.Name)
	}
	if d.Flags&command.DenyOOM != 0 || d.Name == "exec" && c.tx != nil && c.tx.adds {
		if e := c.srv.alarm(); e != "" {
			return d, e
		}
	}
	return d, ""
}

// barred returns the error for a command of a transaction, or one on several queues, if the user
// has no permissions for one of them: it must not execute in part. The engine checks all commands
// when they run.
func (c *conn) barred(d *command.Command, args [][]byte) command.Error {
	if d.Prepare == nil || d.Group == command.SemaphoreGroup || c.tx == nil && d.Keys == command.OneKey {
		return ""
	}
	keys := d.Keys.Of(args)
	for i, key := range keys {
		action := broker.Reading
		if d.Flags&command.Fills != 0 && i == len(keys)-1 {
			action = broker.Writing
		}
		if err := c.session.May(action, "queue", string(key)); err != nil {
			return command.Error(command.Text(err))
		}
	}
	return ""
}

// alarm returns the error that rejects new data while a resource alarm is active, or "" if none is.
func (s *Server) alarm() command.Error {
	a := s.broker.Alarm()
	switch {
	case a == nil:
		return ""
	case a.Reason == broker.LowOnDisk:
		return command.ErrDiskFull
	}
	return command.ErrOOM
}

func errorReply(e command.Error) string {
	var w respwire.Writer
	w.Error(string(e))
	return string(w.Buf)
}

// gather adds a request to the batch.
func (c *conn) gather(p pending) {
	if about := engineOf(p.req); about != nothing {
		if c.work.about != nothing && c.work.about != about {
			c.run()
		}
		c.work.about = about
	}
	c.work.batch = append(c.work.batch, p)
	if b, ok := p.req.(command.Bulky); ok {
		c.work.bulk += min(b.Bulk(), largeBulk)
	}
	if len(c.work.batch) >= mostGathered || c.work.bulk >= mostBulk {
		c.run()
	}
}

// run executes the batch and answers its requests. From the first request that must wait, it
// handles them one by one.
func (c *conn) run() {
	k := c.work
	if len(k.batch) == 0 {
		return
	}
	err := c.perform(k)
	var waiting []pending
	for i := range k.batch {
		p := &k.batch[i]
		if err == nil && p.mustWait() {
			waiting = slices.Clone(k.batch[i:])
			break
		}
		c.answerTo(p, err)
	}
	k.clear()
	c.polling = ""
	for i := range waiting {
		p := &waiting[i]
		switch {
		case c.over:
			return
		case p.mustWait():
			if b, ok := p.req.(command.Blocker); ok {
				c.await(b, p.awaited, p.timeout)
			} else {
				c.awaitTask(p.req.(command.SemaphoreBlocker))
			}
		default: // it may have got something after all: a dead message may return to its queue
			c.answerTo(p, nil)
		}
	}
}

// perform makes the engine execute the batch.
func (c *conn) perform(k *workspace) error {
	for i := range k.batch {
		p := &k.batch[i]
		if p.req == nil {
			continue
		}
		before := len(k.cmds) + len(k.changes)
		k.cmds = p.req.Commands(k.cmds)
		if r, ok := p.req.(command.Changer); ok {
			k.changes = r.Changes(k.changes)
		}
		p.engine = len(k.cmds)+len(k.changes) > before
	}
	switch {
	case len(k.cmds) > 0:
		return c.session.Do(k.cmds...)
	case len(k.changes) > 0:
		return c.srv.o.Semaphores.Do(c.session, k.changes...)
	}
	return nil
}

// clear empties the workspace for the next requests.
func (k *workspace) clear() {
	clear(k.batch)
	clear(k.cmds)
	clear(k.changes)
	k.batch, k.cmds, k.changes, k.about, k.bulk = k.batch[:0], k.cmds[:0], k.changes[:0], nothing, 0
	if cap(k.batch) > keepSlots || cap(k.cmds) > keepSlots || cap(k.changes) > keepSlots {
		k.batch, k.cmds, k.changes = nil, nil, nil
	}
}

// mustWait reports whether p got nothing and has to wait. It is called after the commands of p ran.
func (p *pending) mustWait() bool {
	if r, ok := p.req.(command.SemaphoreBlocker); ok {
		return !r.Satisfied()
	}
	return p.waits && !p.req.(command.Pollable).Polled()
}

// answerTo answers a request that has run, or that failed with the whole batch.
func (c *conn) answerTo(p *pending, failed error) {
	c.answer(func() {
		switch {
		case p.req == nil:
			c.w.Buf = append(c.w.Buf, p.ready...)
		case failed != nil && p.engine:
			command.Fail(&c.w, failed)
		default:
			p.req.Reply(&c.w)
		}
	})
}

// muting is the state set by CLIENT REPLY. Unless it is loud, no output is buffered.
type muting uint8

const (
	loud     muting = iota
	skipNext        // no answer to the next command
	skipping        // no answer to this command
	quiet           // no answers
)

// silent reports whether the current answer is discarded.
func (c *conn) silent() bool { return c.muted == skipping || c.muted == quiet }

// confirm has fn write a confirmation about the client's subscriptions. It is a push, so CLIENT
// REPLY does not suppress it.
func (c *conn) confirm(fn func(w *respwire.Writer)) {
	if !c.silent() {
		fn(&c.w)
		return
	}
	w := respwire.Writer{RESP3: c.w.RESP3}
	fn(&w)
	c.over = !c.out.write(w.Buf) || c.over
}

// answer has fn write an answer, unless the client wants no answer.
func (c *conn) answer(fn func()) {
	if c.muted == skipNext {
		c.flush() // earlier answers are not skipped
		c.muted = skipping
	}
	fn()
	switch c.muted {
	case loud, skipNext:
	case skipping:
		c.muted = loud
		c.w.Buf = c.w.Buf[:0]
	default:
		c.w.Buf = c.w.Buf[:0]
	}
	if len(c.w.Buf) >= flushBytes {
		c.flush()
	}
}

// flush writes the buffered replies. While replies are off, the buffer holds only replies that are
// discarded.
func (c *conn) flush() {
	if len(c.w.Buf) > 0 && !c.silent() {
		if c.executing { // this is a part of the answer of EXEC
			c.out.hold()
		}
		c.over = !c.out.write(c.w.Buf) || c.over
	}
	if cap(c.w.Buf) > keepOutBytes {
		c.w.Buf = nil
		return
	}
	c.w.Buf = c.w.Buf[:0]
}
