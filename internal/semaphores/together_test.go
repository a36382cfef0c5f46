package semaphores

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"fiveways/internal/core/semaphore"
	"fiveways/internal/storage/vfs"
)

// Many callers at once share groups of the log, each gets his own answer, and no more run than may.
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
	before := n.m.Stats().Groups
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
	if groups := n.m.Stats().Groups - before; groups > callers*each {
		t.Errorf("%d groups of the log for %d changes", groups, 2*callers*each)
	}
	n.same("events in the queue", n.count("events"), callers*each)
	n.close()
}

// A checkpoint that is written while everything changes, with what the log has behind it, is the state.
func TestCheckpointBesideChanges(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.step = 7
	r := rand.New(rand.NewPCG(5, 5))
	change := func() {
		key := fmt.Sprint("k", r.IntN(4))
		switch r.IntN(12) {
		case 0:
			n.do(&Delete{Of: Of{Key: key}})
		case 1:
			n.do(&Create{Of: Of{Key: key}})
		case 2:
			up, active := r.IntN(2) == 0, r.IntN(30)
			must := n.m.Do(n.s, &Update{Of: Of{Key: key}, Create: true, Settings: Settings{Ascending: &up, Active: &active}}) // the order may be refused
			n.must(must)
		case 3, 4, 5:
			c := &Release{Of: Of{Key: key}}
			for range 40 {
				c.Tasks = append(c.Tasks, fmt.Sprint(r.IntN(100)))
			}
			n.must(n.m.Do(n.s, c))
		default:
			c := &Enqueue{Of: Of{Key: key}}
			for range 10 {
				c.Entries = append(c.Entries, Entry{Task: fmt.Sprint(r.IntN(100)), Priority: float64(r.IntN(9)), Owner: int64(r.IntN(3))})
			}
			n.must(n.m.Do(n.s, c))
		}
	}
	for range 60 {
		for range 30 {
			change()
		}
		var log [][]byte
		n.spy.heard = func(entry []byte) { log = append(log, bytes.Clone(entry)) }
		_, write := n.m.Freeze()
		var image bytes.Buffer
		n.must(write(&changing{w: &image, change: change}))
		change()
		n.spy.heard = nil

		n.again(image.Bytes(), log)
		if t.Failed() {
			break
		}
	}
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
