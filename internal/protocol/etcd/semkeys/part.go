package semkeys

import (
	"errors"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// tries is how often a put is retried because the task, of which it keeps a part, has changed in
// the meantime.
const tries = 10

// part is what one request, or one attempt of a transaction, does to semaphore keys. It collects
// changes, and completes the answers when they are done.
type part struct {
	n      *Namespace
	who    Caller
	single bool                // outside of a transaction: existence need not be expected
	expect []semaphores.Change // conditions that must hold before the changes
	doing  []semaphores.Change
	after  []func() // complete the answers
	last   *error   // error of the last change
	leases []int64  // leases of the tasks that are put
}

// Begin implements virtual.Family.
func (n *Namespace) Begin(who Caller, _ *broker.Session) virtual.Part { return &part{n: n, who: who} }

// add adds a change. Its error will be stored in err.
func (t *part) add(c semaphores.Change, err *error) { t.doing, t.last = append(t.doing, c), err }

// Work implements virtual.Part.
func (t *part) Work() virtual.Work {
	return virtual.Work{Changes: slices.Concat(t.expect, t.doing)}
}

// End implements virtual.Part.
func (t *part) End(done bool) error {
	if !done {
		return nil
	}
	for _, complete := range t.after {
		complete()
	}
	for _, lease := range t.leases {
		if !t.n.LeaseExists(lease) { // it may have ended before the task existed
			t.n.LeaseEnded(lease)
		}
	}
	return nil
}

// request executes a single request outside of transactions.
func (n *Namespace) request(who Caller, gather func(*part) error) error {
	for try := 1; ; try++ {
		t := &part{n: n, who: who, single: true}
		err := gather(t)
		if err == nil {
			err = t.commit()
		}
		if err == nil {
			return t.End(true)
		}
		if try == tries || !errors.Is(err, failure.ErrStale) {
			return toStatus(err)
		}
	}
}

// commit executes the collected changes of one request. Without conditions it may be combined with
// other callers' changes.
func (t *part) commit() error {
	if len(t.doing) == 0 {
		return nil
	}
	return t.n.ask(func(s *broker.Session) error {
		if len(t.expect) > 0 {
			return t.n.m.DoWith(s, semaphores.Group{Must: true}, t.Work().Changes...)
		}
		if err := t.n.m.Do(s, t.doing...); err != nil {
			return err
		}
		return *t.last
	})
}

// Put implements virtual.Part.
func (t *part) Put(r *pb.PutRequest, answer *pb.PutResponse) error {
	p, ok := parse(r.Key)
	if !ok {
		return errKey
	}
	if p.task == "" {
		return t.putSemaphore(&p, r, answer)
	}
	return t.putTask(&p, r, answer)
}

// putSemaphore changes the settings of a semaphore, and creates it if it does not exist.
func (t *part) putSemaphore(p *path, r *pb.PutRequest, answer *pb.PutResponse) error {
	settings, err := parseSettings(p.semaphore, r.Value)
	if err != nil {
		return err
	}
	if r.PrevKv {
		t.before(p, func(kv *mvccpb.KeyValue) { answer.PrevKv = kv }, r.Key)
	}
	u := &semaphores.Update{Of: semaphores.Of{Key: p.semaphore}, Settings: settings, Create: !r.IgnoreValue && !r.IgnoreLease}
	t.add(u, &u.Err)
	return nil
}

// putTask enqueues or changes a task.
func (t *part) putTask(p *path, r *pb.PutRequest, answer *pb.PutResponse) error {
	e := semaphores.Entry{Task: p.task, Owner: r.Lease}
	if !r.IgnoreValue {
		w, err := parseWish(r.Value)
		if err != nil {
			return err
		}
		e.Priority, e.Lease = w.priority, w.lease
	}
	if r.IgnoreValue || r.IgnoreLease {
		if err := t.keep(p, r, &e); err != nil {
			return err
		}
	}
	if r.PrevKv {
		q := &semaphores.Status{Of: semaphores.Of{Key: p.semaphore}, Tasks: []string{p.task}}
		t.add(q, &q.Err)
		t.after = append(t.after, func() {
			if st := &q.States[0]; st.Found {
				st.ID = p.task
				answer.PrevKv = taskKV(r.Key, st)
			}
		})
	}
	if r.Lease != 0 {
		t.leases = append(t.leases, r.Lease)
	}
	q := &semaphores.Enqueue{Of: semaphores.Of{Key: p.semaphore}, Entries: []semaphores.Entry{e}}
	t.add(q, &q.Err)
	return nil
}

// keep copies the fields that a put does not change.
func (t *part) keep(p *path, r *pb.PutRequest, e *semaphores.Entry) error {
	states, err := t.n.statuses(p.semaphore, []string{p.task})
	if err != nil {
		return err
	}
	if len(states) == 0 || !states[0].Found {
		return rpctypes.ErrGRPCKeyNotFound
	}
	was := states[0].Task
	if r.IgnoreValue {
		e.Priority, e.Lease = was.Priority, was.Lease
	}
	if r.IgnoreLease {
		e.Owner = was.Owner
	}
	t.expect = append(t.expect, &semaphores.Expect{
		Of: semaphores.Of{Key: p.semaphore}, Task: p.task,
		Holds: func(_ semaphores.Info, _ bool, now semaphores.State) bool {
			return now.Found && now.Priority == was.Priority && now.Lease == was.Lease && now.Owner == was.Owner
		},
	})
	return nil
}

// before calls tell, after everything is done, with the state of a semaphore just before the
// changes that are added next, if it existed.
func (t *part) before(p *path, tell func(*mvccpb.KeyValue), key []byte) {
	var was *mvccpb.KeyValue
	q := &semaphores.Expect{Of: semaphores.Of{Key: p.semaphore}, Holds: func(info semaphores.Info, there bool, _ semaphores.State) bool {
		if there {
			was = semaphoreKV(key, &info)
		}
		return true
	}}
	t.add(q, &q.Err)
	t.after = append(t.after, func() {
		if was != nil {
			tell(was)
		}
	})
}

// Delete implements virtual.Part.
func (t *part) Delete(r *pb.DeleteRangeRequest, answer *pb.DeleteRangeResponse) error {
	if s := newSpan(r.Key, r.RangeEnd); len(r.RangeEnd) > 0 {
		tasks, err := t.n.tasksIn(s)
		if err == nil {
			err = t.release(s.of, tasks, r.PrevKv, answer)
		}
		return err
	}
	p, ok := parse(r.Key)
	switch {
	case !ok:
	case p.task == "":
		t.deleteSemaphore(&p, r, answer)
	default:
		return t.release(p.semaphore, []string{p.task}, r.PrevKv, answer)
	}
	return nil
}

// deleteSemaphore deletes a semaphore with all its tasks.
func (t *part) deleteSemaphore(p *path, r *pb.DeleteRangeRequest, answer *pb.DeleteRangeResponse) {
	if r.PrevKv {
		t.before(p, func(kv *mvccpb.KeyValue) { answer.PrevKvs = append(answer.PrevKvs, kv) }, r.Key)
	}
	d := &semaphores.Delete{Of: semaphores.Of{Key: p.semaphore}}
	t.add(d, &d.Err)
	t.after = append(t.after, func() {
		if !d.Missing {
			answer.Deleted++
		}
	})
}

// release releases tasks of a semaphore. A missing semaphore has none.
func (t *part) release(semaphore string, tasks []string, prevKV bool, answer *pb.DeleteRangeResponse) error {
	if there, err := t.there(semaphore); !there || err != nil || len(tasks) == 0 {
		return err
	}
	if prevKV {
		q := &semaphores.Status{Of: semaphores.Of{Key: semaphore}, Tasks: tasks}
		t.add(q, &q.Err)
		t.after = append(t.after, func() {
			for i := range q.States {
				if st := &q.States[i]; st.Found {
					st.ID = tasks[i]
					answer.PrevKvs = append(answer.PrevKvs, taskKV(path{semaphore, st.ID}.appendKey(nil), st))
				}
			}
		})
	}
	q := &semaphores.Release{Of: semaphores.Of{Key: semaphore}, Tasks: tasks}
	t.add(q, &q.Err)
	t.after = append(t.after, func() { answer.Deleted += released(q) })
	return nil
}

// there reports whether a semaphore exists. In a transaction it adds the condition that this does
// not change. A single request does not need the check.
func (t *part) there(semaphore string) (bool, error) {
	if t.single {
		return true, nil
	}
	q := &semaphores.Look{Of: semaphores.Of{Key: semaphore}}
	err := t.n.do(q)
	if err == nil {
		err = unlessGone(q.Err)
	}
	there := q.Err == nil
	t.expect = append(t.expect, &semaphores.Expect{
		Of:    semaphores.Of{Key: semaphore},
		Holds: func(_ semaphores.Info, now bool, _ semaphores.State) bool { return now == there },
	})
	return there, err
}

// released returns how many tasks a change released.
func released(q *semaphores.Release) (n int64) {
	for _, was := range q.Released {
		if was {
			n++
		}
	}
	return n
}
