package semkeys

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/heap"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

const (
	// listStep is how many semaphores, and scanStep how many tasks, are requested at a time.
	listStep = 1000
	scanStep = 4096
)

// gathering collects the keys of a range. Tasks are ordered by priority, not by key: with a limit
// all of them are visited, but only the needed ones are kept.
type gathering struct {
	n         *Namespace
	who       Caller
	span      span
	most      int // number of keys needed, the first ones in key order; 0: all
	countOnly bool

	found heap.Heap[found, lastKey]
	kept  map[string]struct{} // the keys in found; a scan may visit a task twice
	count int64               // of all keys in the range
	bytes int
}

// found is a key in the range.
type found struct {
	key  []byte
	path path
	kv   *mvccpb.KeyValue // set for the key of a semaphore
}

// lastKey orders keys in a heap with the greatest key first.
type lastKey struct{ heap.Untracked[found] }

func (lastKey) Before(a, b found) bool { return bytes.Compare(a.key, b.key) > 0 }

// run collects the keys.
func (g *gathering) run() error {
	if g.span.of != "" {
		return g.oneSemaphore()
	}
	for after := ""; ; {
		all, next := g.list(after)
		for i := range all {
			if err := g.semaphore(&all[i]); err != nil {
				return err
			}
		}
		if after = next; next == "" {
			return nil
		}
	}
}

// list returns a page of semaphores that the caller may read.
func (g *gathering) list(after string) ([]semaphores.Info, string) {
	if g.who.Session == nil {
		return nil, ""
	}
	return g.n.m.List(g.who.Session, "", after, listStep)
}

// oneSemaphore collects the tasks of a range within one semaphore.
func (g *gathering) oneSemaphore() error {
	key := g.span.of
	if err := may(g.who, toRead, key); err != nil {
		return err
	}
	whole := g.span.covers(below(key))
	if whole {
		q := semaphores.Look{Of: semaphores.Of{Key: key}}
		if err := g.n.do(&q); err != nil || q.Err != nil {
			return unlessGone(err, q.Err)
		}
		if g.count = int64(tasksOf(&q.Info)); g.countOnly {
			return nil
		}
	}
	return g.tasks(key, whole)
}

// semaphore collects the keys of one semaphore.
func (g *gathering) semaphore(info *semaphores.Info) error {
	p := path{semaphore: info.Key}
	if key := p.appendKey(nil); g.span.has(key) {
		g.count++
		if err := g.add(found{key: key, path: p, kv: semaphoreKV(key, info)}); err != nil {
			return err
		}
	}
	tasks := below(info.Key)
	if !g.span.meets(tasks) {
		return nil
	}
	whole := g.span.covers(tasks)
	if whole {
		if g.count += int64(tasksOf(info)); g.countOnly || !g.wants(tasks) {
			return nil
		}
	}
	return g.tasks(info.Key, whole)
}

func tasksOf(info *semaphores.Info) int { return info.Waiting + info.Acquired + info.TryRelease }

// wants reports whether a key that is not less than the given one may still be needed.
func (g *gathering) wants(key []byte) bool {
	return g.most == 0 || len(g.found) < g.most || bytes.Compare(key, g.found[0].key) < 0
}

// add adds a key if it is needed.
func (g *gathering) add(f found) error {
	switch {
	case g.countOnly || !g.wants(f.key):
		return nil
	case g.most == 0:
		g.found = append(g.found, f)
	default:
		g.found.Push(f)
		if len(g.found) > g.most {
			delete(g.kept, string(g.found.Pop().key))
		}
	}
	g.kept[string(f.key)] = struct{}{}
	if g.bytes += len(f.key) + 64; g.most == 0 && g.bytes > virtual.MaxAnswer {
		return virtual.ErrTooMuch
	}
	return nil
}

// tasks collects the tasks of one semaphore. It finds every task that exists during the whole scan,
// whatever else changes. counted means that their number is known.
func (g *gathering) tasks(key string, counted bool) error {
	return g.n.scan(key, g.span.within(key, g.visit(key, counted)))
}

// visit returns tasks' function for one task. A task that is visited again counts once: the hashes
// of all that were counted are kept, because their keys could be too many.
func (g *gathering) visit(key string, counted bool) func(st *semaphores.State, at []byte) error {
	visited, seed := map[uint64]struct{}{}, maphash.MakeSeed()
	return func(st *semaphores.State, at []byte) error {
		if !counted {
			before := len(visited)
			visited[maphash.Bytes(seed, at)] = struct{}{}
			g.count += int64(len(visited) - before)
		}
		if g.countOnly || !g.wants(at) {
			return nil
		}
		if _, twice := g.kept[string(at)]; twice {
			return nil
		}
		return g.add(found{key: bytes.Clone(at), path: path{key, st.ID}})
	}
}

// scan passes all tasks of a semaphore to f, in no particular order. A task that exists during the
// whole scan is passed at least once. f may change the semaphore.
func (n *Namespace) scan(key string, f func([]semaphores.State) error) error {
	q := semaphores.Scan{Of: semaphores.Of{Key: key}, Limit: scanStep}
	for {
		if err := n.do(&q); err != nil || q.Err != nil {
			return unlessGone(err, q.Err)
		}
		if err := f(q.States); err != nil {
			return err
		}
		if q.From = q.Next; q.From == 0 {
			return nil
		}
	}
}

// below returns the prefix of the keys of a semaphore's tasks.
func below(semaphore string) []byte { return append(path{semaphore: semaphore}.appendKey(nil), '/') }

// within returns a function for the scan of a semaphore. It calls f for the tasks in the range,
// with their keys, which f must not keep.
func (s *span) within(semaphore string, f func(st *semaphores.State, key []byte) error) func([]semaphores.State) error {
	buf := below(semaphore)
	prefix := len(buf)
	return func(states []semaphores.State) error {
		for i := range states {
			if buf = append(buf[:prefix], states[i].ID...); !s.has(buf) {
				continue
			}
			if err := f(&states[i], buf); err != nil {
				return err
			}
		}
		return nil
	}
}

// keyValues returns the collected keys in order, without tasks that have disappeared since. It
// reads the values again, since the scan does not return the positions of tasks.
func (g *gathering) keyValues(keysOnly bool) ([]*mvccpb.KeyValue, error) {
	slices.SortFunc(g.found, func(a, b found) int { return bytes.Compare(a.key, b.key) })
	kvs := make([]*mvccpb.KeyValue, 0, len(g.found))
	bytes := 0
	for rest := g.found; len(rest) > 0; {
		run := runOf(rest)
		more, err := g.read(rest[:run])
		if err != nil {
			return nil, err
		}
		for _, kv := range more {
			if keysOnly {
				kv.Value = nil
			}
			if bytes += len(kv.Key) + len(kv.Value) + 64; bytes > virtual.MaxAnswer {
				return nil, virtual.ErrTooMuch
			}
		}
		kvs, rest = append(kvs, more...), rest[run:]
	}
	return kvs, nil
}

// runOf returns how many of the first keys can be read together: the key of a semaphore, or tasks
// of one semaphore.
func runOf(all []found) int {
	n := 1
	for all[0].kv == nil && n < len(all) && n < scanStep && all[n].kv == nil && all[n].path.semaphore == all[0].path.semaphore {
		n++
	}
	return n
}

// read reads the keys of a run.
func (g *gathering) read(run []found) ([]*mvccpb.KeyValue, error) {
	if run[0].kv != nil {
		return []*mvccpb.KeyValue{run[0].kv}, nil
	}
	tasks := make([]string, len(run))
	for i := range run {
		tasks[i] = run[i].path.task
	}
	states, err := g.n.statuses(run[0].path.semaphore, tasks)
	kvs := make([]*mvccpb.KeyValue, 0, len(states))
	for i := range states {
		if states[i].Found {
			kvs = append(kvs, taskKV(run[i].key, &states[i]))
		}
	}
	return kvs, err
}

// unlessGone returns the first error, or nil if it says that the semaphore does not exist: then it
// has no keys.
func unlessGone(errs ...error) error {
	err := cmp.Or(errs...)
	if errors.Is(err, semaphores.ErrNotFound) || errors.Is(err, failure.ErrVHostNotFound) {
		return nil
	}
	return err
}
