package semaphores

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/tidwall/btree"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// sem is one semaphore.
type sem struct {
	id      uint64
	vhost   catalog.VHostID
	key     string
	created int64 // unix ms
	state   *semaphore.State
	events  uint64 // number of the last transition
	round   uint64 // number of the last round that changed it
	deleted bool   // its key is free, and its tasks are being removed
	waiting bool   // it is in table.due
	bytes   int64  // as counted in table.bytes

	end  int64 // first end of a lease, as in table.ends; unix ms
	heap int   // index in table.ends, from 1; 0: none
}

// info describes the semaphore.
func (s *sem) info() Info {
	return Info{
		ID: s.id, Key: s.key, Config: s.state.Config(), Created: s.created,
		Waiting: s.state.Count(semaphore.Wait), Acquired: s.state.Count(semaphore.Acquired), TryRelease: s.state.Count(semaphore.TryRelease),
	}
}

// look returns one of its tasks.
func (s *sem) look(id string) State {
	t, ok := s.state.Get(id)
	if !ok {
		return State{Task: semaphore.Task{ID: id}}
	}
	return State{Task: t, Found: true, Position: s.state.Position(id)}
}

// lease returns how long a task may run without renewal, in ms; 0: forever.
func (s *sem) lease(t *semaphore.Task) int64 {
	if t.Lease > 0 {
		return t.Lease
	}
	return s.state.Config().Lease
}

// keys holds the semaphores of a virtual host, in key order.
type keys = btree.Map[string, *sem]

// table holds all semaphores and their indexes. Live changes and replayed facts use the same
// methods.
type table struct {
	byID   map[uint64]*sem // includes deleted semaphores that still have tasks
	byKey  map[catalog.VHostID]*keys
	owners map[int64]map[*sem]int // number of tasks of each owner in each semaphore
	lastID uint64
	bytes  int64 // estimated memory of all semaphores
	tasks  int
	ends   ends
	due    []*sem // the rule must run, or tasks of a deleted semaphore must be removed
}

// semBytes is the estimated memory of a semaphore without its tasks: the struct, its key, its index
// entries.
const semBytes = 400

func newTable() table {
	return table{byID: map[uint64]*sem{}, byKey: map[catalog.VHostID]*keys{}, owners: map[int64]map[*sem]int{}}
}

// find returns the semaphore of a key, or nil.
func (t *table) find(vhost catalog.VHostID, key string) *sem {
	k := t.byKey[vhost]
	if k == nil {
		return nil
	}
	s, _ := k.Get(key)
	return s
}

// add adds a semaphore.
func (t *table) add(s *sem) {
	s.end = noEnd
	t.byID[s.id] = s
	t.lastID = max(t.lastID, s.id)
	t.bytes += semBytes
	s.bytes = 0
	t.weigh(s)
	if !s.deleted {
		t.name(s)
	}
}

// weigh updates the memory estimate for the tasks of a semaphore.
func (t *table) weigh(s *sem) {
	now := s.state.Bytes()
	t.bytes += now - s.bytes
	s.bytes = now
}

// name registers the key of a semaphore.
func (t *table) name(s *sem) {
	k := t.byKey[s.vhost]
	if k == nil {
		k = new(keys)
		t.byKey[s.vhost] = k
	}
	k.Set(s.key, s)
}

// unname frees the key of a semaphore.
func (t *table) unname(s *sem) {
	k := t.byKey[s.vhost]
	if k == nil {
		return
	}
	if now, ok := k.Get(s.key); !ok || now != s {
		return
	}
	if k.Delete(s.key); k.Len() == 0 {
		delete(t.byKey, s.vhost)
	}
}

// remove removes a semaphore with all its tasks.
func (t *table) remove(s *sem) {
	t.unname(s)
	delete(t.byID, s.id)
	t.bytes -= semBytes + s.bytes
	t.tasks -= s.state.Len()
	for owner := range s.state.Owners() {
		t.disown(s, owner, t.owners[owner][s])
	}
	t.ends.set(s, noEnd)
}

// settle sorts the tasks of a semaphore that was read from the log. A live one is always sorted.
func (t *table) settle(s *sem) {
	s.state.Settle()
	t.weigh(s)
}

// put sets a task.
func (t *table) put(s *sem, task semaphore.Task) (added bool) {
	var was semaphore.Task
	if len(t.owners) > 0 {
		was, _ = s.state.Get(task.ID)
	}
	added = s.state.Put(task)
	t.weigh(s)
	if added {
		t.tasks++
	}
	if was.Owner != task.Owner {
		t.disown(s, was.Owner, 1)
		t.own(s, task.Owner)
	}
	return added
}

// putBack reverts take after all later steps have been reverted. slot is the previous slot of the
// task.
func (t *table) putBack(s *sem, task semaphore.Task, slot uint32) {
	s.state.PutBack(task, slot)
	t.weigh(s)
	t.tasks++
	t.own(s, task.Owner)
}

// setStatus sets the status and the lease end of an existing task.
func (t *table) setStatus(s *sem, id string, st semaphore.Status, until int64) {
	s.state.SetStatus(id, st, until)
	t.weigh(s)
}

// take removes a task.
func (t *table) take(s *sem, id string) (was semaphore.Task, ok bool) {
	was, ok = s.state.Remove(id)
	t.weigh(s)
	if ok {
		t.tasks--
		t.disown(s, was.Owner, 1)
	}
	return was, ok
}

func (t *table) own(s *sem, owner int64) {
	if owner == 0 {
		return
	}
	of := t.owners[owner]
	if of == nil {
		of = map[*sem]int{}
		t.owners[owner] = of
	}
	of[s]++
}

func (t *table) disown(s *sem, owner int64, n int) {
	of := t.owners[owner]
	if of == nil {
		return
	}
	if of[s] -= n; of[s] <= 0 {
		delete(of, s)
	}
	if len(of) == 0 {
		delete(t.owners, owner)
	}
}

// later schedules a semaphore that has more to do than fits into one batch of the log.
func (t *table) later(s *sem) {
	if !s.waiting {
		s.waiting = true
		t.due = append(t.due, s)
	}
}

// sorted returns all semaphores, sorted by ID.
func (t *table) sorted() []*sem {
	all := make([]*sem, 0, len(t.byID))
	for _, s := range t.byID {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *sem) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return all
}

// hash returns a hash that is equal for tables with equal durable state.
func (t *table) hash() uint64 {
	h := fnv.New64a()
	for _, s := range t.sorted() {
		t.settle(s)
		b := appendHeader(nil, s)
		h.Write(b)
		h.Write(binary.LittleEndian.AppendUint64(b[:0], s.state.Hash()))
	}
	return h.Sum64()
}
