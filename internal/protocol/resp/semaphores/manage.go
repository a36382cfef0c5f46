package semaphores

import (
	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// ask is a request of one change, for the commands that manage semaphores.
type ask struct {
	onSemaphore
	change semaphores.Change
	failed *error                   // of the change
	done   func(w *respwire.Writer) // writes the answer if there was no error
}

func (a *ask) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, a.change) }

func (a *ask) Reply(w *respwire.Writer) {
	if *a.failed != nil {
		command.Fail(w, *a.failed)
		return
	}
	a.done(w)
}

// semCreate implements SEM.CREATE key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semCreate(_ command.Conn, args [][]byte) (command.Request, error) {
	c, w := &semaphores.Create{}, command.Words{Rest: args[2:]}
	c.Key, c.Settings = string(args[1]), settings(&w)
	return &ask{change: c, failed: &c.Err, done: func(w *respwire.Writer) { w.Int(number(c.Created)) }}, w.Err
}

// semSet implements SEM.SET key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semSet(_ command.Conn, args [][]byte) (command.Request, error) {
	c, w := &semaphores.Update{}, command.Words{Rest: args[2:]}
	c.Key, c.Settings = string(args[1]), settings(&w)
	return &ask{change: c, failed: &c.Err, done: (*respwire.Writer).OK}, w.Err
}

// semDel implements SEM.DEL key [IFEMPTY].
func semDel(_ command.Conn, args [][]byte) (command.Request, error) {
	c, w := &semaphores.Delete{}, command.Words{Rest: args[2:]}
	c.Key = string(args[1])
	for w.More() {
		if w.Keyword() != "IFEMPTY" {
			w.Unknown()
		}
		c.IfEmpty = true
	}
	return &ask{change: c, failed: &c.Err, done: func(w *respwire.Writer) { w.Int(number(!c.Missing)) }}, w.Err
}

// semInfo implements SEM.INFO key.
func semInfo(_ command.Conn, args [][]byte) (command.Request, error) {
	c := &semaphores.Look{Of: semaphores.Of{Key: string(args[1])}}
	return &ask{change: c, failed: &c.Err, done: func(w *respwire.Writer) { writeInfo(w, &c.Info) }}, nil
}

// The default and the maximum number of semaphores or tasks that a command visits.
const (
	usualPage = 100
	mostPage  = 10_000
)

// semList implements SEM.LIST [MATCH pattern] [AFTER key] [COUNT n]. It visits n semaphores in the
// order of their keys, and lists those that match.
func semList(c command.Conn, args [][]byte) {
	pattern, after, limit := "*", "", int64(usualPage)
	reply := c.Writer()
	w := command.Words{Rest: args[1:]}
	for w.More() {
		switch w.Keyword() {
		case "MATCH":
			pattern = string(w.Next())
		case "AFTER":
			after = string(w.Next())
		case "COUNT":
			limit = count(&w)
		default:
			w.Unknown()
		}
	}
	if w.Err != nil {
		command.Fail(reply, w.Err)
		return
	}
	literal, _ := glob.Prefix(pattern)
	all, next := c.Semaphores().List(c.Session(), literal, after, int(limit))
	n := 0
	for i := range all {
		if glob.Match(pattern, all[i].Key) {
			all[n] = all[i]
			n++
		}
	}
	reply.Array(2)
	if next == "" {
		reply.Null()
	} else {
		reply.BulkString(next)
	}
	reply.Array(n)
	for i := range all[:n] {
		writeInfo(reply, &all[i])
	}
}

// count returns the next argument as a number of items to list, limited to mostPage.
func count(w *command.Words) int64 { return min(w.Positive(1<<31), mostPage) }
