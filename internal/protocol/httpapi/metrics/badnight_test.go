package metrics

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// weakDisk is a disk that the test can make slow or full.
type weakDisk struct {
	*vfs.Mem
	free atomic.Uint64 // bytes
	slow atomic.Int64  // duration of a sync or a write in ns
}

func (d *weakDisk) Free(string) (uint64, error) { return d.free.Load(), nil }

func (d *weakDisk) Create(path string) (vfs.File, error) {
	f, err := d.Mem.Create(path)
	return weakFile{f, d}, err
}

func (d *weakDisk) OpenReadWrite(path string) (vfs.File, error) {
	f, err := d.Mem.OpenReadWrite(path)
	return weakFile{f, d}, err
}

// pause waits, by the clock of the synctest bubble.
func (d *weakDisk) pause() { <-time.After(time.Duration(d.slow.Load())) }

type weakFile struct {
	vfs.File
	d *weakDisk
}

func (f weakFile) Datasync() error {
	f.d.pause()
	return f.File.Datasync()
}

func (f weakFile) WriteAt(p []byte, offset int64) (int, error) {
	f.d.pause()
	return f.File.WriteAt(p, offset)
}

// value returns the value of a metric without labels, or with the labels in name.
func value(t *testing.T, n *node, name string) float64 {
	t.Helper()
	for line := range strings.Lines(scrape(t, n, "/metrics")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// night is a node whose disk, publisher or consumer misbehaves.
type night struct {
	*node
	disk *weakDisk
}

// look lets time pass and takes a sample.
func (n *night) look(after time.Duration) {
	<-time.After(after) // by the clock of the bubble
	synctest.Wait()
	n.m.Sample()
}

// take gets messages without settling them.
func (n *night) take(t *testing.T, messages int) (ds []shard.Delivery) {
	t.Helper()
	for range messages {
		d, _, ok, err := n.s.Get("q0", false)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		ds = append(ds, d)
	}
	return ds
}

// Each failure is visible in the metrics that the documentation and the alerts name.
func TestBadNight(t *testing.T) {
	const rich, poor = 1 << 40, 1 << 10
	for name, act := range map[string]func(t *testing.T, n *night){
		"the disk is full": func(t *testing.T, n *night) {
			const alarm, limit = `fiveways_alarm{resource="disk"}`, "rabbitmq_disk_space_available_limit_bytes"
			if v := value(t, n.node, alarm); v != 0 {
				t.Errorf("an alarm before: %v", v)
			}
			n.disk.free.Store(poor)
			n.look(time.Second)
			if v := value(t, n.node, alarm); v != 1 {
				t.Errorf("no alarm: %v", v)
			}
			if free := value(t, n.node, "rabbitmq_disk_space_available_bytes"); free >= value(t, n.node, limit) {
				t.Errorf("%v bytes are free", free)
			}
			n.disk.free.Store(rich)
			n.look(time.Second)
			if v := value(t, n.node, alarm); v != 0 {
				t.Errorf("the alarm is not over: %v", v)
			}
		},
		"the disk is slow": func(t *testing.T, n *night) {
			before, count := value(t, n.node, "fiveways_fsync_duration_seconds_sum"), value(t, n.node, "fiveways_fsync_duration_seconds_count")
			n.disk.slow.Store(int64(time.Second))
			for range 3 {
				push(t, n.s, "durable")
			}
			n.look(time.Minute)
			took := value(t, n.node, "fiveways_fsync_duration_seconds_sum") - before
			if syncs := value(t, n.node, "fiveways_fsync_duration_seconds_count") - count; syncs == 0 || took/syncs < 0.9 {
				t.Errorf("%v fsyncs took %v s", syncs, took)
			}
			n.disk.slow.Store(0)
		},
		"memory is short": func(t *testing.T, n *night) {
			const alarm = `fiveways_alarm{resource="memory"}`
			n.disk.slow.Store(int64(time.Minute)) // bodies cannot be dropped from memory before the log is written
			done := make(chan struct{})
			go func() {
				defer close(done)
				publish(t, n.s, "durable", 200, message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2})
			}()
			n.look(time.Second)
			if v := value(t, n.node, alarm); v != 1 {
				t.Errorf("no alarm: %v, %v of %v bytes", v, value(t, n.node, "fiveways_message_memory_bytes"), value(t, n.node, "fiveways_message_memory_limit_bytes"))
			}
			n.disk.slow.Store(0)
			<-done
			n.look(2 * time.Minute)
			if v := value(t, n.node, alarm); v != 0 {
				t.Errorf("the alarm is not over: %v", v)
			}
		},
		"consumers are stuck": func(t *testing.T, n *night) {
			n.take(t, 1)
			acked := value(t, n.node, "fiveways_messages_acked_total")
			n.look(time.Hour)
			if unacked, now := value(t, n.node, "rabbitmq_queue_messages_unacked"), value(t, n.node, "fiveways_messages_acked_total"); unacked != 1 || now != acked {
				t.Errorf("%v unacknowledged, %v acknowledged", unacked, now)
			}
		},
		"nobody consumes": func(t *testing.T, n *night) {
			n.look(time.Hour)
			if age := value(t, n.node, "fiveways_queue_oldest_message_age_seconds"); age < 3500 || age > 3700 {
				t.Errorf("the oldest message waits for %v s", age)
			}
		},
		"a message goes round": func(t *testing.T, n *night) {
			for range 20 {
				for _, d := range n.take(t, 1) {
					n.s.Requeue(d.Queue, nil, d.Handle, 1)
				}
				n.s.Flush()
			}
			n.look(time.Second)
			again, all := value(t, n.node, "fiveways_messages_redelivered_total"), value(t, n.node, "fiveways_messages_delivered_total")
			if again != 19 || all != 20 || value(t, n.node, "fiveways_messages_returned_total") != 20 {
				t.Errorf("%v of %v deliveries were not the first", again, all)
			}
		},
		"a binding is missing": func(t *testing.T, n *night) {
			publish(t, n.s, "nowhere", 1, message.Properties{})
			n.look(time.Second)
			if lost := value(t, n.node, "fiveways_messages_unroutable_total"); lost != 1 {
				t.Errorf("%v messages went nowhere", lost)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := &weakDisk{Mem: vfs.NewMem()}
				disk.free.Store(rich)
				n := &night{openOn(t, disk, 1, func(o *broker.Options) { o.DiskFreeLimit, o.MemoryLimit = 1<<20, 1<<18 }), disk}
				resttest.Declare(t, n.s, "durable", func(q *catalog.QueueSpec) { q.Durable = true })
				act(t, n)
			})
		})
	}
}
