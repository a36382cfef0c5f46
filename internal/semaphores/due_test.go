package semaphores

import (
	"fmt"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

const many = 20_000

// fill creates a semaphore with many tasks, none of which runs.
func (n *node) fill(key string, tasks int) {
	n.Helper()
	n.create(key, 0, 0)
	for i := 0; i < tasks; i += 5000 {
		c := &Enqueue{Of: Of{Key: key}}
		for k := range min(5000, tasks-i) {
			c.Entries = append(c.Entries, Entry{Task: fmt.Sprint(i + k), Priority: float64(i + k)})
		}
		n.do(c)
	}
}

func (n *node) info(key string) Info {
	n.Helper()
	c := &Look{Of: Of{Key: key}}
	n.do(c)
	return c.Info
}

// A change with more transitions than a batch takes is completed by later batches, also after a
// crash, and each transition has one event.
func TestRaiseInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.listen()
		n.fill("k", many)
		n.m.Stop() // the rest must not follow automatically
		active := many - 10
		n.do(&Update{Of: Of{Key: "k"}, Settings: Settings{Active: &active}})
		n.same("acquired at once", n.info("k").Acquired, roundTransitions)
		n.enqueue("k", "x 1e9") // another change, in a round with room for more
		n = n.crash()
		synctest.Wait()
		i := n.info("k")
		n.same("acquired", fmt.Sprint(i.Acquired, i.Waiting, i.TryRelease), fmt.Sprint(active, 11, 0))
		events := n.messages()
		n.same("events", len(events), active)
		for k, e := range events {
			var key, task, name string
			var seq int
			fmt.Sscan(e, &key, &task, &name, &seq)
			if name != "Acquired" || seq != k+1 {
				t.Fatalf("event %d is %s", k+1, e)
			}
		}
		n.close()
	})
}

// What does not fit into a batch follows automatically, for each semaphore and whatever else is in
// the first batch.
func TestTheRestFollows(t *testing.T) {
	for name, group := range map[string]func(*node) Group{
		"shared":         func(*node) Group { return Group{} },
		"with something": func(n *node) Group { return Group{Tx: n.s.NewTx()} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := open(t, vfs.NewMem())
				n.m.most = 3
				var raise []Change
				for _, key := range []string{"k", "l", "m"} {
					n.fill(key, 20)
					raise = append(raise, &Update{Of: Of{Key: key}, Settings: Settings{Active: new(20)}})
				}
				n.must(n.m.DoWith(n.s, group(n), raise...))
				synctest.Wait()
				for _, key := range []string{"k", "l", "m"} {
					n.same("acquired in "+key, n.info(key).Acquired, 20)
				}
				n.close()
			})
		})
	}
}

// A task of a deleted semaphore gets the event Deleted even if its owner ends before the task is
// removed.
func TestOwnerOfDeletedEnds(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.Stop()
	n.create("k", 1, 0)
	n.do(&Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: "a", Owner: 7}}})
	h := n.watch(WatchOptions{})
	n.must(n.m.DoWith(n.s, Group{Tx: n.s.NewTx()}, &Delete{Of: Of{Key: "k"}}))
	n.must(n.m.EndOwners(7))
	n.same("events", h.events, []string{"k a Deleted 2 gone"})
	n.same("semaphores", n.m.Stats().Semaphores, 0)
	n.close()
}

// The tasks of a deleted semaphore are removed in steps, also after a crash, while its key is free
// for another one.
func TestDeleteInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.listen()
		n.fill("k", many)
		n.m.Stop()
		n.do(&Delete{Of: Of{Key: "k"}})
		n.create("k", 1, 1)
		n.enqueue("k", "new 1")
		n.shows("k", "new:ACQUIRED")
		if left := n.m.Stats().Tasks; left <= 1 || left > many {
			t.Errorf("%d tasks are there", left)
		}
		n = n.crash()
		n.shows("k", "new:ACQUIRED")
		synctest.Wait()
		n.same("tasks", n.m.Stats().Tasks, 1)
		n.same("semaphores", n.m.Stats().Semaphores, 2)
		deleted := map[string]bool{}
		for _, e := range n.messages() {
			deleted[e] = true
		}
		n.same("events", len(deleted), many+1)
		n.close()
	})
}

// An owner may have more tasks than fit into one batch.
func TestOwnerInSteps(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	c := &Enqueue{Of: Of{Key: "k"}}
	for i := range 3 * roundTransitions {
		c.Entries = append(c.Entries, Entry{Task: fmt.Sprint(i), Owner: int64(1 + i%2)})
	}
	n.do(c)
	n.must(n.m.EndOwners(1))
	i := n.info("k")
	n.same("left", fmt.Sprint(i.Acquired, i.Waiting), fmt.Sprint(1, 3*roundTransitions/2-1))
	n.close()
}
