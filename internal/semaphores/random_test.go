package semaphores

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// model is the expected behavior of the manager: the rule applied after each change, without log,
// batches and steps.
type model struct {
	states map[string]*semaphore.State
	seqs   map[string]uint64 // of events, for the semaphore that currently has the key
	events []string
}

func (m *model) tell(key, task, event string) {
	m.seqs[key]++
	m.events = append(m.events, fmt.Sprint(key, " ", task, " ", event, " ", m.seqs[key]))
}

func (m *model) settle(key string) {
	s := m.states[key]
	for {
		t, ok := s.Next()
		if !ok {
			return
		}
		status := semaphore.Acquired
		if t.Event == semaphore.EventTryRelease {
			status = semaphore.TryRelease
		}
		s.SetStatus(t.Task, status, 0)
		m.tell(key, t.Task, t.Event.String())
	}
}

func (m *model) create(key string, c semaphore.Config) {
	if m.states[key] == nil {
		m.states[key], m.seqs[key] = semaphore.New(c), 0
	}
}

func (m *model) update(key string, c semaphore.Config) bool {
	s := m.states[key]
	if s == nil || s.Configure(c) != nil {
		return false
	}
	m.settle(key)
	return true
}

func (m *model) enqueue(key string, entries []Entry) bool {
	s := m.states[key]
	if s == nil {
		return false
	}
	for _, e := range entries {
		t, _ := s.Get(e.Task)
		t.ID, t.Priority = e.Task, e.Priority
		s.Put(t)
	}
	m.settle(key)
	return true
}

func (m *model) release(key string, tasks []string) bool {
	s := m.states[key]
	if s == nil {
		return false
	}
	for _, id := range tasks {
		s.Remove(id)
	}
	m.settle(key)
	return true
}

func (m *model) delete(key string) {
	s := m.states[key]
	if s == nil {
		return
	}
	for t := range s.From(1) {
		m.tell(key, t.ID, "Deleted")
	}
	delete(m.states, key)
}

// twins is the manager with its model.
type twins struct {
	*node
	model
	rand *rand.Rand
}

// TestRandom makes random changes, rollbacks and restarts, and compares the statuses after each and
// all events at the end. SEMAPHORE_SEED and SEMAPHORE_STEPS select another or a longer run.
func TestRandom(t *testing.T) {
	seeds, steps := []uint64{1, 2, 3}, 600
	if s, err := strconv.ParseUint(os.Getenv("SEMAPHORE_SEED"), 10, 64); err == nil {
		seeds = []uint64{s}
	}
	if n, err := strconv.Atoi(os.Getenv("SEMAPHORE_STEPS")); err == nil {
		steps = n
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { testRandom(t, seed, steps) })
	}
}

func testRandom(t *testing.T, seed uint64, steps int) {
	w := &twins{node: open(t, vfs.NewMem(), smallLog), rand: rand.New(rand.NewPCG(seed, 7))}
	w.states, w.seqs = map[string]*semaphore.State{}, map[string]uint64{}
	w.listen()
	for i := 0; i < steps && !t.Failed(); i++ {
		w.step()
		for _, key := range w.keys() {
			w.compare(key)
		}
		if t.Failed() {
			t.Logf("after step %d", i)
		}
	}
	w.same("events", w.messages(), w.events)
	w.close()
}

func smallLog(o *broker.Options, _ *Options) { o.SegmentBytes, o.CheckpointBytes = 8<<10, 2<<10 }

func (w *twins) keys() []string { return []string{"one", "two"} }

func (w *twins) key() string { return w.keys()[w.rand.IntN(2)] }

func (w *twins) tasks() []string {
	all := make([]string, 1+w.rand.IntN(4))
	for i := range all {
		all[i] = fmt.Sprint("t", w.rand.IntN(12))
	}
	return all
}

func (w *twins) entries() (all []Entry) {
	for _, task := range w.tasks() {
		all = append(all, Entry{Task: task, Priority: float64(w.rand.IntN(6))})
	}
	return all
}

func (w *twins) config() semaphore.Config {
	return semaphore.Config{Active: w.rand.IntN(6), TryRelease: w.rand.IntN(5), Ascending: w.rand.IntN(2) == 0}
}

func settings(c semaphore.Config) Settings {
	return Settings{Active: &c.Active, TryRelease: &c.TryRelease, Ascending: &c.Ascending, Lease: &c.Lease}
}

func (w *twins) step() {
	of := Of{Key: w.key()}
	switch n := w.rand.IntN(100); {
	case n < 5:
		c := w.config()
		w.create(of.Key, c)
		w.run(&Create{Of: of, Settings: settings(c)}, true)
	case n < 20:
		c := w.config()
		w.run(&Update{Of: of, Settings: settings(c)}, w.update(of.Key, c))
	case n < 60:
		e := w.entries()
		w.run(&Enqueue{Of: of, Entries: e}, w.enqueue(of.Key, e))
	case n < 85:
		ids := w.tasks()
		w.run(&Release{Of: of, Tasks: ids}, w.release(of.Key, ids))
	case n < 87:
		w.delete(of.Key)
		w.run(&Delete{Of: of}, true)
	case n < 94:
		w.keptOut()
	default:
		w.restart(n%2 == 0)
	}
}

func (w *twins) create(key string, c semaphore.Config) { w.model.create(key, c) }
func (w *twins) enqueue(key string, e []Entry) bool    { return w.model.enqueue(key, e) }
func (w *twins) release(key string, ids []string) bool { return w.model.release(key, ids) }

func (w *twins) run(c Change, ok bool) {
	w.Helper()
	w.must(w.m.Do(w.s, c))
	if err := c.of().Err; (err == nil) != ok {
		w.Errorf("%T: %v, want success: %v", c, err, ok)
	}
}

// keptOut makes many changes in a group that is rejected, in one of two ways.
func (w *twins) keptOut() {
	of := Of{Key: w.key()}
	changes := []Change{
		&Create{Of: of, Settings: settings(w.config())}, &Enqueue{Of: of, Entries: w.entries()}, &Update{Of: of, Settings: settings(w.config())},
		&Release{Of: of, Tasks: w.tasks()}, &Delete{Of: of}, &Create{Of: of}, &Enqueue{Of: of, Entries: w.entries()},
	}
	w.rand.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	changes = changes[:1+w.rand.IntN(len(changes))]
	if w.rand.IntN(2) == 0 {
		never := &Expect{Of: of, Holds: func(Info, bool, State) bool { return false }}
		err := w.m.DoWith(w.s, Group{Must: true}, append(changes, never)...)
		if err == nil {
			w.Error("a group that must fail did not")
		}
		return
	}
	changed := &broker.Unchanged{OnQueue: broker.OnQueue{Queue: "other"}, Since: shard.QueueVersion{}}
	w.must(w.m.DoWith(w.s, Group{Commands: []broker.Command{changed}}, changes...))
	if !changed.Changed {
		w.Errorf("the condition holds: %v", changed.Err)
	}
}

func (w *twins) restart(clean bool) {
	want := hashOf(w.m)
	if clean {
		w.close()
		w.node = open(w.T, w.fs, smallLog)
	} else {
		w.node = w.crash(smallLog)
	}
	w.same("hash", hashOf(w.m), want)
}

// compare compares the tasks of a semaphore.
func (w *twins) compare(key string) {
	w.Helper()
	s := w.states[key]
	if s == nil {
		look := &Look{Of: Of{Key: key}}
		w.must(w.m.Do(w.s, look))
		w.fails(look.Err, ErrNotFound)
		return
	}
	var want []string
	for t := range s.From(1) {
		want = append(want, t.ID+":"+t.Status.String())
	}
	w.shows(key, want...)
}

// listen declares a queue for all events, and one with a message for conditions.
func (n *node) listen() {
	n.Helper()
	n.do(&Create{Of: Of{Key: "first"}})
	for _, name := range []string{"events", "other"} {
		_, err := n.s.DeclareQueue(catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()})
		n.must(err)
	}
	n.must(n.s.Bind(catalog.BindSpec{Source: Exchange, Destination: "events", Key: "#"}))
	push := &lists.Push{OnQueue: broker.OnQueue{Queue: "other"}, Bodies: [][]byte{[]byte("x")}}
	n.must(n.s.Do(push))
	n.must(push.Err)
}

// messages takes all events from the queue.
func (n *node) messages() (all []string) {
	n.Helper()
	pop := &lists.Pop{OnQueue: broker.OnQueue{Queue: "events"}, Max: 1 << 20}
	n.must(n.s.Do(pop))
	n.must(pop.Err)
	for _, body := range pop.Bodies {
		var e struct {
			Key, Task, Event string
			Seq              uint64
		}
		n.must(json.Unmarshal(body, &e))
		all = append(all, fmt.Sprint(e.Key, " ", e.Task, " ", e.Event, " ", e.Seq))
	}
	return all
}
