package replica

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAllDisksFull checks that a leader that nobody can replace has its lease most of the time.
func TestAllDisksFull(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m := tm.machines[leader]
		for _, d := range tm.disks {
			d.SetFull(true)
		}
		waits := m.put("waits for room")
		tm.pass(time.Minute)
		leads := 0
		const ticks = 600
		for range ticks {
			tm.pass(TickInterval)
			if log := m.leading(); log != nil && log.Leads() {
				leads++
			}
		}
		if leads < ticks*9/10 {
			t.Errorf("the leader had its lease at %d of %d ticks", leads, ticks)
		}
		for _, d := range tm.disks {
			d.SetFull(false)
		}
		if err := <-waits; err != nil {
			t.Fatal(err)
		}
	})
}

// fallBehind makes a follower need a snapshot.
func (tm *team) fallBehind(leader int) (behind int) {
	tm.t.Helper()
	behind = (leader + 1) % len(tm.replicas)
	tm.isolate(behind, true)
	for range 2 * teamKeep / 200 {
		if err := <-tm.machines[leader].put(strings.Repeat("x", 100)); err != nil {
			tm.t.Fatal(err)
		}
	}
	tm.pass(3 * time.Second)
	return behind
}

// TestFailingSnapshots checks that snapshots that fail are not repeated all the time, and that the
// node gets one once it can.
func TestFailingSnapshots(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		behind := tm.fallBehind(leader)
		o := &tm.replicas[leader].o
		var attempts atomic.Int64
		dial := o.Dial
		o.Dial = func(ctx context.Context, node uint64) (net.Conn, error) {
			if attempts.Add(1) > 6 {
				return dial(ctx, node)
			}
			return nil, errors.New("refused")
		}
		tm.isolate(behind, false)
		tm.pass(30 * time.Second)
		if n := attempts.Load(); n < 4 || n > 6 {
			t.Errorf("%d attempts within half a minute", n)
		}
		tm.pass(time.Minute)
		if err := tm.replicas[behind].Err(); !errors.Is(err, ErrInstalled) {
			t.Fatalf("the node has not got a snapshot: %v", err)
		}
	})
}

// TestSnapshotOfSlowLeader checks that a leader under load makes a snapshot although its disk is
// slower than those of the followers, whose entries are committed before it has written them.
func TestSnapshotOfSlowLeader(t *testing.T) {
	bubble(t, 5, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		behind := tm.fallBehind(leader)
		slow := tm.disks[leader]
		slow.mu.Lock()
		slow.slow = 20 * time.Millisecond
		slow.mu.Unlock()
		tm.isolate(behind, false)
		m := tm.machines[leader]
		var puts []chan error
		for range 2000 {
			puts = append(puts, m.put("more"))
			tm.pass(time.Millisecond)
		}
		if err := tm.replicas[behind].Err(); !errors.Is(err, ErrInstalled) {
			t.Errorf("the node has not got a snapshot: %v", err)
		}
		for _, done := range puts {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if err := tm.stores[behind].Close(); err != nil {
			t.Fatal(err)
		}
		tm.start(behind)
		tm.pass(10 * time.Second)
		if got := tm.machines[behind].seen; !slices.Equal(got, m.seen) {
			t.Fatalf("the node that has returned has %d entries, the leader %d", len(got), len(m.seen))
		}
	})
}

// TestCloseWithFullDisk checks that a node can be stopped whose log has to be cut while the disk is
// full.
func TestCloseWithFullDisk(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		first := tm.leader(-1)
		tm.isolate(first, true)
		lost := tm.machines[first].put("nobody else gets this")
		tm.pass(TickInterval)
		d := tm.disks[first]
		d.mu.Lock()
		d.tiny = true
		d.mu.Unlock()
		tm.machines[first].put("and it finds no room")
		second := tm.leader(first)
		if err := <-lost; err == nil {
			t.Fatal("committed without a majority")
		}
		tm.isolate(first, false)
		if err := <-tm.machines[second].put("of the next leader"); err != nil {
			t.Fatal(err)
		}
		tm.pass(3 * time.Second)
		tm.replicas[first].Close()
	})
}
