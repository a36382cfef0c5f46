package semaphores

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
	"fiveways/internal/storage/vfs"
)

// Of many callers at once each gets his own answer, and no more run than may.
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

// Those who come while the log is busy share its next group.
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
				if err := n.m.enter(q); err != nil {
					t.Error(err)
				}
			})
		}
		for waiting := 0; waiting < callers; runtime.Gosched() {
			n.m.line.mu.Lock()
			waiting = len(n.m.line.waiting)
			n.m.line.mu.Unlock()
		}
	}))
	all.Wait()
	st := n.m.Stats()
	n.same("groups of the log", st.Groups-before, 1)
	n.same("tasks", st.Tasks, callers)
	n.close()
}

// After the log has failed nothing is changed or shown any more: what would be seen may not be in it.
func TestAfterTheLogFailed(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	n.m.mu.Lock()
	n.m.fail(broker.ErrLogFailed)
	n.m.mu.Unlock()
	late := &request{s: n.s, changes: []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1")}}}
	n.fails(n.m.enter(late), broker.ErrLogFailed)
	for _, c := range []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("b 1")}, &Look{Of: Of{Key: "k"}}} {
		n.fails(n.m.Do(n.s, c), broker.ErrLogFailed)
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
