package resp

import (
	"time"

	"fiveways/internal/core/semaphore"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// lining puts tasks in line.
type lining struct {
	onSemaphore
	semaphores.Enqueue
}

// semEnqueue is SEM.ENQUEUE key [LEASE ms] task priority [task priority …].
func semEnqueue(_ *conn, args [][]byte) (request, error) {
	r, w := &lining{}, words{args: args[2:]}
	r.Key = string(args[1])
	lease := int64(0)
	if capitals(args[2]) == "LEASE" {
		w.next()
		lease = w.ms()
	}
	if w.err == nil && (len(w.args) == 0 || len(w.args)%2 != 0) {
		return nil, wrongNumber("sem.enqueue")
	}
	r.Entries = make([]semaphores.Entry, 0, len(w.args)/2)
	for w.more() {
		r.Entries = append(r.Entries, semaphores.Entry{Task: string(w.next()), Priority: w.priority(), Lease: lease})
	}
	return r, w.err
}

func (r *lining) changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Enqueue) }

func (r *lining) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	w.Array(len(r.States))
	for i := range r.States {
		writeStatus(w, &r.States[i])
	}
}

// releasing takes tasks out.
type releasing struct {
	onSemaphore
	semaphores.Release
}

// semRelease is SEM.RELEASE key task [task …].
func semRelease(_ *conn, args [][]byte) (request, error) {
	r := &releasing{}
	r.Key, r.Tasks = string(args[1]), texts(args[2:])
	return r, nil
}

func (r *releasing) changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Release)
}

func (r *releasing) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	n := 0
	for _, was := range r.Released {
		if was {
			n++
		}
	}
	w.Int(int64(n))
}

// renewing begins leases anew.
type renewing struct {
	onSemaphore
	semaphores.Renew
}

// semRenew is SEM.RENEW key task [task …].
func semRenew(_ *conn, args [][]byte) (request, error) {
	r := &renewing{}
	r.Key, r.Tasks = string(args[1]), texts(args[2:])
	return r, nil
}

func (r *renewing) changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Renew) }

func (r *renewing) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	w.Array(len(r.Renewed))
	for _, runs := range r.Renewed {
		w.Int(number(runs))
	}
}

func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// stating tells the statuses of tasks.
type stating struct {
	onSemaphore
	semaphores.Status
	detail bool
}

// semStatus is SEM.STATUS key [DETAIL] task [task …].
func semStatus(_ *conn, args [][]byte) (request, error) {
	r := &stating{}
	r.Key = string(args[1])
	tasks := args[2:]
	if r.detail = len(tasks) > 1 && capitals(tasks[0]) == "DETAIL"; r.detail {
		tasks = tasks[1:]
	}
	r.Tasks = texts(tasks)
	return r, nil
}

func (r *stating) changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Status) }

func (r *stating) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	now := time.Now()
	w.Array(len(r.States))
	for i := range r.States {
		if r.detail {
			writeTask(w, &r.States[i], now)
		} else {
			writeStatus(w, &r.States[i])
		}
	}
}

// paging lists tasks.
type paging struct {
	onSemaphore
	semaphores.Page
}

// semTasks is SEM.TASKS key [FROM position] [COUNT n] [STATUS status] …; STATUS may be said several times.
func semTasks(_ *conn, args [][]byte) (request, error) {
	r, w := &paging{}, words{args: args[2:]}
	r.Key, r.From, r.Limit = string(args[1]), 1, usualPage
	for w.more() {
		switch w.keyword() {
		case "FROM":
			r.From = int(max(w.number(1<<40), 1))
		case "COUNT":
			r.Limit = int(w.count())
		case "STATUS":
			s, ok := semaphore.ParseStatus(capitals(w.next()))
			if w.err == nil && !ok {
				w.unknown()
			}
			r.Only = append(r.Only, s)
		default:
			w.unknown()
		}
	}
	return r, w.err
}

func (r *paging) changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Page) }

func (r *paging) reply(w *respwire.Writer) {
	if r.Err != nil {
		replyWith(w, r.Err)
		return
	}
	now := time.Now()
	w.Array(2)
	w.Int(int64(r.Next))
	w.Array(len(r.States))
	for i := range r.States {
		writeTask(w, &r.States[i], now)
	}
}
