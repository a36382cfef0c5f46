package semaphores

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// again rebuilds a manager from a checkpoint and the log after it.
func (n *node) again(image []byte, log [][]byte) *Manager {
	n.Helper()
	m := New(Options{})
	n.must(m.Restore(bytes.NewReader(image)))
	for _, entry := range log {
		m.Apply(0, entry)
	}
	n.must(m.broken)
	n.same("hash", hashOf(m), hashOf(n.m))
	n.sound(m)
	n.same("tasks", m.table.tasks, n.m.table.tasks)
	n.same("owners", len(m.table.owners), len(n.m.table.owners))
	return m
}

// A checkpoint may contain tasks that were added after the order changed, in a semaphore whose
// header was written before.
func TestCheckpointWhileTheOrderChanges(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.step = 7
	n.create("k", 1, 0)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("old", i))
		n.enqueue("k", names[i]+" 1")
	}
	var log [][]byte
	n.spy.heard = func(entry []byte) { log = append(log, bytes.Clone(entry)) }
	_, write := n.m.Freeze()
	var image bytes.Buffer
	first := true
	change := func() {
		if first {
			first = false
			up := true
			n.release("k", names...)
			n.do(&Update{Of: Of{Key: "k"}, Settings: Settings{Ascending: &up}})
			n.enqueue("k", "b 2", "a 1", "c 3")
		}
	}
	n.must(write(&changing{w: &image, change: change}))
	n.same("seen by the checkpoint", bytes.Contains(image.Bytes(), []byte("\x01c")), true)
	n.again(image.Bytes(), log)
	n.close()
}

// A checkpoint may begin while a log batch is in flight. That batch follows it in the log, and may
// have created semaphores that the checkpoint contains.
func TestCheckpointBesideAGroup(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	var log [][]byte
	var write func(io.Writer) error
	n.spy.heard = func(entry []byte) {
		if log = append(log, bytes.Clone(entry)); write == nil {
			_, write = n.m.Freeze() // the entry follows the checkpoint in the log
		}
	}
	n.must(n.m.Do(n.s, &Create{Of: Of{Key: "new"}}, &Enqueue{Of: Of{Key: "new"}, Entries: []Entry{{Task: "a", Owner: 4}}}))
	var image bytes.Buffer
	n.must(write(&image))
	n.enqueue("new", "b 2")
	n.again(image.Bytes(), log)
	n.close()
}

// A checkpoint may contain a deletion before the log replays what happened earlier: a task that
// ended and was added again.
func TestCheckpointAheadOfADeletion(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.Stop() // tasks of the deleted semaphore are removed with the next change
	n.create("k", 9, 0)
	n.do(&Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: "a", Owner: 7}}})
	var log [][]byte
	n.spy.heard = func(entry []byte) { log = append(log, bytes.Clone(entry)) }
	_, write := n.m.Freeze()
	n.must(n.m.EndOwners(7))
	n.enqueue("k", "a 1")
	n.must(n.m.DoWith(n.s, Group{Tx: n.s.NewTx()}, &Delete{Of: Of{Key: "k"}}))
	var image bytes.Buffer
	n.must(write(&image))
	n.same("tasks", n.again(image.Bytes(), log).table.tasks, 1)
	n.close()
}

// A deleted semaphore with tasks still to be removed is not found by its key after a replay from
// the log alone.
func TestReplayOfADeletion(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.Stop()
	image := n.m.image(t)
	var log [][]byte
	n.spy.heard = func(entry []byte) { log = append(log, bytes.Clone(entry)) }
	n.create("k", 1, 0)
	n.enqueue("k", "a 1", "b 1")
	n.must(n.m.DoWith(n.s, Group{Tx: n.s.NewTx()}, &Delete{Of: Of{Key: "k"}}))
	m := n.again(image, log)
	n.same("found", m.table.find(n.s.VHostID(), "k") != nil, false)
	n.same("tasks", m.table.tasks, 2)
	n.close()
}

// Rolling back a batch while a checkpoint is written does not affect the checkpoint.
func TestCheckpointBesideAGroupKeptOut(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.m.step = 2
	n.create("k", 1, 0)
	n.enqueue("k", "a 1", "b 1", "c 1", "d 1", "e 1")
	_, write := n.m.Freeze()
	var image bytes.Buffer
	n.must(write(&changing{w: &image, change: func() {
		never := &Expect{Of: Of{Key: "k"}, Holds: func(Info, bool, State) bool { return false }}
		n.fails(n.m.DoWith(n.s, Group{Must: true}, &Release{Of: Of{Key: "k"}, Tasks: []string{"a", "b"}}, never), failure.ErrStale)
	}}))
	n.again(image.Bytes(), nil)
	n.close()
}

// The ID of a semaphore is never reused, even when the log no longer mentions it.
func TestNumbersAreNotUsedAgain(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	n.create("l", 1, 0)
	was := n.info("l").ID
	n.do(&Delete{Of: Of{Key: "l"}})
	n.close() // with a checkpoint
	n = open(t, n.fs)
	n.create("l", 1, 0)
	n.same("number", n.info("l").ID, was+1)
	n.close()
}
