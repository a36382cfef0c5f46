package semaphores

import (
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// An atomic request applies the rule once. The same changes made one by one apply it after each.
func TestRuleIsAskedOncePerMoment(t *testing.T) {
	releaseAndEnqueue := func(task string) []Change {
		return []Change{&Release{Of: Of{Key: "k"}, Tasks: []string{"a"}}, &Enqueue{Of: Of{Key: "k"}, Entries: entries(task)}}
	}
	for _, c := range []struct {
		name   string
		do     func(n *node) error
		tasks  []string
		events int // of the three tasks
	}{
		{"at one moment, more urgent than the one that waits", func(n *node) error {
			return n.m.DoWith(n.s, Group{}, releaseAndEnqueue("c 3")...)
		}, []string{"c:ACQUIRED", "b:WAIT"}, 2},
		{"at one moment, with the same task", func(n *node) error {
			return n.m.DoWith(n.s, Group{Must: true}, releaseAndEnqueue("a 4")...)
		}, []string{"a:ACQUIRED", "b:WAIT"}, 2},
		{"at one moment, less urgent", func(n *node) error {
			return n.m.DoWith(n.s, Group{Tx: n.s.NewTx(), Must: true}, releaseAndEnqueue("c 1")...)
		}, []string{"b:ACQUIRED", "c:WAIT"}, 2},
		{"in turns", func(n *node) error {
			return n.m.Do(n.s, releaseAndEnqueue("c 3")...)
		}, []string{"c:WAIT", "b:ACQUIRED"}, 2},
		{"enqueued, made smaller and enqueued again", func(n *node) error {
			none := 0
			return n.m.DoWith(n.s, Group{}, append(releaseAndEnqueue("c 3"), &Update{Of: Of{Key: "k"}, Settings: Settings{Active: &none}})...)
		}, []string{"c:WAIT", "b:WAIT"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := open(t, vfs.NewMem())
			n.listen()
			n.create("k", 1, 0)
			n.enqueue("k", "a 5")
			n.enqueue("k", "b 2")
			n.must(c.do(n))
			for range 2 {
				n.shows("k", c.tasks...)
				n.same("events", n.count("events"), c.events)
				n = n.crash()
			}
			n.close()
		})
	}
}

// The changes of an atomic request return the combined result, and a failed request leaves nothing
// for the rule to do.
func TestAnswersOfOneMoment(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	first, two := &Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1")}, 2
	second, update := &Enqueue{Of: Of{Key: "k"}, Entries: entries("b 2", "c 3")}, &Update{Of: Of{Key: "k"}, Settings: Settings{Active: &two}}
	n.must(n.m.DoWith(n.s, Group{}, first, second, update))
	n.same("first", first.States[0].Status.String(), "WAIT")
	n.same("second", second.States[0].Status.String()+" "+second.States[1].Status.String(), "ACQUIRED ACQUIRED")
	n.same("acquired", update.Info.Acquired, 2)

	gone := &Enqueue{Of: Of{Key: "k"}, Entries: entries("d 4")}
	n.must(n.m.DoWith(n.s, Group{}, gone, &Delete{Of: Of{Key: "k"}}))
	n.same("found in a semaphore that the same request deleted", gone.States[0].Found, false)

	n.create("k", 1, 0)
	failing := []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("e 1")}, &Release{Of: Of{Key: "none"}}}
	n.fails(n.m.DoWith(n.s, Group{Must: true}, failing...), ErrNotFound)
	n.shows("k")
	n.enqueue("k", "f 1")
	n.shows("k", "f:ACQUIRED")
	n.close()
}
