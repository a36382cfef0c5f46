package broker

import (
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The log does not grow with settled messages, even if only one shard is busy and the others log
// almost nothing.
func TestLogStaysSmallBesideQuietShards(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.SegmentBytes, o.CheckpointBytes = 16<<10, 32<<10 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("quiet", nil)
	c.queue("busy", nil)
	filler := strings.Repeat("x", 1000)
	most := int64(0)
	for i := range 2000 {
		c.put("", "busy", filler, nil)
		if i%10 == 0 {
			c.put("", "quiet", "tick", nil)
		}
		if i%20 == 0 {
			c.drain("busy")
			c.drain("quiet")
			syncAll(t, b)
			b.checkpointDue(false)
		}
		most = max(most, b.set.Store.Stats().Bytes)
	}
	if most > 512<<10 {
		t.Errorf("the log has grown to %d KiB", most>>10)
	}
}

// Nor does it grow with definitions that are created and deleted.
func TestLogStaysSmallBesideDefinitions(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.SegmentBytes, o.CheckpointBytes = 16<<10, 32<<10 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	most := int64(0)
	for i := range 1000 {
		c.queue("q", nil)
		if _, err := c.DeleteQueue("q", false, false); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			b.checkpointDue(false)
		}
		most = max(most, b.set.Store.Stats().Bytes)
	}
	if most > 256<<10 {
		t.Errorf("the log has grown to %d KiB", most>>10)
	}
}

// Nor across crashes, each of which happens before a checkpoint is due.
func TestLogStaysSmallOverCrashes(t *testing.T) {
	options := func(o *Options) { o.SegmentBytes, o.CheckpointBytes = 16<<10, 32<<10 }
	fs := vfs.NewMem()
	filler := strings.Repeat("x", 1000)
	for n := range uint64(20) {
		b := openBroker(t, fs, options)
		b.checkpointDue(false)
		if bytes := b.set.Store.Stats().Bytes; bytes > 256<<10 {
			t.Errorf("the log has grown to %d KiB", bytes>>10)
		}
		c := newClient(t, b)
		c.queue("q", nil)
		for range 20 {
			c.put("", "q", filler, nil)
		}
		c.drain("q")
		syncAll(t, b)
		crashed := fs.CrashClone(rand.New(rand.NewPCG(n, 1)))
		c.Close()
		mustClose(t, b)
		fs = crashed
	}
}
