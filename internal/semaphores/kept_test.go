package semaphores

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A read returns nothing that may still be lost: it waits for the batch in flight, and repeats if
// that was rolled back.
func TestLookWaits(t *testing.T) {
	for name, c := range map[string]struct {
		err  error // of the batch
		want semaphore.Status
	}{
		"durable":  {nil, semaphore.Acquired},
		"kept out": {failure.ErrRejected, semaphore.Wait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := open(t, vfs.NewMem())
				n.create("k", 0, 0)
				n.enqueue("k", "a 1")
				r := &n.m.r
				n.m.mu.Lock()
				r.begin(n.m)
				r.do(&request{s: n.s, changes: []Change{&Update{Of: Of{Key: "k"}, Settings: Settings{Active: new(1)}}}})
				f := r.depart()
				n.m.mu.Unlock()

				look, done := &Status{Of: Of{Key: "k"}, Tasks: []string{"a"}}, make(chan error, 1)
				go func() { done <- n.m.Do(n.s, look) }()
				synctest.Wait()
				n.same("looks that are done", len(done), 0)

				n.m.mu.Lock()
				r.arrive(f, c.err, c.err == nil)
				n.m.mu.Unlock()
				close(f.done)
				r.end()
				n.must(<-done)
				n.same("seen", look.States[0].Status, c.want)
				n.close()
			})
		})
	}
}

// A rejected request leaves nothing in the batch that it would have shared: no fact, no event, no
// transition.
func TestKeptOutOfASharedGroup(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.listen()
	n.create("k", 9, 0)
	n.create("l", 9, 0)
	h := n.watch(WatchOptions{All: true})
	asks := func(key, task string, more ...Change) *request {
		e := &Enqueue{Of: Of{Key: key}, Entries: entries(task)}
		return &request{s: n.s, group: Group{Must: len(more) > 0}, changes: append([]Change{e}, more...)}
	}
	out := asks("k", "out 1", &Expect{Of: Of{Key: "l"}, Holds: func(Info, bool, State) bool { return false }})
	n.same("done", n.m.round([]*request{asks("l", "a 1"), out, asks("k", "b 1"), asks("l", "c 1")}), 4)
	n.fails(out.err, failure.ErrStale)
	n.same("told", h.events, []string{"l a -", "l a Acquired 1", "k b -", "k b Acquired 1", "l c -", "l c Acquired 2"})
	n.same("transitions", n.m.Stats().Transitions["Acquired"], 3)
	n = n.crash()
	n.same("messages", n.messages(), []string{"l a Acquired 1", "k b Acquired 1", "l c Acquired 2"})
	n.shows("k", "b:ACQUIRED")
	n.shows("l", "a:ACQUIRED", "c:ACQUIRED")
	n.close()
}

// With Must a failed change rejects all, whatever its position and its error.
func TestMust(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("mine", 1, 0)
	n.create("theirs", 1, 0)
	s := n.user("ann", "", "^mine|^none", "^mine|^none")
	good := func() Change { return &Enqueue{Of: Of{Key: "mine"}, Entries: entries("a 1")} }
	for _, c := range []struct {
		bad  Change
		want error
	}{
		{&Release{Of: Of{Key: "theirs"}, Tasks: []string{"a"}}, failure.ErrAccessRefused},
		{&Release{Of: Of{Key: "mine"}, Tasks: []string{""}}, ErrInvalid},
		{&Release{Of: Of{Key: "none"}, Tasks: []string{"a"}}, ErrNotFound},
		{&Look{Of: Of{Key: "none"}}, ErrNotFound},
	} {
		for _, changes := range [][]Change{{c.bad}, {c.bad, good()}, {good(), c.bad}} {
			n.fails(n.m.DoWith(s, Group{Must: true}, changes...), c.want)
		}
	}
	n.shows("mine")
	n.close()
}

// After a disk failure nothing is changed or returned. Only the next start shows whether the batch
// in flight survived.
func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		n, err := startOn(t, fs)
		if err != nil {
			t.Fatal(err)
		}
		n.create("k", 1, 0)
		n.enqueue("k", "a 2", "b 1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s, waits := n.session(), make(chan error, 1)
		go func() {
			_, err := n.m.Await(ctx, s, "k", "b")
			waits <- err
		}()
		synctest.Wait()
		fs.FailSync(errors.New("the disk is broken"))
		k := Of{Key: "k"}
		for _, c := range []Change{&Release{Of: k, Tasks: []string{"a"}}, &Look{Of: k}, &Enqueue{Of: k, Entries: entries("c 1")}} {
			n.fails(n.m.Do(n.s, c), failure.ErrLogFailed)
		}
		n.fails(<-waits, failure.ErrLogFailed)
		n.fails(n.m.EndOwners(1), failure.ErrLogFailed)
		if n.end() == nil {
			t.Error("it ended as if all were well")
		}
	})
}
