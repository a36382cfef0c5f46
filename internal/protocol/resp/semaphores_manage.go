package resp

import (
	"fiveways/internal/core/glob"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// creating makes a semaphore.
type creating struct {
	onSemaphore
	semaphores.Create
}

// semCreate is SEM.CREATE key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semCreate(_ *conn, args [][]byte) (request, error) {
	r, w := &creating{}, words{args: args[2:]}
	r.Key, r.Settings = string(args[1]), w.settings()
	return r, w.err
}

func (r *creating) changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Create)
}

func (r *creating) reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		replyWith(w, r.Err)
	case r.Created:
		w.Int(1)
	default:
		w.Int(0)
	}
}

// resetting changes a semaphore.
type resetting struct {
	onSemaphore
	semaphores.Update
}

// semSet is SEM.SET key [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func semSet(_ *conn, args [][]byte) (request, error) {
	r, w := &resetting{}, words{args: args[2:]}
	r.Key, r.Settings = string(args[1]), w.settings()
	return r, w.err
}

func (r *resetting) changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Update)
}

func (r *resetting) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	w.OK()
}

// deleting deletes a semaphore.
type deleting struct {
	onSemaphore
	semaphores.Delete
}

// semDel is SEM.DEL key [IFEMPTY].
func semDel(_ *conn, args [][]byte) (request, error) {
	r, w := &deleting{}, words{args: args[2:]}
	r.Key = string(args[1])
	for w.more() {
		if w.keyword() != "IFEMPTY" {
			w.unknown()
		}
		r.IfEmpty = true
	}
	return r, w.err
}

func (r *deleting) changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Delete)
}

func (r *deleting) reply(w *respwire.Writer) {
	switch {
	case r.Err != nil:
		replyWith(w, r.Err)
	case r.Missing:
		w.Int(0)
	default:
		w.Int(1)
	}
}

// looking describes a semaphore.
type looking struct {
	onSemaphore
	semaphores.Look
}

// semInfo is SEM.INFO key.
func semInfo(_ *conn, args [][]byte) (request, error) {
	r := &looking{}
	r.Key = string(args[1])
	return r, nil
}

func (r *looking) changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Look) }

func (r *looking) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	writeInfo(w, &r.Info)
}

// The number of semaphores or tasks that are looked at when nothing is said, and at most.
const (
	usualPage = 100
	mostPage  = 10_000
)

// semList is SEM.LIST [MATCH pattern] [AFTER key] [COUNT n]. It looks at n semaphores in the order of their keys, and lists those of them that match.
func semList(c *conn, args [][]byte) {
	pattern, after, limit := "*", "", int64(usualPage)
	w := words{args: args[1:]}
	for w.more() {
		switch w.keyword() {
		case "MATCH":
			pattern = string(w.next())
		case "AFTER":
			after = string(w.next())
		case "COUNT":
			limit = w.count()
		default:
			w.unknown()
		}
	}
	if w.err != nil {
		replyWith(&c.w, w.err)
		return
	}
	literal, _ := glob.Prefix(pattern)
	all, next := c.srv.o.Semaphores.List(c.session, literal, after, int(limit))
	n := 0
	for i := range all {
		if glob.Match(pattern, all[i].Key) {
			all[n] = all[i]
			n++
		}
	}
	c.w.Array(2)
	if next == "" {
		c.w.Null()
	} else {
		c.w.BulkString(next)
	}
	c.w.Array(n)
	for i := range all[:n] {
		writeInfo(&c.w, &all[i])
	}
}

// count is the next one as a number of things to be listed: from 1 on, and not more than is listed at once.
func (w *words) count() int64 {
	n := w.number(1 << 31)
	if w.err == nil && n == 0 {
		w.fail(errNotPositive)
	}
	return min(n, mostPage)
}
