package semaphores

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Many concurrent callers each get their own answer, and never more tasks run than allowed.
func TestTogether(t *testing.T) {
	const callers, each = 1000, 5
	n := open(t, vfs.NewMem())
	n.listen()
	n.create("k", 50, 0)
	var mu sync.Mutex
	running, most, last := 0, 0, uint64(0)
	stop, err := n.m.Watch(n.s, WatchOptions{Key: "k", All: true}, func(events []Event) {
		mu.Lock()
		defer mu.Unlock()
		for i := range events {
			e := &events[i]
			if e.Event == semaphore.EventAcquired {
				running++
			}
			if e.Event == 0 && e.Gone && e.Was.Status != semaphore.Wait {
				running--
			}
			if e.Event != 0 {
				if e.Seq != last+1 {
					t.Errorf("event %d after %d", e.Seq, last)
				}
				last = e.Seq
			}
			most = max(most, running)
		}
	})
	n.must(err)
	defer stop()
	var all sync.WaitGroup
	for i := range callers {
		s := n.session()
		all.Go(func() {
			for k := range each {
				task := fmt.Sprint(i, "-", k)
				if _, err := n.m.Acquire(t.Context(), s, "k", Entry{Task: task, Priority: float64(k)}); err != nil {
					t.Error(err)
				}
				c := &Release{Of: Of{Key: "k"}, Tasks: []string{task}}
				if err := n.m.Do(s, c); err != nil || c.Err != nil || !c.Released[0] {
					t.Error(err, c.Err, c.Released)
				}
			}
		})
	}
	all.Wait()
	n.same("left", n.m.Stats().Tasks, 0)
	n.same("most at once", most, 50)
	n.same("events in the queue", n.count("events"), callers*each)
	n.close()
}

// Requests that arrive while the log is busy share its next batch.
func TestShareAGroup(t *testing.T) {
	const callers = 100
	n := open(t, vfs.NewMem())
	n.create("k", callers, 0)
	before := n.m.Stats().Groups
	var all sync.WaitGroup
	n.must(n.m.between(func() {
		for i := range callers {
			q := &request{s: n.s, changes: []Change{&Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: fmt.Sprint(i)}}}}}
			all.Go(func() {
				if err := n.m.execute(q); err != nil {
					t.Error(err)
				}
			})
		}
		for waiting := 0; waiting < callers; runtime.Gosched() {
			n.m.combiner.mu.Lock()
			waiting = len(n.m.combiner.waiting)
			n.m.combiner.mu.Unlock()
		}
	}))
	all.Wait()
	st := n.m.Stats()
	n.same("groups of the log", st.Groups-before, 1)
	n.same("tasks", st.Tasks, callers)
	n.close()
}

// After the log has failed nothing can be changed or read: the state might not be in the log.
func TestAfterTheLogFailed(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	n.m.mu.Lock()
	n.m.fail(failure.ErrLogFailed)
	n.m.mu.Unlock()
	late := &request{s: n.s, changes: []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1")}}}
	n.fails(n.m.execute(late), failure.ErrLogFailed)
	for _, c := range []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("b 1")}, &Look{Of: Of{Key: "k"}}} {
		n.fails(n.m.Do(n.s, c), failure.ErrLogFailed)
	}
	n.same("tasks", n.m.Stats().Tasks, 0)
	n.close()
}

// changing makes changes before each write.
type changing struct {
	w      io.Writer
	change func()
}

func (c *changing) Write(p []byte) (int, error) {
	c.change()
	return c.w.Write(p)
}
