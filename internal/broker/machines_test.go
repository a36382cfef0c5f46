package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// tally is a toy state machine: it counts words and records all entries in order. Its fields are
// guarded by mu only because tests read them.
type tally struct {
	mu       sync.Mutex
	counts   map[string]uint64
	order    []string
	last     uint64
	restored int // entries in the checkpoint
	written  int // completed checkpoints

	writing chan struct{} // if not nil, each write of a checkpoint first receives from it
	broken  error         // error of a checkpoint's write
}

func newTally() *tally { return &tally{counts: map[string]uint64{}} }

func (a *tally) Apply(index uint64, entry []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if index <= a.last {
		panic(fmt.Sprintf("entry %d after entry %d", index, a.last))
	}
	a.last = index
	word, _, _ := strings.Cut(string(entry), "/")
	a.counts[word]++
	a.order = append(a.order, string(entry))
}

func (a *tally) Freeze() (int64, func(io.Writer) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := slices.Clone(a.order)
	last := a.last
	return int64(len(lines) * 8), func(w io.Writer) error {
		if a.writing != nil {
			<-a.writing
		}
		if a.broken != nil {
			return a.broken
		}
		if _, err := w.Write(binary.BigEndian.AppendUint64(nil, last)); err != nil {
			return err
		}
		_, err := io.WriteString(w, strings.Join(lines, "\n"))
		if err == nil {
			a.written++
		}
		return err
	}
}

func (a *tally) Restore(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil || len(data) < 8 {
		return errors.Join(err, errors.New("short"))
	}
	a.last = binary.BigEndian.Uint64(data)
	for _, line := range strings.Split(string(data[8:]), "\n") {
		word, _, _ := strings.Cut(line, "/")
		a.counts[word]++
		a.order = append(a.order, line)
	}
	a.restored = len(a.order)
	return nil
}

func (a *tally) Sum() (uint64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := fnv.New64a()
	for _, word := range slices.Sorted(maps.Keys(a.counts)) {
		fmt.Fprint(h, word, a.counts[word], "\n")
	}
	fmt.Fprint(h, a.last)
	return h.Sum64(), true
}

func (a *tally) entries() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.order)
}

// withMachine returns a change of a broker's options.
func withMachine(a statemachine.Machine, more ...func(*Options)) func(*Options) {
	return func(o *Options) {
		o.StateMachines = map[uint32]statemachine.Machine{statemachine.Keys: a}
		for _, change := range more {
			change(o)
		}
	}
}

func recordEntry(t *testing.T, b *Broker, entry string) uint64 {
	t.Helper()
	index, err := b.StateMachine(statemachine.Keys).Record([]byte(entry))
	must(t, err)
	return index
}

// An entry is applied when Record returns. It exists after a crash and after a clean stop, and the
// state then has the same hash.
func TestMachineRestart(t *testing.T) {
	mem := vfs.NewMem()
	a := newTally()
	b := openBroker(t, mem, withMachine(a))
	for i := range 20 {
		if got := recordEntry(t, b, fmt.Sprint("word", i%3, "/", i)); got != uint64(i+1) {
			t.Fatalf("entry %d has index %d", i, got)
		}
		if n := len(a.entries()); n != i+1 {
			t.Fatalf("%d applied after %d records", n, i+1)
		}
	}
	want, err := b.Hash()
	must(t, err)
	for _, clean := range []bool{false, true, false, true} {
		if clean {
			mustClose(t, b)
		} else {
			mem = mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
		}
		again := newTally()
		b = openBroker(t, mem, withMachine(again))
		if got, err := b.Hash(); err != nil || got != want {
			t.Fatalf("clean %v: hash %x, want %x, %v", clean, got, want, err)
		}
		if clean && again.restored != 20 {
			t.Fatalf("%d entries are from the checkpoint of a clean stop", again.restored)
		}
		sameStrings(t, again.entries(), a.entries()...)
	}
	mustClose(t, b)
}

// A broker without the machine keeps its entries in the log, and accepts none.
func TestMachineLeftAlone(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, withMachine(newTally(), smallLog))
	for i := range 50 {
		recordEntry(t, b, fmt.Sprint("a/", i, strings.Repeat("x", 300)))
	}
	mem = mem.CrashClone(rand.New(rand.NewPCG(1, 1)))

	b = openBroker(t, mem, smallLog)
	if _, err := b.StateMachine(statemachine.Keys).Record([]byte("x")); !errors.Is(err, statemachine.ErrUnknown) {
		t.Errorf("recorded: %v", err)
	}
	c := newClient(t, b)
	c.queue("q", nil)
	for i := range 50 {
		c.put("", "q", fmt.Sprint(i, strings.Repeat("y", 300)), nil)
	}
	b.checkpointDue(false)
	c.Close()
	mustClose(t, b)

	a := newTally()
	b = openBroker(t, mem, withMachine(a, smallLog))
	if got := len(a.entries()); got != 50 {
		t.Errorf("%d entries are left of 50", got)
	}
	mustClose(t, b)
}

func smallLog(o *Options) { o.SegmentBytes, o.CheckpointBytes = 4<<10, 1<<10 }

// A checkpoint is written when the log since the last one is larger than that and than a limit, and
// frees the log before it.
func TestMachineCheckpoints(t *testing.T) { synctest.Test(t, testMachineCheckpoints) } // no time passes, so that the broker looks after nothing itself

func testMachineCheckpoints(t *testing.T) {
	mem := vfs.NewMem()
	a := newTally()
	b := openBroker(t, mem, withMachine(a, smallLog))
	due := func() bool {
		before := a.written
		for range 2 { // the second one cleans
			b.checkpointDue(false)
			b.awaitMachines()
		}
		return a.written > before
	}
	fill := func(bytes int) {
		for n := 0; n < bytes; n += 200 {
			recordEntry(t, b, "w/"+strings.Repeat("x", 198))
		}
	}
	fill(1000)
	if due() {
		t.Error("a checkpoint after 1000 bytes of log, where 1024 is the least")
	}
	fill(9000)
	if !due() {
		t.Error("no checkpoint after 10000 bytes")
	}
	if n := b.set.Store.Stats().Segments; n > 2 {
		t.Errorf("%d segments are kept", n)
	}
	fill(4000) // the state is larger than that, and the total log has not grown much
	if due() {
		t.Error("a checkpoint of 10 KB after 4 KB of log")
	}
	fill(8000)
	if !due() {
		t.Error("no checkpoint after 12 KB more")
	}
	want := a.entries()
	mustClose(t, b)
	again := newTally()
	b = openBroker(t, mem, withMachine(again, smallLog))
	if again.restored < 100 {
		t.Errorf("%d entries are from the checkpoint", again.restored)
	}
	sameStrings(t, again.entries(), want...)
	mustClose(t, b)
}

// A failed checkpoint is retried even if the machine is idle afterwards: the queues' log grows, and
// must not be kept for it. An entry without bytes counts.
func TestMachineIdleAfterFailedCheckpoint(t *testing.T) {
	synctest.Test(t, testMachineIdleAfterFailedCheckpoint)
}

func testMachineIdleAfterFailedCheckpoint(t *testing.T) {
	a := newTally()
	b := openBroker(t, vfs.NewMem(), withMachine(a, smallLog))
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("q", nil)
	look := func() {
		b.checkpointDue(false)
		b.awaitMachines()
	}
	idle := func() {
		before := a.written
		for range 40 {
			c.put("", "q", strings.Repeat("y", 500), nil)
			c.drain("q")
			look()
		}
		if a.written != before+1 {
			t.Errorf("%d checkpoints while the machine is idle", a.written-before)
		}
	}
	recordEntry(t, b, strings.Repeat("x", 2000))
	a.broken = errors.New("input/output error")
	look()
	a.broken = nil
	idle()
	recordEntry(t, b, "")
	idle()
}

// While a checkpoint is being written entries are recorded and applied, and a stop does not wait
// for it.
func TestMachineCheckpointBesideRecords(t *testing.T) {
	synctest.Test(t, testMachineCheckpointBesideRecords)
} // no time passes, so that the broker looks after nothing itself

func testMachineCheckpointBesideRecords(t *testing.T) {
	mem := vfs.NewMem()
	a := newTally()
	a.writing = make(chan struct{})
	b := openBroker(t, mem, withMachine(a, smallLog))
	for i := range 20 {
		recordEntry(t, b, fmt.Sprint("w/", i, strings.Repeat("x", 100)))
	}
	b.checkpointDue(false)
	for i := range 20 {
		recordEntry(t, b, fmt.Sprint("v/", i))
	}
	b.checkpointDue(false) // no second one starts
	want := a.entries()
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	<-b.stop
	close(a.writing)
	must(t, <-closed)
	if a.written != 1 {
		t.Errorf("%d checkpoints were finished, want the last one alone", a.written)
	}
	again := newTally()
	b = openBroker(t, mem, withMachine(again, smallLog))
	if again.restored != 40 {
		t.Errorf("%d entries are in the last checkpoint, want 40", again.restored)
	}
	sameStrings(t, again.entries(), want...)
	mustClose(t, b)
}

// Errors of Record.
func TestRecordErrors(t *testing.T) {
	fs := vfs.NewErrors(vfs.NewMem())
	b := openBroker(t, fs, withMachine(newTally()))
	if _, err := b.StateMachine(statemachine.Keys).Record(make([]byte, statemachine.MaxEntryBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	recordEntry(t, b, "fine")
	fs.FailSync(errors.New("input/output error"))
	for range 2 {
		if _, err := b.StateMachine(statemachine.Keys).Record([]byte("x")); !errors.Is(err, ErrLogFailed) {
			t.Errorf("the log has failed: %v", err)
		}
	}
	if b.Close() == nil {
		t.Error("a clean end was reported")
	}
	if _, err := b.StateMachine(statemachine.Keys).Record([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	var told error
	b.StateMachine(statemachine.Keys).RecordAll([][]byte{[]byte("x")}, false, func(_ int, _ uint64, err error) { told = err })
	if !errors.Is(told, ErrClosed) {
		t.Errorf("closed, told %v", told)
	}
}

// A stop while the disk is full completes, and callers that wait learn that nothing was recorded.
func TestMachineCloseOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := fillingDisk{FS: vfs.NewMem(), hold: make(chan struct{}), gate: make(chan struct{})}
		b := openBroker(t, disk, withMachine(newTally()))
		recordEntry(t, b, "x")
		close(disk.hold)
		close(disk.gate)
		result := make(chan error, 1)
		b.StateMachine(statemachine.Keys).RecordAll([][]byte{[]byte("y")}, false, func(_ int, _ uint64, err error) { result <- err })
		time.Sleep(time.Second)
		b.Close()
		if err := <-result; !errors.Is(err, ErrLogFailed) {
			t.Errorf("told %v", err)
		}
	})
}
