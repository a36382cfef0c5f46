package replica

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/replica/timely"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// texts is a machine that stores what it is given.
type texts struct {
	mu    sync.Mutex
	log   *Log
	next  uint64 // index of shard 1
	seen  []string
	lost  int
	store *store.Store
	slow  chan func() // if not nil, receives what Lose must call after restoring
}

func (m *texts) Apply(e store.RaftEntry, own bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range e.Batch {
		if !own && b.Index == m.next {
			m.next++
		}
		m.seen = append(m.seen, string(b.Data[2:]))
	}
}

func (m *texts) Sum(uint32, [2]uint64) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.seen)), true
}

func (m *texts) Lead(log *Log) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = log
}

func (m *texts) Lose(restored func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log, m.lost, m.next = nil, m.lost+1, m.store.Last(1)+1
	if m.slow != nil {
		m.slow <- restored
		return
	}
	restored()
}

func (m *texts) leading() *Log {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log
}

// put appends a text and returns a channel for the outcome.
func (m *texts) put(text string) chan error {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := make(chan error, 1)
	data := append([]byte{byte(len(text) + 1), 1}, text...)
	m.log.Append([]store.Entry{{Shard: 1, Index: m.next, Data: data}}, func(err error) { done <- err })
	m.next++
	return done
}

// disks is a file system that can be full or slow, and whose log syncs block while it is held.
type disks struct {
	*vfs.Errors
	mu   sync.Mutex
	held chan struct{} // nil: not held
	slow time.Duration // how long a sync takes
	tiny bool          // there is room for small files, but not for the log
}

type heldFile struct {
	vfs.File
	fs  *disks
	log bool
}

func (d *disks) hold() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := make(chan struct{})
	d.held = held
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held = nil
		close(held)
	}
}

func (d *disks) Create(path string) (vfs.File, error) {
	_, log := wal.ParseSegmentName(filepath.Base(path))
	f, err := d.Errors.Create(path)
	return heldFile{f, d, log}, err
}

func (f heldFile) WriteAt(p []byte, at int64) (int, error) {
	f.fs.mu.Lock()
	full := f.fs.tiny && f.log
	f.fs.mu.Unlock()
	if full {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(p, at)
}

func (f heldFile) Datasync() error {
	f.fs.mu.Lock()
	held, slow := f.fs.held, f.fs.slow
	f.fs.mu.Unlock()
	if held != nil {
		<-held
	}
	<-time.After(slow)
	return f.File.Datasync()
}

// teamKeep is how much of the log is kept for a slow node.
const teamKeep = 40 << 10

// team is a cluster in one process, for use in a bubble of synctest.
type team struct {
	t        *testing.T
	machines []*texts
	replicas []*Replica
	stores   []*store.Store
	disks    []*disks
	mu       sync.Mutex
	cut      map[uint64]bool           // isolated nodes
	budget   int                       // how many more messages are delivered; < 0: no limit
	others   map[int]map[uint64]string // the members reported to each node
}

func newTeam(t *testing.T, size int) *team {
	states := make([]store.RaftState, size)
	for id := range states {
		states[id] = FoundingWith(1, uint64(id+1), testAddresses(size))
	}
	return newTeamOf(t, states)
}

func newTeamOf(t *testing.T, states []store.RaftState) *team {
	tm := &team{t: t, cut: map[uint64]bool{}, budget: -1, others: map[int]map[uint64]string{}}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, state := range states {
		fs := &disks{Errors: vfs.NewErrors(vfs.NewMem())}
		tm.disks = append(tm.disks, fs)
		if err := store.FoundReplica(fs, "/data", state); err != nil {
			t.Fatal(err)
		}
		st, err := store.Open(fs, "/data", store.Options{SegmentBytes: 4 << 10, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		m := &texts{next: 1, store: st}
		tm.stores, tm.machines = append(tm.stores, st), append(tm.machines, m)
	}
	for i, m := range tm.machines {
		r, err := Start(tm.options(i, tm.stores[i], m))
		if err != nil {
			t.Fatal(err)
		}
		tm.mu.Lock()
		tm.replicas = append(tm.replicas, r)
		tm.mu.Unlock()
	}
	t.Cleanup(func() {
		for i, r := range tm.replicas {
			r.Close()
			tm.stores[i].Close()
		}
	})
	return tm
}

func (tm *team) options(node int, st *store.Store, m Machine) Options {
	return Options{
		Store: st, Machine: m, Send: tm.sender(uint64(node + 1)), Dial: tm.dialer(node), KeepLog: teamKeep,
		Members: func(addresses map[uint64]string, _ uint64) {
			tm.mu.Lock()
			defer tm.mu.Unlock()
			tm.others[node] = addresses
		},
		Logger: slog.New(slog.DiscardHandler),
	}
}

// told returns the members that were reported to a node.
func (tm *team) told(node int) map[uint64]string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.others[node]
}

// knows checks that nodes know these members and the highest id.
func (tm *team) knows(addresses map[uint64]string, highest uint64, nodes ...int) {
	tm.t.Helper()
	for _, node := range nodes {
		others := maps.Clone(addresses)
		delete(others, uint64(node+1))
		st, told := tm.replicas[node].Status(), tm.told(node)
		if !maps.Equal(st.Addresses, addresses) || st.Highest != highest || !maps.Equal(told, others) {
			tm.t.Fatalf("node %d knows %v, the highest %d, and was told of %v; want %v and %d", node+1, st.Addresses, st.Highest, told, addresses, highest)
		}
	}
}

func (tm *team) sender(from uint64) func([]*pb.Message) {
	return func(ms []*pb.Message) {
		tm.mu.Lock()
		cut := tm.cut[from]
		tm.mu.Unlock()
		for _, m := range ms {
			tm.mu.Lock()
			replicas := tm.replicas
			lost := cut || tm.cut[m.GetTo()] || int(m.GetTo()) > len(replicas) || replicas[m.GetTo()-1] == nil
			if !lost && tm.budget >= 0 {
				lost = tm.budget == 0
				tm.budget = max(0, tm.budget-1)
			}
			tm.mu.Unlock()
			if !lost {
				replicas[m.GetTo()-1].Step(m)
			}
		}
	}
}

func (tm *team) isolate(node int, on bool) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.cut[uint64(node+1)] = on
}

// limit sets how many more messages are delivered; < 0 means no limit.
func (tm *team) limit(messages int) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.budget = messages
}

// pass lets time pass in the bubble.
func (tm *team) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// leader waits until a node other than the given one leads.
func (tm *team) leader(other int) int {
	tm.t.Helper()
	for range 100 {
		tm.pass(TickInterval)
		for i, m := range tm.machines {
			if log := m.leading(); i != other && log != nil && log.Leads() {
				return i
			}
		}
	}
	tm.t.Fatal("there is no leader")
	return 0
}

func bubble(t *testing.T, size int, fn func(t *testing.T, tm *team)) {
	synctest.Test(t, func(t *testing.T) { fn(t, newTeam(t, size)) })
}

func TestReplicas(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		first := tm.leader(-1)
		m := tm.machines[first]
		for _, text := range []string{"one", "two", "three"} {
			if err := <-m.put(text); err != nil {
				t.Fatal(err)
			}
		}
		passed := make(chan error, 2)
		m.leading().Barrier([]uint32{1}, store.WaitSync, func(err error) { passed <- err })
		m.leading().ReadIndex(func(err error) { passed <- err })
		if err := errors.Join(<-passed, <-passed); err != nil {
			t.Fatal(err)
		}
		tm.pass(TickInterval)
		if n := tm.replicas[first].Status().Counts; n.Leaderships != 1 || n.Commits != 3 {
			t.Fatalf("%+v", n)
		}
		log := m.leading()
		if n := log.Pending(); n != 0 {
			t.Fatalf("%d bytes pending", n)
		}
		var told []store.State
		log.Watch(func(st store.State) { told = append(told, st) })
		tm.isolate(first, true)
		lost := m.put("nobody hears of it")
		tm.pass(leaseFor)
		if log.Leads() {
			t.Fatal("a leader without answers has a lease")
		}
		second := tm.leader(first)
		if err := <-lost; !errors.Is(err, store.ErrLost) {
			t.Fatal(err)
		}
		if st := log.State(); st.Health != store.Failed || !errors.Is(st.Err, store.ErrLost) || len(told) != 1 {
			t.Fatalf("the log of a leadership that is over: %v, %d changes", st, len(told))
		}
		if err := <-tm.machines[second].put("four"); err != nil {
			t.Fatal(err)
		}
		late := make(chan error, 1)
		log.Append([]store.Entry{{Shard: 1, Index: 9, Data: []byte("\x02\x01x")}}, func(err error) { late <- err })
		if err := <-late; !errors.Is(err, ErrNotLeader) {
			t.Fatalf("append after the leadership: %v", err)
		}
		tm.isolate(first, false)
		tm.pass(3 * time.Second)
		for i, m := range tm.machines {
			if want := []string{"one", "two", "three", "four"}; !slices.Equal(m.seen, want) {
				t.Fatalf("node %d has %q, want %q", i+1, m.seen, want)
			}
		}
		if m.lost != 1 {
			t.Fatalf("the first leader was told %d times that its leadership is over", m.lost)
		}
	})
}

// TestSlowRestore checks that no entry of the next leader reaches the store while a machine
// restores, since the machine's uncommitted work is ahead of the log. Meanwhile the node answers
// the new leader.
func TestSlowRestore(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		first := tm.leader(-1)
		m, st := tm.machines[first], tm.stores[first]
		m.slow = make(chan func(), 1)
		if err := <-m.put("one"); err != nil {
			t.Fatal(err)
		}
		tm.isolate(first, true)
		lost := m.put("is cut")
		synctest.Wait() // it is in the log
		written := make(chan error, 1)
		go func() { written <- checkpoint(st, 2) }()
		second := tm.leader(first)
		for _, open := range []chan error{lost, written} {
			if err := <-open; !errors.Is(err, store.ErrLost) {
				t.Fatal(err)
			}
		}
		restored := <-m.slow
		for _, text := range []string{"two", "three"} {
			if err := <-tm.machines[second].put(text); err != nil {
				t.Fatal(err)
			}
		}
		tm.isolate(first, false)
		tm.pass(3 * time.Second)
		for index := uint64(2); index <= 3; index++ { // one truncated, one never appended
			if err := checkpoint(st, index); err == nil {
				t.Errorf("a checkpoint of entry %d of another leader says what the machine had", index)
			}
		}
		third := 3 - first - second
		tm.isolate(third, true)
		tm.pass(5 * time.Second)
		if log := tm.machines[second].leading(); log == nil || !log.Leads() {
			t.Error("the leader does not hear of a node whose machine restores")
		}
		four := tm.machines[second].put("four")
		tm.pass(time.Second)
		if len(four) != 0 {
			t.Fatalf("an entry is acknowledged that is not in the log: %v", <-four)
		}
		restored()
		if err := <-four; err != nil {
			t.Fatal(err)
		}
		tm.isolate(third, false)
		tm.pass(3 * time.Second)
		for i, m := range tm.machines {
			if want := []string{"one", "two", "three", "four"}; !slices.Equal(m.seen, want) {
				t.Errorf("node %d has %q, want %q", i+1, m.seen, want)
			}
		}
	})
}

// checkpoint writes a checkpoint of shard 1.
func checkpoint(st *store.Store, index uint64) error {
	return st.WriteCheckpoint(1, index, func(w io.Writer) error {
		_, err := io.WriteString(w, "ahead of the log")
		return err
	})
}

func TestTransfer(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		first := tm.leader(-1)
		to := (first + 1) % 3
		tm.replicas[first].Transfer(uint64(to + 1))
		start := time.Now()
		if got := tm.leader(first); got != to {
			t.Fatalf("node %d leads, want %d", got+1, to+1)
		}
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Fatalf("it took %v", took)
		}
		st := tm.replicas[to].Status()
		if st.Leader != uint64(to+1) || len(st.Voters) != 3 || len(st.Match) != 3 {
			t.Fatalf("status %+v", st)
		}
	})
}

// start starts the replica of a node from its store.
func (tm *team) start(node int) {
	tm.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(tm.disks[node], "/data", store.Options{SegmentBytes: 4 << 10, Logger: quiet})
	if err != nil {
		tm.t.Fatal(err)
	}
	m := &texts{next: st.Last(1) + 1, store: st}
	err = st.Replay(1, 0, func(_ uint64, _ uint32, fact []byte) error {
		m.seen = append(m.seen, string(fact[1:]))
		return nil
	})
	if err != nil {
		tm.t.Fatal(err)
	}
	r, err := Start(tm.options(node, st, m))
	if err != nil {
		tm.t.Fatal(err)
	}
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.stores[node], tm.machines[node], tm.replicas[node] = st, m, r
}

// dialer returns a function that connects a node to the Receive of another node.
func (tm *team) dialer(from int) func(context.Context, uint64) (net.Conn, error) {
	return func(_ context.Context, node uint64) (net.Conn, error) {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		if tm.cut[node] || tm.cut[uint64(from+1)] || tm.replicas[node-1] == nil {
			return nil, errors.New("no way")
		}
		here, there := net.Pipe()
		go tm.replicas[node-1].Receive(uint64(from+1), there)
		return here, nil
	}
}

// TestJoin checks that an empty node that joins gets a snapshot, the rest of the log, and a vote,
// and that another node can be removed.
func TestJoin(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, r := tm.machines[leader], tm.replicas[leader]
		if err := remove(r, 1); !errors.Is(err, ErrTooFew) {
			t.Fatal(err)
		}
		if err := add(tm.replicas[(leader+1)%3], 4, testAddress(4)); !errors.Is(err, ErrNotLeader) {
			t.Fatal(err)
		}
		for _, text := range []string{"one", "two", "three"} {
			if err := <-m.put(text); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			if err := <-m.put(strings.Repeat("x", 100)); err != nil {
				t.Fatal(err)
			}
		}
		tm.pass(2 * time.Second)
		if first := tm.stores[leader].Raft().First(); first < 50 {
			t.Fatalf("the log begins with entry %d", first)
		}
		for _, err := range []error{add(r, 4, testAddress(4)), add(r, 5, testAddress(5)), remove(r, 5)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		fs := &disks{Errors: vfs.NewErrors(vfs.NewMem())}
		if err := store.FoundReplica(fs, "/data", Joining(1, 4, testAddresses(3))); err != nil {
			t.Fatal(err)
		}
		tm.mu.Lock()
		tm.disks, tm.stores, tm.machines = append(tm.disks, fs), append(tm.stores, nil), append(tm.machines, nil)
		tm.replicas = append(slices.Clone(tm.replicas), nil)
		tm.mu.Unlock()
		tm.start(3)
		if told := tm.told(3); !maps.Equal(told, testAddresses(3)) {
			t.Fatalf("a node that has not joined is told of %v", told)
		}
		joined := tm.replicas[3]
		<-joined.Done()
		if err := joined.Err(); !errors.Is(err, ErrInstalled) {
			t.Fatal(err)
		}
		if err := errors.Join(<-m.put("four"), tm.stores[3].Close()); err != nil {
			t.Fatal(err)
		}
		tm.start(3)
		tm.pass(2 * time.Second)
		if st := r.Status(); !slices.Equal(st.Voters, []uint64{1, 2, 3, 4}) {
			t.Fatalf("status %+v", st)
		}
		if n := r.Status().Counts; n.SnapshotsSent != 1 || n.SnapshotsFailed != 0 {
			t.Fatalf("%+v", n)
		}
		if got := tm.machines[3].seen; !slices.Equal(got, m.seen) || len(got) != 104 {
			t.Fatalf("the node that has joined has %q, the leader %q", got, m.seen)
		}
		tm.knows(testAddresses(4), 5, 0, 1, 2, 3)
		leaves := (leader + 1) % 3
		if err := remove(r, uint64(leaves+1)); err != nil {
			t.Fatal(err)
		}
		tm.pass(2 * TickInterval)
		if st := r.Status(); len(st.Voters) != 3 {
			t.Fatalf("status %+v", st)
		}
		left := testAddresses(4)
		delete(left, uint64(leaves+1))
		tm.knows(left, 5, leader, 3)
		if err := add(r, uint64(leaves+1), testAddress(leaves+1)); !errors.Is(err, ErrUsed) {
			t.Fatal(err)
		}
	})
}

// TestJoinUnderLoad checks that a node that has got a snapshot needs no other one, however much is
// written before it has opened it and caught up. Only then the log becomes short again.
func TestJoinUnderLoad(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, r := tm.machines[leader], tm.replicas[leader]
		log := tm.stores[leader].Raft()
		put := func(entries int) {
			t.Helper()
			for range entries {
				if err := <-m.put(strings.Repeat("x", 100)); err != nil {
					t.Fatal(err)
				}
			}
			tm.pass(3 * time.Second)
		}
		put(100)
		behind := (leader + 1) % 3
		tm.isolate(behind, true)
		put(2 * teamKeep / 200)
		tm.isolate(behind, false)
		returned := tm.replicas[behind]
		<-returned.Done()
		if err := returned.Err(); !errors.Is(err, ErrInstalled) {
			t.Fatal(err)
		}
		const more = 4 * teamKeep / 200
		put(more)
		if kept := log.Last().Index + 1 - log.First(); kept < more {
			t.Fatalf("%d entries are kept for a node that lacks %d", kept, more)
		}
		if err := tm.stores[behind].Close(); err != nil {
			t.Fatal(err)
		}
		tm.start(behind)
		tm.pass(5 * time.Second)
		if n := r.Status().Counts; n.SnapshotsSent != 1 || n.SnapshotsFailed != 0 {
			t.Fatalf("%+v", n)
		}
		if got := tm.machines[behind].seen; !slices.Equal(got, m.seen) {
			t.Fatalf("the node that has returned has %d entries, the leader %d", len(got), len(m.seen))
		}
		put(100)
		if kept := log.Last().Index + 1 - log.First(); kept*200 > teamKeep {
			t.Fatalf("%d entries are kept after the node has caught up", kept)
		}
	})
}

// TestKeepLog checks that the log is kept for a slow follower, up to a bound, and not for a
// follower that is down.
func TestKeepLog(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, behind := tm.machines[leader], (leader+1)%3
		log := tm.stores[leader].Raft()
		// put writes some segments, and returns how many of their entries are kept.
		put := func(entries int) uint64 {
			t.Helper()
			for range entries {
				if err := <-m.put(strings.Repeat("x", 100)); err != nil {
					t.Fatal(err)
				}
			}
			tm.pass(3 * time.Second)
			return log.Last().Index + 1 - log.First()
		}
		const segment = 20 // entries, at least
		if kept := put(100); kept > 2*segment {
			t.Fatalf("%d entries are kept for nothing", kept)
		}
		release := tm.disks[behind].hold()
		defer func() { release() }()
		if kept := put(100); kept < 100 {
			t.Fatalf("%d entries are kept for a node that lacks 100", kept)
		}
		if kept := put(300); kept*200 > teamKeep { // beyond the bound: it needs a snapshot
			t.Fatalf("%d entries are kept for a node that lacks 400", kept)
		}
		release()
		release = func() {}
		tm.isolate(behind, true)
		tm.pass(holdTicks * TickInterval) // it has got a snapshot
		if kept := put(100); kept > 2*segment {
			t.Fatalf("%d entries are kept for a node that is down", kept)
		}
		for i, st := range tm.stores {
			if first := st.Raft().First(); i != behind && first != log.First() {
				t.Fatalf("the log of node %d begins with %d, that of the leader with %d", i+1, first, log.First())
			}
		}
	})
}

// TestReceiveGarbage checks that an invalid or truncated snapshot stream has no effect.
func TestReceiveGarbage(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		for name, sent := range map[string][]byte{
			"nothing":  nil,
			"garbage":  []byte("GET / HTTP/1.0\r\n\r\n"),
			"too long": {0xff, 0xff, 0xff, 0xff},
			"empty":    {0, 0, 0, 0},
			"cut off":  {200, 0, 0, 0, 1, 2},
		} {
			here, there := net.Pipe()
			result := make(chan error, 1)
			go func() { result <- tm.replicas[0].Receive(2, there) }()
			go io.Copy(io.Discard, here) //nolint:errcheck // discards the answer
			here.Write(sent)             //nolint:errcheck // it may be refused before it is read completely
			here.Close()
			if err := <-result; err == nil || errors.Is(err, ErrInstalled) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if err := <-tm.machines[0].put("goes on"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReceiveAnother checks that receiving a snapshot does not wait for an earlier one whose sender
// hangs.
func TestReceiveAnother(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		begun := time.Now()
		first, second := make(chan error, 1), make(chan error, 1)
		for _, result := range []chan error{first, second} {
			here, there := net.Pipe()
			defer here.Close()
			go func() { result <- tm.replicas[0].Receive(2, there) }()
			synctest.Wait()
		}
		if err := <-first; !errors.Is(err, io.ErrClosedPipe) || time.Since(begun) >= chunkPatience {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := <-second; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the second one: %v", err)
		}
	})
}

// TestCheck checks that a node whose state differs stops with an error, and that the other nodes
// continue.
func TestCheck(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, other := tm.machines[leader], (leader+1)%3
		put := func(checked uint64) {
			t.Helper()
			if err := <-m.put("text"); err != nil {
				t.Fatal(err)
			}
			m.leading().Check(1, [2]uint64{}, checked)
			tm.pass(time.Second)
		}
		put(1)
		put(2)
		tm.machines[other].mu.Lock()
		tm.machines[other].seen = nil
		tm.machines[other].mu.Unlock()
		put(3)
		<-tm.replicas[other].Done()
		if err := tm.replicas[other].Err(); !errors.Is(err, ErrDiverged) {
			t.Fatal(err)
		}
		put(4)
	})
}

// TestGroupTooLarge checks that a leader stops if its machine has applied a group that the log
// cannot take, before the next group gets into the log, and that the others go on.
func TestGroupTooLarge(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		at := tm.leader(-1)
		log := tm.machines[at].log
		first, second := make(chan error, 1), make(chan error, 1)
		log.Append([]store.Entry{{Shard: 1, Index: 1, Data: make([]byte, MaxGroupBytes+1)}}, func(err error) { first <- err })
		log.Append([]store.Entry{{Shard: 1, Index: 2, Data: []byte("next")}}, func(err error) { second <- err })
		if one, two := <-first, <-second; !errors.Is(one, store.ErrLost) || two == nil {
			t.Fatal(one, two)
		}
		<-tm.replicas[at].Done()
		if err := tm.replicas[at].Err(); !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		if err := <-tm.machines[tm.leader(at)].put("goes on"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSharedEntries checks that proposals share an entry while others are open, unless they fill
// one.
func TestSharedEntries(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		m := tm.machines[0]
		last := func() uint64 {
			tm.pass(TickInterval)
			return tm.replicas[0].Status().Last
		}
		before := last()
		release := tm.disks[0].hold()
		var puts []chan error
		for range 20 {
			puts = append(puts, m.put("small"))
			synctest.Wait()
		}
		if n := last() - before; n != fewOpen {
			t.Errorf("20 small proposals are %d entries while the disk hangs, want %d", n, fewOpen)
		}
		for range 3 {
			m.leading().Check(1, [2]uint64{}, 0)
		}
		if n := last() - before; n != fewOpen {
			t.Errorf("behind small proposals, those of the replica itself do not wait")
		}
		puts = append(puts, m.put(strings.Repeat("x", roundBytes)))
		if n := last() - before; n < fewOpen+2 {
			t.Errorf("a large proposal waits")
		}
		release()
		for _, put := range puts {
			if err := <-put; err != nil {
				t.Fatal(err)
			}
		}
		if n := last() - before; n != fewOpen+2+3 {
			t.Errorf("all proposals are %d entries, want %d", n, fewOpen+2+3)
		}
	})
}

// TestClose checks that a stopped replica answers all pending and later operations.
func TestClose(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		m, r := tm.machines[0], tm.replicas[0]
		log := m.leading()
		if err := <-m.put("alone"); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if !errors.Is(r.Err(), ErrStopped) || log.Leads() {
			t.Fatalf("after Close: %v, leads %t", r.Err(), log.Leads())
		}
		done := make(chan error, 3)
		log.Append([]store.Entry{{Shard: 1, Index: 2, Data: []byte("\x02\x01x")}}, func(err error) { done <- err })
		r.Add(2, testAddress(2), func(err error) { done <- err })
		for range 2 {
			if err := <-done; !errors.Is(err, ErrStopped) {
				t.Fatal(err)
			}
		}
		r.Close()
	})
}

// TestFailedDisk checks that a disk failure stops the replica with an error.
func TestFailedDisk(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		m := tm.machines[0]
		tm.stores[0].Close()
		lost := m.put("too late")
		<-tm.replicas[0].Done()
		if err := <-lost; !errors.Is(err, store.ErrLost) {
			t.Fatal(err)
		}
		if err := tm.replicas[0].Err(); !errors.Is(err, store.ErrClosed) || m.lost != 1 {
			t.Fatalf("%v; told %d times", err, m.lost)
		}
	})
}

// TestLeaderWithABadDisk checks that a leader whose disk is full or hangs steps down and catches up
// later.
func TestLeaderWithABadDisk(t *testing.T) {
	for name, spoil := range map[string]func(*disks) (mend func()){
		"full":  func(d *disks) func() { d.SetFull(true); return func() { d.SetFull(false) } },
		"stuck": (*disks).hold,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, tm *team) {
				first := tm.leader(-1)
				if err := <-tm.machines[first].put("before"); err != nil {
					t.Fatal(err)
				}
				mend := spoil(tm.disks[first])
				if err := <-tm.machines[first].put("the others have it"); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				second := tm.leader(first)
				if took := time.Since(start); took > 5*time.Second {
					t.Fatalf("another leads after %v", took)
				}
				if err := <-tm.machines[second].put("after"); err != nil {
					t.Fatal(err)
				}
				mend()
				tm.pass(3 * time.Second)
				for i, m := range tm.machines {
					if want := []string{"before", "the others have it", "after"}; !slices.Equal(m.seen, want) {
						t.Fatalf("node %d has %q, want %q", i+1, m.seen, want)
					}
				}
			})
		})
	}
}

// TestLateInMailbox checks that a node does not follow an order to stand for election that has
// waited too long, because the leader may have a lease again.
func TestLateInMailbox(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		r := tm.replicas[(leader+1)%3]
		order := func(waits time.Duration) uint64 {
			t.Helper()
			tm.pass(2 * TickInterval)
			free := make(chan struct{})
			r.later(func(*core) { <-free })
			synctest.Wait()
			term := r.Status().Term
			r.Step(&pb.Message{Type: pb.MsgTimeoutNow.Enum(), From: new(uint64(leader + 1)), To: new(r.self), Term: new(term)})
			<-time.After(waits)
			close(free)
			tm.pass(5 * TickInterval)
			return r.Status().Term - term
		}
		if order(timely.Waiting+TickInterval) != 0 {
			t.Error("a late order is followed")
		}
		if order(0) == 0 {
			t.Error("an order is not followed")
		}
	})
}
