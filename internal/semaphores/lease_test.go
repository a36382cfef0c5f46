package semaphores

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

func (n *node) createWithLease(key string, active int, lease time.Duration) {
	n.Helper()
	ms := lease.Milliseconds()
	n.do(&Create{Of: Of{Key: key}, Settings: Settings{Active: &active, Lease: &ms}})
}

func (n *node) renew(key, task string) bool {
	n.Helper()
	c := &Renew{Of: Of{Key: key}, Tasks: []string{task}}
	n.do(c)
	return c.Renewed[0]
}

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		h := n.watch(WatchOptions{})
		n.createWithLease("k", 1, 10*time.Second)
		n.enqueue("k", "a 3", "b 2", "c 1")
		n.do(&Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: "long", Priority: 2.5, Lease: 60_000}}})
		n.same("a task that waits", n.renew("k", "b"), false)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		n.same("renewed", n.renew("k", "a"), true)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		n.shows("k", "a:ACQUIRED", "long:WAIT", "b:WAIT", "c:WAIT")
		time.Sleep(time.Second)
		synctest.Wait()
		n.shows("k", "long:ACQUIRED", "b:WAIT", "c:WAIT")
		time.Sleep(59 * time.Second)
		synctest.Wait()
		n.enqueue("k", "long 2.5") // renewed, now with the semaphore's lease
		time.Sleep(9 * time.Second)
		synctest.Wait()
		n.shows("k", "long:ACQUIRED", "b:WAIT", "c:WAIT")
		time.Sleep(time.Second)
		synctest.Wait()
		n.shows("k", "b:ACQUIRED", "c:WAIT")

		time.Sleep(9 * time.Second)
		synctest.Wait()
		n.close()
		time.Sleep(time.Hour)
		n = open(t, n.fs)
		time.Sleep(9 * time.Second) // the lease has its full duration again
		synctest.Wait()
		n.shows("k", "b:ACQUIRED", "c:WAIT")
		time.Sleep(time.Second)
		synctest.Wait()
		n.shows("k", "c:ACQUIRED")
		n.same("events", h.events, []string{
			"k a Acquired 1", "k a Expired 2 gone", "k long Acquired 3", "k long Expired 4 gone", "k b Acquired 5",
		})
		n.close()
	})
}

// A changed lease of the semaphore applies to leases that begin later, and 0 means none.
func TestLeaseIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.createWithLease("k", 1, 0)
		n.enqueue("k", "a 2", "b 1")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		ms := int64(1000)
		n.do(&Update{Of: Of{Key: "k"}, Settings: Settings{Lease: &ms}})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		n.shows("k", "a:ACQUIRED", "b:WAIT")
		n.release("k", "a")
		time.Sleep(time.Second)
		synctest.Wait()
		n.shows("k")
		n.close()
	})
}

// Each renewal of a task restarts its lease with its current duration, even if shorter.
func TestSignsOfLife(t *testing.T) {
	for name, live := range map[string]func(*node){
		"renew":            func(n *node) { n.renew("k", "a") },
		"the same enqueue": func(n *node) { n.enqueue("k", "a 2") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := open(t, vfs.NewMem())
				n.createWithLease("k", 1, time.Hour)
				n.enqueue("k", "a 2", "b 1")
				n.do(&Update{Of: Of{Key: "k"}, Settings: Settings{Lease: new(int64(1000))}})
				live(n)
				time.Sleep(999 * time.Millisecond)
				synctest.Wait()
				n.shows("k", "a:ACQUIRED", "b:WAIT")
				time.Sleep(time.Millisecond)
				synctest.Wait()
				n.shows("k", "b:ACQUIRED")
				n.close()
			})
		})
	}
}

func TestOwners(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("one", 1, 0)
	n.create("two", 9, 0)
	n.do(&Enqueue{Of: Of{Key: "one"}, Entries: []Entry{{Task: "a", Owner: 7, Priority: 2}, {Task: "b", Owner: 7}, {Task: "c", Owner: 8}, {Task: "d", Owner: 7}}})
	n.do(&Enqueue{Of: Of{Key: "two"}, Entries: []Entry{{Task: "a", Owner: 7}}})
	n.enqueue("one", "d 0") // it no longer has an owner
	n.same("owned", len(n.m.Owned(7, 0)), 3)
	n.same("owned, bounded", len(n.m.Owned(7, 2)), 2)
	n.same("owned in", len(n.m.OwnedIn(7)), 2)
	n.same("owned in one", n.m.OwnedIn(8), []Ref{{VHost: "/", Key: "one"}})
	want := hashOf(n.m)
	n.close()
	n = open(t, n.fs)
	n.same("hash", hashOf(n.m), want)
	n.same("owners", len(n.m.Owners()), 2)
	h := n.watch(WatchOptions{Key: "one"})
	n.must(n.m.EndOwners(7))
	n.shows("one", "c:ACQUIRED", "d:WAIT")
	n.shows("two")
	n.same("owners", n.m.Owners(), []int64{8})
	n.same("events", h.events, []string{"one a Expired 2 gone", "one b Expired 3 gone", "one c Acquired 4"})
	n.must(n.m.EndOwners(7))
	n.must(n.m.EndOwners(0))
	n.close()
}
