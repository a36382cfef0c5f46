package semaphores

import (
	"fmt"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Deleting a virtual host removes its semaphores without events; a new one with the same name
// starts empty.
func TestVHostDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.create("k", 1, 0)
		n.enqueue("k", "stays 1")
		other := func() *broker.Session {
			n.Helper()
			_, err := n.b.PutVHost(catalog.VHostSpec{Name: "other"})
			n.must(err)
			s, err := n.b.Operate("other")
			n.must(err)
			return s
		}
		s := other()
		make := func() {
			n.Helper()
			c := &Create{Of: Of{Key: "k"}}
			n.must(n.m.Do(s, c, &Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: "a", Owner: 7}, {Task: "b", Lease: 3_600_000}}}))
			n.must(c.Err)
			n.same("made", c.Created, true)
			n.same("tasks", n.m.Stats().Tasks, 3)
		}
		make()
		n.must(n.b.DeleteVHost("other"))
		late := &Create{Of: Of{Key: "late"}}
		n.must(n.m.Do(s, late))
		n.fails(late.Err, failure.ErrVHostNotFound)
		s = other()
		synctest.Wait()
		n.same("tasks", n.m.Stats().Tasks, 1)
		n.sound(n.m)
		make()

		n.m.Stop() // the broker stops before it handles the deletion
		n.must(n.b.DeleteVHost("other"))
		n = n.crash()
		other()
		synctest.Wait()
		n.same("tasks", n.m.Stats().Tasks, 1)
		n.same("semaphores", n.m.Stats().Semaphores, 1)
		n.sound(n.m)
		n.shows("k", "stays:ACQUIRED")
		n.close()
	})
}

// A semaphore is found by its ID only in its own virtual host.
func TestByID(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	id := n.info("k").ID
	i, found := n.m.ByID(n.s, id)
	n.same("found", i.Key+" "+fmt.Sprint(found), "k true")
	_, err := n.b.PutVHost(catalog.VHostSpec{Name: "other"})
	n.must(err)
	s, err := n.b.Operate("other")
	n.must(err)
	_, found = n.m.ByID(s, id)
	n.same("found in another virtual host", found, false)
	n.close()
}

// The exchange of events is created with the first semaphore unless it exists. Once deleted, it
// stays deleted, and nothing else changes.
func TestExchange(t *testing.T) {
	n := open(t, vfs.NewMem())
	passive := catalog.ExchangeSpec{Name: Exchange, Passive: true}
	n.fails(n.s.DeclareExchange(passive), failure.ErrExchangeNotFound)
	bad := -1
	n.must(n.m.Do(n.s, &Create{Of: Of{Key: "k"}, Settings: Settings{Active: &bad}}))
	n.fails(n.s.DeclareExchange(passive), failure.ErrExchangeNotFound)
	n.create("k", 1, 0)
	n.must(n.s.DeclareExchange(passive))
	n.must(n.s.DeleteExchange(Exchange, false))
	n.create("l", 1, 0)
	n.enqueue("k", "a 1")
	n.shows("k", "a:ACQUIRED")
	n.fails(n.s.DeclareExchange(passive), failure.ErrExchangeNotFound)
	n.do(&Delete{Of: Of{Key: "k"}})
	n.do(&Delete{Of: Of{Key: "l"}})
	n.must(n.s.DeclareExchange(catalog.ExchangeSpec{Name: Exchange, Type: "fanout"}))
	n.create("k", 1, 0)
	n.close()
}
