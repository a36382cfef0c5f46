package statemachine

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// journal is a machine that records its entries. Its fields are guarded by mu only because tests
// read them.
type journal struct {
	mu       sync.Mutex
	lines    []string
	last     uint64
	restored int // number of lines in the checkpoint
}

func (j *journal) Apply(index uint64, entry []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if index != j.last+1 {
		panic(fmt.Sprintf("entry %d after entry %d", index, j.last))
	}
	j.last = index
	j.lines = append(j.lines, string(entry))
}

func (j *journal) Freeze() (int64, func(io.Writer) error) {
	text := strings.Join(j.lines, "\n")
	return int64(len(text)), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func (j *journal) Restore(r io.Reader) error {
	text, err := io.ReadAll(r)
	j.lines = strings.Split(string(text), "\n")
	j.restored, j.last = len(j.lines), uint64(len(j.lines))
	return err
}

func (j *journal) Sum() (uint64, bool) { return j.last, true }

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// node is a store with running hosts.
type node struct {
	t     *testing.T
	store *store.Store
	hosts Hosts
	quiet bool // it was stopped
}

func start(t *testing.T, fs vfs.FS, o store.Options, machines map[uint32]Machine) *node {
	t.Helper()
	n := open(t, fs, o, machines)
	n.run()
	return n
}

// open is start without the hosts' goroutines.
func open(t *testing.T, fs vfs.FS, o store.Options, machines map[uint32]Machine) *node {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	st, err := store.Open(fs, "data", o)
	must(t, err)
	n := &node{t: t, store: st}
	n.hosts = New(&Env{
		Log: st, Store: st, Sync: o.Sync, Logger: o.Logger, Stop: make(chan struct{}), Await: func() {}, Relieve: func() {}, Deadly: func() {},
	}, machines)
	for _, h := range n.hosts {
		must(t, h.Recover())
	}
	t.Cleanup(func() { n.stop(false) })
	return n
}

func (n *node) run() {
	for _, h := range n.hosts {
		go h.Run()
	}
}

// stop ends the node, optionally with checkpoints.
func (n *node) stop(checkpoints bool) {
	if n.quiet {
		return
	}
	n.quiet = true
	for _, h := range n.hosts {
		h.Close()
		if checkpoints {
			h.Settle()
			must(n.t, h.WriteCheckpoint())
		}
	}
	n.store.Close() //nolint:errcheck // some tests break it
	for _, h := range n.hosts {
		h.End()
	}
}

// Entries survive a restart, from the log and from a checkpoint, and their numbers continue.
func TestRestart(t *testing.T) {
	fs := vfs.NewMem()
	var want []string
	for i, checkpoint := range []bool{false, true, false, false} {
		j := &journal{}
		n := start(t, fs, store.Options{}, map[uint32]Machine{Keys: j})
		if got := j.all(); !slices.Equal(got, want) {
			t.Fatalf("start %d: %q, want %q", i, got, want)
		}
		if want := []int{0, 0, 2, 2}[i]; j.restored != want { // the second stop wrote a checkpoint
			t.Errorf("start %d: %d lines are of a checkpoint, want %d", i, j.restored, want)
		}
		entry := fmt.Sprint("entry ", i)
		index, err := n.hosts.Of(Keys).Record([]byte(entry))
		must(t, err)
		if index != uint64(i+1) {
			t.Errorf("index %d of entry %d", index, i+1)
		}
		want = append(want, entry)
		n.stop(checkpoint)
	}
}

// Many concurrent records share writes and syncs, are applied in order, and each caller is notified
// once and in order.
func TestRecordAll(t *testing.T) {
	const count, together = 6000, 3
	j := &journal{}
	n := start(t, vfs.NewMem(), store.Options{}, map[uint32]Machine{Keys: j})
	before := n.store.Stats().Syncs
	var told []uint64 // done comes in order, one at a time
	var wait sync.WaitGroup
	wait.Add(count)
	for first := 0; first < count; first += together {
		var group [][]byte
		for i := range together {
			group = append(group, fmt.Append(nil, "e/", first+i))
		}
		n.hosts.Of(Keys).RecordAll(group, first%2 == 0, func(i int, index uint64, err error) {
			if err != nil || j.last != index || index != uint64(first+i+1) {
				t.Errorf("entry %d (%d, %d) is told when %d was applied: %v", index, first, i, j.last, err)
			}
			told = append(told, index)
			wait.Done()
		})
	}
	wait.Wait()
	if syncs := n.store.Stats().Syncs - before; syncs > count/4 {
		t.Errorf("%d syncs for %d entries", syncs, count)
	}
	if len(told) != count || !slices.IsSorted(told) {
		t.Errorf("%d told, in order %v", len(told), slices.IsSorted(told))
	}
	for i, got := range j.all() {
		if want := fmt.Sprint("e/", i); got != want {
			t.Fatalf("entry %d is %s", i, got)
		}
	}
}

// Callers from many goroutines get their own index, and every entry is applied once.
func TestRecordTogether(t *testing.T) {
	const callers, each = 8, 200
	j := &journal{}
	n := start(t, vfs.NewMem(), store.Options{}, map[uint32]Machine{Keys: j})
	var wait sync.WaitGroup
	indexes := make([][]uint64, callers)
	for i := range callers {
		wait.Go(func() {
			for k := range each {
				index, err := n.hosts.Of(Keys).Record([]byte(fmt.Sprint("c", i, "/", k)))
				if err != nil {
					t.Error(err)
				}
				indexes[i] = append(indexes[i], index)
			}
		})
	}
	wait.Wait()
	order := j.all()
	for i, mine := range indexes {
		for k, index := range mine {
			if got, want := order[index-1], fmt.Sprint("c", i, "/", k); got != want {
				t.Fatalf("entry %d is %s, want %s", index, got, want)
			}
		}
	}
}

// Record waits as the sync mode of the log requires.
func TestRecordSync(t *testing.T) {
	const delay = 7 * time.Millisecond
	for _, tc := range []struct {
		mode   store.SyncMode
		took   time.Duration
		synced bool
	}{{store.SyncAlways, 0, true}, {store.SyncBatch, delay, true}, {store.SyncOS, 0, false}} {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, vfs.NewMem(), store.Options{Sync: tc.mode, BatchDelay: delay, LazySync: time.Second}, map[uint32]Machine{Keys: &journal{}})
			must(t, n.store.SyncNow())
			syncs, begun := n.store.Stats().Syncs, time.Now()
			_, err := n.hosts.Of(Keys).Record([]byte("x"))
			must(t, err)
			if took := time.Since(begun); took != tc.took {
				t.Errorf("mode %d: %v, want %v", tc.mode, took, tc.took)
			}
			if synced := n.store.Stats().Syncs > syncs; synced != tc.synced {
				t.Errorf("mode %d: synced %v", tc.mode, synced)
			}
			n.stop(false)
		})
	}
}

// A group is recorded for all its machines, each with its own indexes. If one of them is closed, it
// is recorded for none.
func TestGroups(t *testing.T) {
	a, b := &journal{}, &journal{}
	n := start(t, vfs.NewMem(), store.Options{}, map[uint32]Machine{Keys: a, Semaphores: b})
	group := func(texts ...string) (all []*Entry) {
		for i, text := range texts {
			e, err := n.hosts.Of(Keys + uint32(i%2)).NewEntry([]byte(text))
			must(t, err)
			all = append(all, e)
		}
		return all
	}
	first := group("a1", "b1", "a2")
	must(t, n.hosts.Record(first))
	if first[0].Index() != 1 || first[1].Index() != 1 || first[2].Index() != 2 {
		t.Errorf("indexes %d, %d, %d", first[0].Index(), first[1].Index(), first[2].Index())
	}
	must(t, n.hosts.Record(group("a3")))
	if hosts := n.hosts.With(group("a4")); len(hosts) != 1 || hosts[0].Shard() != Keys {
		t.Errorf("%d hosts of an entry of one", len(hosts))
	}
	n.hosts.Of(Semaphores).Close()
	if err := n.hosts.Record(group("a5", "b5")); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("with one that is closed: %v", err)
	}
	must(t, n.hosts.Record(group("a6")))
	if got := a.all(); !slices.Equal(got, []string{"a1", "a2", "a3", "a6"}) || !slices.Equal(b.all(), []string{"b1"}) {
		t.Errorf("%q and %q", got, b.all())
	}
}

func TestErrors(t *testing.T) {
	fs := vfs.NewErrors(vfs.NewMem())
	n := start(t, fs, store.Options{}, map[uint32]Machine{Keys: &journal{}})
	h := n.hosts.Of(Keys)
	if _, err := n.hosts.Of(Semaphores).Record([]byte("x")); !errors.Is(err, ErrUnknown) {
		t.Errorf("no such machine: %v", err)
	}
	if _, err := h.Record(make([]byte, MaxEntryBytes+1)); !errors.Is(err, failure.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	fs.FailSync(errors.New("input/output error"))
	if _, err := h.Record([]byte("x")); !errors.Is(err, failure.ErrLogFailed) {
		t.Errorf("the log has failed: %v", err)
	}
	h.Close()
	if _, err := h.Record([]byte("x")); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	var told error
	h.RecordAll([][]byte{[]byte("x")}, false, func(_ int, _ uint64, err error) { told = err })
	if !errors.Is(told, failure.ErrClosed) {
		t.Errorf("closed, told %v", told)
	}
}

// A caller that applies its entries itself does not wake the goroutine of the machine.
func TestInlineWakesNothing(t *testing.T) {
	n := open(t, vfs.NewMem(), store.Options{}, map[uint32]Machine{Keys: &journal{}})
	h := n.hosts.Of(Keys)
	if _, err := h.Record([]byte("x")); err != nil {
		t.Error(err)
	}
	h.RecordAll([][]byte{[]byte("y"), []byte("z")}, true, func(int, uint64, error) {})
	if len(h.turn.wake) != 0 || h.turn.out.Load() != 0 {
		t.Errorf("%d wake-ups, %d entries on their way", len(h.turn.wake), h.turn.out.Load())
	}
	n.run()
}

// A caller that records inline while nothing else is in flight has all answers when the call
// returns. An entry that is too large does not prevent the others of its group.
func TestRecordAllInline(t *testing.T) {
	j := &journal{}
	n := start(t, vfs.NewMem(), store.Options{}, map[uint32]Machine{Keys: j})
	var told []string
	n.hosts.Of(Keys).RecordAll([][]byte{[]byte("a"), make([]byte, MaxEntryBytes+1), []byte("b")}, true, func(i int, index uint64, err error) {
		told = append(told, fmt.Sprint(i, " ", index, " ", errors.Is(err, failure.ErrTooLarge)))
	})
	if want := []string{"1 0 true", "0 1 false", "2 2 false"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if got := j.all(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("applied %v", got)
	}
}

func TestNames(t *testing.T) {
	for shard, want := range map[uint32]string{Keys: "keys", Semaphores: "semaphores", 0: "shard 0", 7: "shard 7"} {
		if got := ShardName(shard); got != want || Known(shard) != (shard >= Keys) {
			t.Errorf("%d is %q, known %v", shard, got, Known(shard))
		}
	}
}
