package semaphores

import (
	"time"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// lining is a request that enqueues tasks.
type lining struct {
	onSemaphore
	semaphores.Enqueue
}

// semEnqueue implements SEM.ENQUEUE key [LEASE ms] task priority [task priority …].
func semEnqueue(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &lining{}, command.Words{Rest: args[2:]}
	r.Key = string(args[1])
	lease := int64(0)
	if command.Capitals(args[2]) == "LEASE" {
		w.Next()
		lease = w.MS()
	}
	if w.Err == nil && (len(w.Rest) == 0 || len(w.Rest)%2 != 0) {
		return nil, command.WrongNumber("sem.enqueue")
	}
	r.Entries = make([]semaphores.Entry, 0, len(w.Rest)/2)
	for w.More() {
		r.Entries = append(r.Entries, semaphores.Entry{Task: string(w.Next()), Priority: priority(&w), Lease: lease})
	}
	return r, w.Err
}

func (r *lining) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Enqueue) }

func (r *lining) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
		return
	}
	w.Array(len(r.States))
	for i := range r.States {
		writeStatus(w, &r.States[i])
	}
}

// releasing is a request that releases tasks.
type releasing struct {
	onSemaphore
	semaphores.Release
}

// semRelease implements SEM.RELEASE key task [task …].
func semRelease(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &releasing{}
	r.Key, r.Tasks = string(args[1]), texts(args[2:])
	return r, nil
}

func (r *releasing) Changes(dst []semaphores.Change) []semaphores.Change {
	return append(dst, &r.Release)
}

func (r *releasing) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
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

// renewing is a request that renews leases.
type renewing struct {
	onSemaphore
	semaphores.Renew
}

// semRenew implements SEM.RENEW key task [task …].
func semRenew(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &renewing{}
	r.Key, r.Tasks = string(args[1]), texts(args[2:])
	return r, nil
}

func (r *renewing) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Renew) }

func (r *renewing) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
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

// stating is a request for the statuses of tasks.
type stating struct {
	onSemaphore
	semaphores.Status
	detail bool
}

// semStatus implements SEM.STATUS key [DETAIL] task [task …].
func semStatus(_ command.Conn, args [][]byte) (command.Request, error) {
	r := &stating{}
	r.Key = string(args[1])
	tasks := args[2:]
	if r.detail = len(tasks) > 1 && command.Capitals(tasks[0]) == "DETAIL"; r.detail {
		tasks = tasks[1:]
	}
	r.Tasks = texts(tasks)
	return r, nil
}

func (r *stating) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Status) }

func (r *stating) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
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

// paging is a request that lists tasks.
type paging struct {
	onSemaphore
	semaphores.Page
}

// semTasks implements SEM.TASKS key [FROM position] [COUNT n] [STATUS status] …. STATUS may be
// given several times.
func semTasks(_ command.Conn, args [][]byte) (command.Request, error) {
	r, w := &paging{}, command.Words{Rest: args[2:]}
	r.Key, r.From, r.Limit = string(args[1]), 1, usualPage
	for w.More() {
		switch w.Keyword() {
		case "FROM":
			r.From = int(max(w.Number(1<<40), 1))
		case "COUNT":
			r.Limit = int(count(&w))
		case "STATUS":
			s, ok := semaphore.ParseStatus(command.Capitals(w.Next()))
			if w.Err == nil && !ok {
				w.Unknown()
			}
			r.Only = append(r.Only, s)
		default:
			w.Unknown()
		}
	}
	return r, w.Err
}

func (r *paging) Changes(dst []semaphores.Change) []semaphores.Change { return append(dst, &r.Page) }

// Bulk implements command.Bulky.
func (r *paging) Bulk() int { return r.Limit }

func (r *paging) Reply(w *respwire.Writer) {
	if r.Err != nil {
		command.Fail(w, r.Err)
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
