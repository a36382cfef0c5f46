package semaphores

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
)

// List returns the semaphores of the session's virtual host that it may read and whose key contains
// the given text. It returns them in key order, beginning after the key after, at most limit. next
// is the last key, or "" if there are no more.
func (m *Manager) List(s *broker.Session, contains, after string, limit int) (all []Info, next string) {
	limit = pageLimit(limit)
	m.seen(func() {
		all, next = nil, ""
		k := m.table.byKey[s.VHostID()]
		if k == nil {
			return
		}
		k.Ascend(after, func(key string, x *sem) bool {
			if key == after || !strings.Contains(key, contains) || s.May(toRead, "semaphore", key) != nil {
				return true
			}
			if len(all) == limit {
				next = all[limit-1].Key
				return false
			}
			all = append(all, x.info())
			return true
		})
	})
	return all, next
}

// ByID finds a semaphore by its ID, if it is in the session's virtual host and the session may read
// it.
func (m *Manager) ByID(s *broker.Session, id uint64) (i Info, ok bool) {
	m.seen(func() {
		x := m.table.byID[id]
		ok = x != nil && !x.deleted && x.vhost == s.VHostID() && s.May(toRead, "semaphore", x.key) == nil
		if ok {
			i = x.info()
		}
	})
	return i, ok
}

// Owners returns the owners of all current tasks, in no particular order.
func (m *Manager) Owners() (all []int64) {
	m.seen(func() { all = slices.Collect(maps.Keys(m.table.owners)) })
	return all
}

// OwnedIn returns the semaphores, in all virtual hosts, in which an owner has tasks, in no
// particular order. The references have no task.
func (m *Manager) OwnedIn(owner int64) (all []Ref) {
	m.seen(func() {
		all = nil
		for s := range m.table.owners[owner] {
			all = append(all, Ref{VHost: s.vhost.Name, Key: s.key})
		}
	})
	return all
}

// Ref names a task.
type Ref struct{ VHost, Key, Task string }

// Owned returns the tasks of an owner in all virtual hosts, at most limit (0: all), in no
// particular order.
func (m *Manager) Owned(owner int64, limit int) (all []Ref) {
	limit = cmp.Or(limit, math.MaxInt)
	m.seen(func() {
		all = nil
		for s := range m.table.owners[owner] {
			for _, id := range s.state.Owned(owner, limit-len(all)) {
				all = append(all, Ref{s.vhost.Name, s.key, id})
			}
		}
	})
	return all
}
