package resp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// watchCommands returns the commands that watch semaphores. Watches are subscriptions, like those
// to channels.
func watchCommands() []command.Command {
	listen := func(name string, arity int, summary string, now func(*conn, [][]byte)) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: command.PubSub | command.NoScript | command.NoMulti | command.Subscribed,
			Group: command.SemaphoreGroup, Summary: summary, Now: on(now)}
	}
	return []command.Command{
		listen("sem.watch", -2, "Listen to what happens to tasks", semWatch),
		listen("sem.unwatch", -1, "Stop listening to what happens to tasks", semUnwatch),
	}
}

// mostWatches is the maximum number of watches of a connection.
const mostWatches = 1 << 16

const (
	errWatches   command.Error = "ERR max number of watches reached"
	errNoPattern command.Error = "ERR a semaphore has a key"
)

// watchName identifies a watch of a connection.
type watchName struct{ pattern, task string }

// semaphoreWatch pushes events to a connection that watches semaphores.
type semaphoreWatch struct {
	c       *conn
	name    watchName
	literal bool   // the pattern matches exactly one key
	stop    func() // ends the watch

	mu     sync.Mutex
	opened bool   // the client has been told about the watch
	held   []byte // guarded by mu: events that came before opened
}

// semWatch implements SEM.WATCH pattern [TASK task] [ALL].
func semWatch(c *conn, args [][]byte) {
	name, all := watchName{pattern: string(args[1])}, false
	w := command.Words{Rest: args[2:]}
	for w.More() {
		switch w.Keyword() {
		case "TASK":
			name.task = string(w.Next())
		case "ALL":
			all = true
		default:
			w.Unknown()
		}
	}
	err := w.Err
	if err == nil && name.pattern == "" {
		err = errNoPattern
	}
	if err == nil && len(c.subs.watches) >= mostWatches {
		err = errWatches
	}
	if err == nil {
		err = c.beginWatch(name, all)
	}
	if err != nil {
		command.Fail(&c.w, err)
	}
}

// beginWatch starts a watch, replaces one of the same name, and tells the client.
func (c *conn) beginWatch(name watchName, all bool) error {
	o := semaphores.WatchOptions{Task: name.task, All: all}
	s := &semaphoreWatch{c: c, name: name}
	o.Key, s.literal = glob.Prefix(name.pattern)
	o.Prefix = !s.literal
	c.out.share()
	c.endWatch(name)
	stop, err := c.srv.o.Semaphores.Watch(c.session, o, s.tell)
	if err != nil {
		return err
	}
	s.stop = stop
	if c.subs.watches == nil {
		c.subs.watches = map[watchName]*semaphoreWatch{}
	}
	c.subs.watches[name] = s
	c.counted()
	c.flush() // the answers to earlier commands
	text := respwire.Writer{RESP3: c.w.RESP3}
	watchTold(&text, "sem.watch", name, c.subs.count())
	s.open(text.Buf)
	return nil
}

func watchTold(w *respwire.Writer, what string, name watchName, count int) {
	w.Push(4)
	w.BulkString(what)
	w.BulkString(name.pattern)
	if name.task == "" {
		w.Null()
	} else {
		w.BulkString(name.task)
	}
	w.Int(int64(count))
}

// open tells the client about the watch, and then pushes the events that have arrived meanwhile.
func (s *semaphoreWatch) open(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.out.confirm(text)
	s.c.out.push(s.held)
	s.opened, s.held = true, nil
}

// tell pushes events. It never blocks. Any goroutine may call it.
func (s *semaphoreWatch) tell(events []semaphores.Event) {
	w := respwire.Writer{RESP3: s.c.resp3.Load()}
	for i := range events {
		e := &events[i]
		if e.Info == nil && (s.literal || glob.Match(s.name.pattern, e.Key)) { // task events
			writeEvent(&w, s.name.pattern, e)
		}
	}
	if len(w.Buf) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.opened:
		s.c.out.push(w.Buf)
	case len(s.held)+len(w.Buf) <= mostUnread:
		s.held = append(s.held, w.Buf...)
	default:
		s.c.overrun()
	}
}

// writeEvent writes an event in the form that a watcher gets.
func writeEvent(w *respwire.Writer, pattern string, e *semaphores.Event) {
	w.Push(4)
	w.BulkString("sem.event")
	w.BulkString(pattern)
	w.BulkString(e.Key)
	w.Map(6)
	w.TextField("task", e.Task.ID)
	w.TextField("event", eventName(e))
	w.BulkString("status")
	if e.Gone {
		w.BulkString("")
	} else {
		w.BulkString(e.Task.Status.String())
	}
	w.BulkString("priority")
	w.Double(e.Task.Priority)
	w.Field("seq", int64(e.Seq))
	w.Field("time", e.Time)
}

// eventName returns the name of an event for watchers. Events that are not transitions have names
// of their own.
func eventName(e *semaphores.Event) string {
	switch {
	case e.Event != 0:
		return e.Event.String()
	case e.Gone:
		return "Released"
	}
	return "Enqueued"
}

// semUnwatch implements SEM.UNWATCH [pattern [TASK task]]. Without a pattern it ends all watches.
func semUnwatch(c *conn, args [][]byte) {
	if len(args) == 1 {
		c.unwatchAll(true)
		return
	}
	name, w := watchName{pattern: string(args[1])}, command.Words{Rest: args[2:]}
	for w.More() {
		if w.Keyword() != "TASK" {
			w.Unknown()
		}
		name.task = string(w.Next())
	}
	if w.Err != nil {
		command.Fail(&c.w, w.Err)
		return
	}
	c.endWatch(name)
	c.confirm(func(w *respwire.Writer) { watchTold(w, "sem.unwatch", name, c.subs.count()) })
}

// endWatch ends a watch, if it exists.
func (c *conn) endWatch(name watchName) {
	if s, ok := c.subs.watches[name]; ok {
		delete(c.subs.watches, name)
		c.counted()
		s.stop()
	}
}

// unwatchAll ends all watches. If tell is set, the client gets a reply for each of them, or one
// reply if there was none.
func (c *conn) unwatchAll(tell bool) {
	names := slices.SortedFunc(maps.Keys(c.subs.watches), func(a, b watchName) int {
		return cmp.Or(strings.Compare(a.pattern, b.pattern), strings.Compare(a.task, b.task))
	})
	for _, name := range names {
		c.endWatch(name)
		if tell {
			c.confirm(func(w *respwire.Writer) { watchTold(w, "sem.unwatch", name, c.subs.count()) })
		}
	}
	if tell && len(names) == 0 {
		c.confirm(func(w *respwire.Writer) {
			w.Push(4)
			w.BulkString("sem.unwatch")
			w.Null()
			w.Null()
			w.Int(int64(c.subs.count()))
		})
	}
}
