package broker

import (
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/backpressure"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// scarce is a file system whose free bytes a test sets.
type scarce struct {
	vfs.FS
	free  atomic.Uint64
	asked atomic.Int64
}

func (f *scarce) Free(string) (uint64, error) {
	f.asked.Add(1)
	return f.free.Load(), nil
}

// The watchdog looks more often when the disk is nearly full.
func TestWatchRounds(t *testing.T) {
	for free, want := range map[uint64]int64{1 << 40: 10, 1 << 33: 40, 999: 40} {
		synctest.Test(t, func(t *testing.T) {
			disk := &scarce{FS: vfs.NewMem()}
			disk.free.Store(free)
			b := openBroker(t, disk, func(o *Options) { o.DiskFreeLimit = 1000 })
			<-time.After(10*time.Second - watchRound/2)
			synctest.Wait()
			if got := disk.asked.Load(); got < want-1 || got > want+1 {
				t.Errorf("with %d bytes free it looked %d times in 10 s, want %d", free, got, want)
			}
			mustClose(t, b)
		})
	}
}

// Each alarm logs its reason with the numbers that an operator needs.
func TestAlarmsInTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		short  func(*scarce, *vfs.Errors, *Broker)
		enough func(*scarce, *vfs.Errors, *Broker)
		want   []string
	}{
		"space below the limit": {
			change: func(o *Options) { o.DiskFreeLimit = 1000 },
			short:  func(f *scarce, _ *vfs.Errors, _ *Broker) { f.free.Store(999) },
			enough: func(f *scarce, _ *vfs.Errors, _ *Broker) { f.free.Store(1100) },
			want:   []string{`reason="low on disk" dir=data disk_free=999 disk_free_limit=1000`},
		},
		"a full disk": {
			change: func(o *Options) { o.DiskFreeLimit = -1 },
			short: func(f *scarce, e *vfs.Errors, b *Broker) {
				f.free.Store(0)
				e.SetFull(true)
				go b.PutVHost(VHostSpec{Name: "new"}) //nolint:errcheck // it waits for room
			},
			enough: func(f *scarce, e *vfs.Errors, _ *Broker) { e.SetFull(false) },
			want: []string{
				`reason="low on disk" dir=data disk_free=0 disk_free_limit=0 err="store: data: `, "no space left on device",
				`level=WARN msg="store: the disk is full; writes wait until there is room"`, `level=INFO msg="store: the disk has room again; writes continue"`,
			},
		},
		"disks of other nodes": {
			short: func(_ *scarce, _ *vfs.Errors, b *Broker) {
				b.WatchDisks(func() []string { return []string{"n2", "n3"} })
			},
			enough: func(_ *scarce, _ *vfs.Errors, b *Broker) { b.WatchDisks(func() []string { return nil }) },
			want:   []string{`reason="low on disk" dir=data disk_free=1073741824 disk_free_limit=0 nodes="[n2 n3]"`},
		},
		"memory": {
			change: func(o *Options) { o.MemoryLimit = 1 << 20 },
			short:  func(_ *scarce, _ *vfs.Errors, b *Broker) { b.set.Memory.Add(2 << 20) },
			enough: func(_ *scarce, _ *vfs.Errors, b *Broker) { b.set.Memory.Add(-2 << 20) },
			want:   []string{`reason="low on memory" memory=2`, ` memory_limit=1048576`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logtest.Text
				errs := vfs.NewErrors(vfs.NewMem())
				disk := &scarce{FS: errs}
				disk.free.Store(1 << 30)
				b := openBroker(t, disk, func(o *Options) {
					o.Logger = slog.New(slog.NewTextHandler(&log, nil))
					if c.change != nil {
						c.change(o)
					}
				})
				c.short(disk, errs, b)
				<-time.After((backpressure.MemoryLooks + 1) * watchRound)
				synctest.Wait()
				if b.Alarm() == nil {
					t.Fatal("no alarm")
				}
				c.enough(disk, errs, b)
				time.Sleep(time.Minute)
				synctest.Wait()
				if b.Alarm() != nil {
					t.Error("the alarm is not over")
				}
				mustClose(t, b)
				for _, want := range append(c.want, `level=INFO msg="alarm over: publishers resumed"`) {
					if !strings.Contains(log.String(), want) {
						t.Errorf("the log lacks %s\n%s", want, &log)
					}
				}
				for _, never := range []string{"{", "<nil>", "err= "} {
					if strings.Contains(log.String(), never) {
						t.Errorf("the log has %q\n%s", never, &log)
					}
				}
			})
		})
	}
}

// TestAlarmForOtherNodes checks that publishers stay blocked when other nodes become low on disk.
func TestAlarmForOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		lowAre := func(names ...string) *Alarm {
			b.WatchDisks(func() []string { return names })
			<-time.After(2 * calmRound)
			synctest.Wait()
			return b.Alarm()
		}
		first, second := lowAre("n2"), lowAre("n3")
		if first == nil || second == nil || first.Cleared != second.Cleared || !slices.Equal(second.Nodes, []string{"n3"}) {
			t.Fatalf("%+v, then %+v", first, second)
		}
		select {
		case <-first.Cleared:
			t.Fatal("publishers were let through")
		default:
		}
		if lowAre() != nil {
			t.Fatal("the alarm is not over")
		}
		<-first.Cleared
	})
}
