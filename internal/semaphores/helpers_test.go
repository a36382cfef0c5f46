package semaphores

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node is a broker with semaphores, and a session with all permissions.
type node struct {
	*testing.T
	fs *vfs.Mem
	b  *broker.Broker
	m  *Manager
	s  *broker.Session

	spy *spy
}

// spy records what goes into the log.
type spy struct {
	*Manager
	heard func(entry []byte) // nil: ignores entries
}

func (s *spy) Apply(index uint64, entry []byte) {
	if s.heard != nil {
		s.heard(entry)
	}
	s.Manager.Apply(index, entry)
}

func open(t *testing.T, fs *vfs.Mem, change ...func(*broker.Options, *Options)) *node {
	t.Helper()
	n := &node{T: t, fs: fs}
	o, mine := broker.Options{Shards: 2, Logger: slog.New(slog.DiscardHandler)}, Options{Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o, &mine)
	}
	n.m = New(mine)
	n.spy = &spy{Manager: n.m}
	o.StateMachines = map[uint32]statemachine.Machine{statemachine.Semaphores: n.spy}
	var err error
	n.b, err = broker.Open(fs, "data", o)
	n.must(err)
	n.must(n.m.Start(n.b))
	n.s = n.session()
	return n
}

func (n *node) session() *broker.Session {
	n.Helper()
	s, err := n.b.Operate("/")
	n.must(err)
	return s
}

func (n *node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// crash simulates a power failure and restarts the node from what is left on disk.
func (n *node) crash(change ...func(*broker.Options, *Options)) *node {
	n.Helper()
	left := n.fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
	n.close() // for its goroutines; its files are no longer used
	return open(n.T, left, change...)
}

func (n *node) close() {
	n.Helper()
	n.m.Stop()
	live, closed := n.b.Hash()
	n.must(n.b.Close())
	if closed != nil || n.b.Stats().LogState.Health != store.Healthy {
		return // the test has closed it, or the state is ahead of the log
	}
	again := map[uint32]statemachine.Machine{statemachine.Semaphores: New(Options{Logger: slog.New(slog.DiscardHandler)})}
	replayed, err := broker.ReplayedHash(n.fs, "data", broker.Options{Logger: slog.New(slog.DiscardHandler), StateMachines: again})
	n.must(err)
	if live != replayed {
		n.Error("the state differs from that of a replay of its log")
	}
}

// do makes one change, which must succeed.
func (n *node) do(c Change) {
	n.Helper()
	n.must(n.m.Do(n.s, c))
	n.must(c.of().Err)
}

func (n *node) create(key string, active, tryRelease int) {
	n.Helper()
	n.do(&Create{Of: Of{Key: key}, Settings: Settings{Active: &active, TryRelease: &tryRelease}})
}

// enqueue enqueues tasks, each given as "name priority".
func (n *node) enqueue(key string, tasks ...string) {
	n.Helper()
	n.do(&Enqueue{Of: Of{Key: key}, Entries: entries(tasks...)})
}

func entries(tasks ...string) (all []Entry) {
	for _, task := range tasks {
		var e Entry
		if _, err := fmt.Sscan(task, &e.Task, &e.Priority); err != nil {
			panic(err)
		}
		all = append(all, e)
	}
	return all
}

func (n *node) release(key string, tasks ...string) {
	n.Helper()
	n.do(&Release{Of: Of{Key: key}, Tasks: tasks})
}

// shows compares the tasks of a semaphore in order, each as "name:STATUS".
func (n *node) shows(key string, want ...string) {
	n.Helper()
	page := &Page{Of: Of{Key: key}, Limit: 1000}
	n.do(page)
	var got []string
	for _, s := range page.States {
		got = append(got, s.ID+":"+s.Status.String())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.Errorf("%s has %v, want %v", key, got, want)
	}
}

// heard records what a watcher gets.
type heard struct{ events []string }

func (h *heard) hear(events []Event) {
	for i := range events {
		h.events = append(h.events, show(&events[i]))
	}
}

func show(e *Event) string {
	name := "-"
	if e.Event != 0 {
		name = fmt.Sprint(e.Event, " ", e.Seq)
	}
	if e.Gone {
		name += " gone"
	}
	return strings.TrimSpace(fmt.Sprint(e.Key, " ", e.Task.ID, " ", name))
}

func (n *node) watch(o WatchOptions) *heard {
	n.Helper()
	h := &heard{}
	stop, err := n.m.Watch(n.s, o, h.hear)
	n.must(err)
	n.Cleanup(stop)
	return h
}

func (n *node) same(what string, got, want any) {
	n.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (n *node) fails(err, want error) {
	n.Helper()
	if !errors.Is(err, want) {
		n.Errorf("%v, want %v", err, want)
	}
}

// hashOf returns the hash of idle semaphores.
func hashOf(m *Manager) uint64 {
	sum, _ := m.Sum()
	return sum
}
