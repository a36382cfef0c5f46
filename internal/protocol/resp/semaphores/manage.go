package semaphores

import (
	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// creating is a request that creates a semaphore.
type creating struct {
	onSemaphore
	semaphores.Create
}

// semCreate implements SEM.CREATE key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semCreate(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &creating{}, command.Words{Rest: args[2:]}
	r.Key, r.Settings = string(args[1]), settings(&w)
	return r, w.Err
}

func (r *creating) Changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Create)
}

func (r *creating) Reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		command.Fail(w, r.Err)
	case r.Created:
		w.Int(1)
	default:
		w.Int(0)
	}
}

// resetting is a request that changes the settings of a semaphore.
type resetting struct {
	onSemaphore
	semaphores.Update
}

// semSet implements SEM.SET key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semSet(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &resetting{}, command.Words{Rest: args[2:]}
	r.Key, r.Settings = string(args[1]), settings(&w)
	return r, w.Err
}

func (r *resetting) Changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Update)
}

func (r *resetting) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
		return
	}
	w.OK()
}

// deleting is a request that deletes a semaphore.
type deleting struct {
	onSemaphore
	semaphores.Delete
}

// semDel implements SEM.DEL key [IFEMPTY].
func semDel(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &deleting{}, command.Words{Rest: args[2:]}
	r.Key = string(args[1])
	for w.More() {
		if w.Keyword() != "IFEMPTY" {
			w.Unknown()
		}
		r.IfEmpty = true
	}
	return r, w.Err
}

func (r *deleting) Changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Delete)
}

func (r *deleting) Reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		command.Fail(w, r.Err)
	case r.Missing:
		w.Int(0)
	default:
		w.Int(1)
	}
}

// looking is a request for the description of a semaphore.
type looking struct {
	onSemaphore
	semaphores.Look
}

// semInfo implements SEM.INFO key.
func semInfo(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &looking{}
	r.Key = string(args[1])
	return r, nil
}

func (r *looking) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Look) }

func (r *looking) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
		return
	}
	writeInfo(w, &r.Info)
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
