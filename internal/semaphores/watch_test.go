package semaphores

import (
	"context"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// user creates a user with permissions and returns a session of it.
func (n *node) user(name, configure, write, read string) *broker.Session {
	n.Helper()
	_, err := n.b.PutUser(catalog.UserSpec{Name: name, Password: "secret"})
	n.must(err)
	_, err = n.b.SetPermission(catalog.Permission{User: name, VHost: "/", Configure: configure, Write: write, Read: read})
	n.must(err)
	s, err := n.b.NewSession(broker.SessionOptions{User: name, VHost: "/"})
	n.must(err)
	return s
}

// A user without permission learns nothing, not even whether the semaphore exists.
func TestPermissions(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("mine", 1, 0)
	n.create("theirs", 1, 0)
	n.create("shown", 1, 0)
	s := n.user("ann", "^mine", "^mine", "^mine|^shown")
	for key, refused := range map[string][3]bool{"mine": {}, "shown": {true, true, false}, "theirs": {true, true, true}, "none": {true, true, true}} {
		of := Of{Key: key}
		for i, changes := range [][]Change{
			{&Create{Of: of}, &Update{Of: of}, &Delete{Of: of, IfEmpty: true}, &Create{Of: of}},
			{&Enqueue{Of: of}, &Release{Of: of}, &Renew{Of: of}},
			{&Status{Of: of}, &Look{Of: of}, &Page{Of: of}, &Scan{Of: of}, &Expect{Of: of, Holds: func(Info, bool, State) bool { return true }}},
		} {
			n.must(n.m.Do(s, changes...))
			for _, c := range changes {
				if refused[i] {
					n.fails(c.of().Err, failure.ErrAccessRefused)
				} else {
					n.must(c.of().Err)
				}
			}
		}
		_, err := n.m.Watch(s, WatchOptions{Key: key}, func([]Event) {})
		n.same("watch refused", err != nil, refused[2])
		_, err = n.m.Await(t.Context(), s, key, "x")
		n.fails(err, map[bool]error{true: failure.ErrAccessRefused, false: ErrNoTask}[refused[1]])
	}
	all, next := n.m.List(s, "", "", 0)
	n.same("list", len(all), 2)
	n.same("list", all[0].Key+" "+all[1].Key+next, "mine shown")
	_, found := n.m.ByID(s, n.info("theirs").ID)
	n.same("found by its number", found, false)
	_, found = n.m.ByID(s, n.info("shown").ID)
	n.same("found by its number", found, true)
	n.close()
}

func TestWatchers(t *testing.T) {
	n := open(t, vfs.NewMem())
	s := n.user("ann", "", "", "^a")
	wide := &heard{}
	stop, err := n.m.Watch(s, WatchOptions{}, wide.hear)
	n.must(err)
	prefix := n.watch(WatchOptions{Key: "ab", Prefix: true})
	task := n.watch(WatchOptions{Key: "ab", Task: "t", All: true})
	everyT := n.watch(WatchOptions{Prefix: true, Task: "t", All: true})
	own := n.watch(WatchOptions{Key: "ab", All: true})
	for _, key := range []string{"ab", "ac", "b"} {
		n.create(key, 1, 1)
		n.enqueue(key, "t 1", "u 2")
		n.release(key, "t")
	}
	n.enqueue("ab", "u 2") // nothing changed
	n.do(&Delete{Of: Of{Key: "ab"}})
	stop()
	stop()
	n.enqueue("ac", "v 2")
	n.release("ac", "u")
	n.same("who may read a", wide.events, []string{"ab u Acquired 1", "ac u Acquired 1", "ab u Deleted 2 gone"})
	n.same("prefix", prefix.events, []string{"ab u Acquired 1", "ab u Deleted 2 gone"})
	n.same("task", task.events, []string{"ab t -", "ab t - gone"})
	n.same("task everywhere", everyT.events, []string{"ab t -", "ab t - gone", "ac t -", "ac t - gone", "b t -", "b t - gone"})
	n.same("all", own.events, []string{"ab  -", "ab t -", "ab u -", "ab u Acquired 1", "ab t - gone", "ab  - gone", "ab u Deleted 2 gone"})
	n.same("watchers", n.m.watchers.count.Load(), 4)
	n.close()
}

// A watcher gets the events of a semaphore only while its user may read it. To wait for a task,
// write is enough.
func TestWatchersObeyChangedPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.create("k", 1, 0)
		n.enqueue("k", "a 1")
		s := n.user("ann", "", "k", "k")
		listen := func(o WatchOptions) *heard {
			h := &heard{}
			_, err := n.m.Watch(s, o, h.hear)
			n.must(err)
			return h
		}
		exact, task, prefix := listen(WatchOptions{Key: "k"}), listen(WatchOptions{Key: "k", Task: "b"}), listen(WatchOptions{Key: "k", Prefix: true})
		may := func(read string) {
			_, err := n.b.SetPermission(catalog.Permission{User: "ann", VHost: "/", Configure: "", Write: "k", Read: read})
			n.must(err)
		}
		acquired := make(chan error, 1)
		may("")
		go func() {
			_, err := n.m.Acquire(t.Context(), s, "k", Entry{Task: "b"})
			acquired <- err
		}()
		synctest.Wait()
		n.release("k", "a")
		n.must(<-acquired)
		synctest.Wait()
		may("k")
		n.enqueue("k", "c 1")
		n.release("k", "b")
		synctest.Wait()
		n.same("exact", exact.events, []string{"k c Acquired 3"})
		n.same("task", len(task.events), 0)
		n.same("prefix", prefix.events, exact.events)
		n.close()
	})
}

// A watcher gets the state of a task before and after the event.
func TestEventsTell(t *testing.T) {
	n := open(t, vfs.NewMem())
	var got []Event
	n.create("k", 1, 1)
	_, err := n.m.Watch(n.s, WatchOptions{Key: "k", All: true}, func(events []Event) { got = append(got, events...) })
	n.must(err)
	n.enqueue("k", "a 1")
	n.enqueue("k", "a 2")
	active := 5
	n.do(&Update{Of: Of{Key: "k"}, Settings: Settings{Active: &active}})
	n.release("k", "a")
	if len(got) != 5 {
		t.Fatalf("%d events: %+v", len(got), got)
	}
	n.same("new", got[0].Was.ID+" "+got[0].Task.ID, " a")
	n.same("acquired", got[1].Was.Status.String()+" "+got[1].Task.Status.String(), "WAIT ACQUIRED")
	n.same("priority", got[2].Was.Priority*10+got[2].Task.Priority, 12)
	n.same("configured", got[3].Info.Config.Active, 5)
	n.same("released", got[4].Was.Status.String(), "ACQUIRED")
	n.close()
}

func TestAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := open(t, vfs.NewMem())
		n.create("k", 1, 0)
		type result struct {
			st  State
			err error
		}
		acquire := func(ctx context.Context, task string) <-chan result {
			c := make(chan result, 1)
			go func() {
				st, err := n.m.Acquire(ctx, n.session(), "k", Entry{Task: task})
				c <- result{st, err}
			}()
			synctest.Wait()
			return c
		}
		ctx, cancel := context.WithCancel(t.Context())
		a, b, c, d, e := acquire(ctx, "a"), acquire(ctx, "b"), acquire(ctx, "c"), acquire(t.Context(), "d"), acquire(t.Context(), "e")
		n.same("a", (<-a).st.Status, "ACQUIRED")
		n.release("k", "a")
		n.same("b", (<-b).st.Status, "ACQUIRED")
		cancel()
		n.fails((<-c).err, context.Canceled)
		n.shows("k", "b:ACQUIRED", "c:WAIT", "d:WAIT", "e:WAIT")
		n.release("k", "d")
		n.fails((<-d).err, ErrNoTask)
		n.do(&Delete{Of: Of{Key: "k"}})
		n.fails((<-e).err, ErrDeleted)
		_, err := n.m.Acquire(t.Context(), n.s, "k", Entry{Task: "x"})
		n.fails(err, ErrNotFound)
		n.same("watchers", n.m.watchers.count.Load(), 0)
		n.close()
	})
}

// Await returns when the manager stops, the broker ends, or the virtual host is deleted.
func TestAwaitEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(n *node)
		want error
	}{
		{"stop", func(n *node) { n.m.Stop() }, failure.ErrClosed},
		{"broker", func(n *node) {
			n.must(n.b.Close())
			n.fails(n.m.Do(n.s, &Release{Of: Of{Key: "first"}, Tasks: []string{"a"}}), failure.ErrClosed)
		}, failure.ErrClosed},
		{"virtual host", func(n *node) { n.must(n.b.DeleteVHost("other")) }, ErrDeleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := open(t, vfs.NewMem())
				n.create("first", 1, 0)
				n.enqueue("first", "a 1")
				_, err := n.b.PutVHost(catalog.VHostSpec{Name: "other"})
				n.must(err)
				n.s, err = n.b.Operate("other")
				n.must(err)
				n.create("k", 0, 0)
				done := make(chan error, 1)
				go func() {
					_, err := n.m.Acquire(context.Background(), n.s, "k", Entry{Task: "a"})
					done <- err
				}()
				synctest.Wait()
				n.s = n.session()
				c.end(n)
				n.fails(<-done, c.want)
				n.close()
			})
		})
	}
}
