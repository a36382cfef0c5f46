package semkeys

import (
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/semaphores"
)

// maxAtOnce is how many tasks one change releases: up to this many in a range are released
// atomically.
const maxAtOnce = 10_000

var errDeleteAll = status.Errorf(codes.InvalidArgument, "etcdserver: a transaction, or a delete with prev_kv, can delete at most %d tasks", maxAtOnce)

// DeleteRange releases tasks or deletes a semaphore. More than maxAtOnce tasks are not released
// atomically.
func (n *Namespace) DeleteRange(who Caller, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	if err := n.CheckDelete(who, r); err != nil {
		return nil, err
	}
	resp := &pb.DeleteRangeResponse{}
	err := n.request(who, func(t *part) error {
		*resp = pb.DeleteRangeResponse{}
		return t.Delete(r, resp)
	})
	switch {
	case errors.Is(err, errNotFound): // it was deleted in the meantime, or never existed
	case errors.Is(err, errDeleteAll) && !r.PrevKv:
		err = n.deleteInSteps(r, resp)
		fallthrough
	default:
		if err != nil {
			return nil, err
		}
	}
	resp.Header = n.Present()
	return resp, nil
}

// CheckDelete implements virtual.Family.
func (n *Namespace) CheckDelete(who Caller, r *pb.DeleteRangeRequest) error {
	s := newSpan(r.Key, r.RangeEnd)
	var name, action string
	switch p, ok := parse(r.Key); {
	case s.of != "" && len(r.RangeEnd) > 0:
		name, action = s.of, toWrite
	case len(r.RangeEnd) > 0:
		return errDeleteMany
	case !ok:
		return nil // the key cannot exist
	case p.task == "":
		name, action = p.semaphore, toConfigure
	default:
		name, action = p.semaphore, toWrite
	}
	err := may(who, action, name)
	if err == nil && r.PrevKv {
		err = may(who, toRead, name)
	}
	return err
}

// tasksIn returns the tasks of one semaphore in a range, at most maxAtOnce.
func (n *Namespace) tasksIn(s span) (tasks []string, err error) {
	seen := map[string]bool{}
	err = n.scan(s.of, s.within(s.of, func(st *semaphores.State, _ []byte) error {
		if !seen[st.ID] {
			seen[st.ID] = true
			tasks = append(tasks, st.ID)
		}
		if len(tasks) > maxAtOnce {
			return errDeleteAll
		}
		return nil
	}))
	return tasks, err
}

// deleteInSteps releases the tasks of a range, the waiting ones first, so that none of them
// acquires a place for a moment.
func (n *Namespace) deleteInSteps(r *pb.DeleteRangeRequest, resp *pb.DeleteRangeResponse) error {
	s := newSpan(r.Key, r.RangeEnd)
	for _, waiting := range []bool{true, false} {
		var tasks []string
		gather := s.within(s.of, func(st *semaphores.State, _ []byte) error {
			if !waiting || st.Status == semaphore.Wait {
				tasks = append(tasks, st.ID)
			}
			return nil
		})
		err := n.scan(s.of, func(states []semaphores.State) error {
			tasks = tasks[:0]
			if err := gather(states); err != nil {
				return err
			}
			released, err := n.release(s.of, tasks)
			resp.Deleted += released
			return err
		})
		if err != nil {
			return toStatus(err)
		}
	}
	return nil
}

// release releases tasks and returns how many of them existed.
func (n *Namespace) release(semaphore string, tasks []string) (int64, error) {
	if len(tasks) == 0 {
		return 0, nil
	}
	q := semaphores.Release{Of: semaphores.Of{Key: semaphore}, Tasks: tasks}
	if err := n.do(&q); err != nil || q.Err != nil {
		return 0, unlessGone(err, q.Err)
	}
	return released(&q), nil
}
