package semaphores

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// sound checks the table's counts against its contents.
func (n *node) sound(m *Manager) {
	n.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &m.table
	bytes, tasks, named, ending := int64(0), 0, 0, 0
	owned := map[string]int{}
	for id, s := range t.byID {
		bytes += semBytes + s.state.Bytes()
		tasks += s.state.Len()
		if found := t.find(s.vhost, s.key); !s.deleted && found == s {
			named++
		} else if !s.deleted {
			n.Errorf("semaphore %d is not found by %q", id, s.key)
		}
		if m.b != nil && s.end != s.state.NextEnd() {
			n.Errorf("%s ends at %d, and in the table at %d", s.key, s.state.NextEnd(), s.end)
		}
		if s.end != noEnd {
			ending++
		}
		for owner := range s.state.Owners() {
			owned[fmt.Sprint(owner, " ", id)] = len(s.state.Owned(owner, s.state.Len()))
		}
	}
	for _, k := range t.byKey {
		named -= k.Len()
	}
	for owner, of := range t.owners {
		for s, count := range of {
			if key := fmt.Sprint(owner, " ", s.id); owned[key] != count {
				n.Errorf("owner and semaphore %s: %d tasks counted, %d there", key, count, owned[key])
			} else {
				delete(owned, key)
			}
		}
	}
	n.same("bytes", t.bytes, bytes)
	n.same("tasks", t.tasks, tasks)
	n.same("keys without their semaphore", named, 0)
	n.same("owners that are not known", owned, map[string]int{})
	n.same("ends", len(t.ends.Heap), ending)
}

// Counts stay correct through all changes, also of tasks with leases and owners.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem(), smallLog)
		r := rand.New(rand.NewPCG(seedFor(t, 3), 3))
		for i := 0; i < 1500 && !t.Failed(); i++ {
			n.churn(r, n.s)
			if r.IntN(200) == 0 {
				n = n.crash(smallLog)
			}
			n.sound(n.m)
		}
		n.close()
	})
}

// A checkpoint written during changes, plus the log after it up to any later crash, gives the same
// state as the log alone.
func TestCheckpointBesideChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.m.step, n.m.most = 7, 5
		r := rand.New(rand.NewPCG(seedFor(t, 5), 5))
		var mu sync.Mutex
		var log [][]byte
		n.spy.heard = func(entry []byte) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, bytes.Clone(entry))
		}
		logged := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(log)
		}
		var s *broker.Session // in a virtual host that is created and deleted
		change := func() {
			switch {
			case s == nil:
				_, err := n.b.PutVHost(catalog.VHostSpec{Name: "other"})
				n.must(err)
				s, err = n.b.Operate("other")
				n.must(err)
			case r.IntN(300) == 0:
				n.must(n.b.DeleteVHost("other"))
				s = nil
			case r.IntN(2) == 0:
				n.churn(r, s)
			default:
				n.churn(r, n.s)
			}
		}
		truth := New(Options{}) // without a checkpoint
		for range 200 {
			for range 10 {
				change()
			}
			begin, end := logged(), 0
			_, write := n.m.Freeze()
			if r.IntN(2) == 0 {
				change()
			}
			var image bytes.Buffer
			n.must(write(&changing{w: &image, change: func() {
				end = logged() // everything that the steps before this write have seen
				change()
			}}))
			for range 20 {
				change()
			}
			logged()
			m := New(Options{})
			n.must(m.Restore(bytes.NewReader(image.Bytes())))
			for i, entry := range log {
				truth.Apply(0, entry)
				if i >= begin {
					m.Apply(0, entry)
				}
				if i+1 >= end {
					n.same("hash", hashOf(m), hashOf(truth))
				}
			}
			n.must(m.broken)
			n.must(truth.broken)
			n.same("hash", hashOf(m), hashOf(n.m))
			n.sound(m)
			n.sound(truth)
			mu.Lock()
			log = nil
			mu.Unlock()
			if t.Failed() {
				break
			}
		}
		n.close()
	})
}

// seedFor returns the seed of a random test; SEMAPHORE_SEED overrides it.
func seedFor(t *testing.T, seed uint64) uint64 {
	if s, err := strconv.ParseUint(os.Getenv("SEMAPHORE_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Log("seed ", seed)
	return seed
}

// churn makes one random change in the session's virtual host.
func (n *node) churn(r *rand.Rand, s *broker.Session) {
	n.Helper()
	of := Of{Key: fmt.Sprint("k", r.IntN(3))}
	task := func() string { return fmt.Sprint("t", r.IntN(40)) }
	lease := func() int64 { return max(0, r.Int64N(4000)-2000) }
	var c Change
	switch r.IntN(20) {
	case 0:
		c = &Delete{Of: of}
	case 1, 2, 3:
		up, active, try, ms := r.IntN(2) == 0, r.IntN(20), r.IntN(9), lease()
		c = &Update{Of: of, Create: true, Settings: Settings{Ascending: &up, Active: &active, TryRelease: &try, Lease: &ms}} // the order may be rejected
	case 4, 5, 6, 7:
		c = &Release{Of: of, Tasks: []string{task(), task()}}
	case 8:
		c = &Renew{Of: of, Tasks: []string{task(), task()}}
	case 9:
		n.must(n.m.EndOwners(r.Int64N(3)))
		return
	case 10, 11:
		<-time.After(time.Duration(r.IntN(2000)) * time.Millisecond) // in the caller's bubble
		synctest.Wait()
		return
	default:
		e := &Enqueue{Of: of}
		for range 1 + r.IntN(8) {
			e.Entries = append(e.Entries, Entry{Task: task(), Priority: float64(r.IntN(9)), Lease: lease(), Owner: r.Int64N(3)})
		}
		c = e
	}
	must := r.IntN(5) == 0
	never := &Expect{Of: of, Holds: func(Info, bool, State) bool { return false }}
	if must {
		n.fails(n.m.DoWith(s, Group{Must: true}, c, never), firstError(c, never))
		return
	}
	n.must(n.m.Do(s, c))
}

// firstError returns the error of the change that made the others fail.
func firstError(changes ...Change) error {
	for _, c := range changes {
		if err := c.of().Err; err != nil {
			return err
		}
	}
	return nil
}
