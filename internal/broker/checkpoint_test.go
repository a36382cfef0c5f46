package broker

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Close may run during a rewrite of segments. Stopped shards cannot report which bodies are live,
// so all must be kept.
func TestRewriteDuringClose(t *testing.T) {
	fs := vfs.NewMem()
	small := func(o *Options) { o.SegmentBytes, o.Shards = 4096, 1 }
	b := openBroker(t, fs, small)
	c := newClient(t, b)
	c.queue("q", nil)
	filler := strings.Repeat("x", 500)
	for i := range 100 {
		c.put("", "q", fmt.Sprintf("%03d", i)+filler, nil)
	}
	c.consume("q", nil)
	var want []string
	for i, d := range c.take(100) {
		if i%10 == 0 {
			want = append(want, string(d.Env.Body()))
		} else {
			c.Ack(d.Queue, d.Consumer, d.Handle, 1)
		}
	}
	c.Flush()
	sh := b.set.All[0]
	var f *shard.Frozen
	must(t, sh.Call(func() { sh.Log().Propose(); f = sh.Freeze(false) }))
	must(t, f.State.Complete(sh.Call))
	must(t, b.writeCheckpoint(sh, f))
	must(t, b.journal.Checkpoint(b.set.Store))
	if len(b.set.Store.Sparse(maxLive)) == 0 {
		t.Fatal("there is nothing to rewrite")
	}
	sh.Stop()
	b.clean()
	mustClose(t, b)

	b = openBroker(t, fs, small)
	c = newClient(t, b)
	sameStrings(t, c.drain("q"), want...)
	c.Close()
	mustClose(t, b)
}

// withoutCheckpoints is a disk on which no checkpoint can be created while fail is set.
type withoutCheckpoints struct {
	vfs.FS
	fail *atomic.Bool
}

func (d withoutCheckpoints) Create(path string) (vfs.File, error) {
	if d.fail.Load() && strings.Contains(path, "ckpt") {
		return nil, syscall.EIO
	}
	return d.FS.Create(path)
}

// A checkpoint that failed is written later, also if nothing more is logged.
func TestCheckpointAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Bool
		fs := vfs.NewMem()
		b := openBroker(t, withoutCheckpoints{fs, &fail}, func(o *Options) { o.CheckpointBytes, o.Shards = 1000, 1 })
		c := newClient(t, b)
		c.queue("q", nil)
		c.Flush()
		<-time.After(2 * checkpointRound)
		shards := func() (n int) {
			names, err := fs.List("data")
			must(t, err)
			for _, name := range names {
				if strings.HasPrefix(name, "ckpt-00000001-") {
					n++
				}
			}
			return n
		}
		fail.Store(true)
		c.put("", "q", strings.Repeat("x", 2000), nil)
		c.Flush()
		<-time.After(2 * checkpointRound)
		if n := shards(); n != 0 {
			t.Fatalf("%d checkpoints on a disk that takes none", n)
		}
		fail.Store(false)
		<-time.After((failedRounds + 1) * checkpointRound)
		if n := shards(); n != 1 {
			t.Errorf("%d checkpoints, want 1", n)
		}
		c.Close()
		mustClose(t, b)
	})
}

// fillingDisk has no space for the log once hold is closed, but reports that only once gate is.
type fillingDisk struct {
	vfs.FS
	hold, gate chan struct{}
}

func (d fillingDisk) Create(path string) (vfs.File, error) {
	f, err := d.FS.Create(path)
	if err != nil || strings.Contains(path, "ckpt") || strings.HasPrefix(path, "data/scratch") {
		return f, err
	}
	return fillingFile{f, d}, nil
}

type fillingFile struct {
	vfs.File
	d fillingDisk
}

func (f fillingFile) WriteAt(p []byte, off int64) (int, error) {
	select {
	case <-f.d.hold:
		<-f.d.gate
		return 0, syscall.ENOSPC
	default:
		return f.File.WriteAt(p, off)
	}
}

// The disk fills up while Close waits for it: Close skips the checkpoints and returns.
func TestCloseWhileTheDiskFillsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		disk := fillingDisk{mem, make(chan struct{}), make(chan struct{})}
		b := openBroker(t, disk, nil)
		c := newClient(t, b)
		c.queue("q", nil)
		c.put("", "q", "confirmed", nil)
		close(disk.hold)
		seq := c.post("", "q", "on its way", nil)
		c.Flush()
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("closed without its log: %v", err)
		default:
		}
		close(disk.gate)
		select {
		case <-closed:
		case <-time.After(time.Hour):
			t.Fatal("Close hangs")
		}
		if c.acks[seq] != 0 {
			t.Error("confirmed without a place on disk")
		}
		b = openBroker(t, mem, nil)
		c = newClient(t, b)
		sameStrings(t, c.drain("q"), "confirmed")
		c.Close()
		mustClose(t, b)
	})
}
