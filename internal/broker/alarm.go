package broker

import (
	"context"
	"math"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/broker/backpressure"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Alarm is the reason why publishers are blocked. There is at most one at a time.
type Alarm struct {
	Reason string // LowOnMemory or LowOnDisk
	// Nodes are the nodes of the cluster that are low on disk, if those make the alarm.
	Nodes   []string
	Cleared <-chan struct{}
	clear   chan struct{}
}

// Reasons of alarms.
const (
	LowOnMemory = backpressure.LowOnMemory
	LowOnDisk   = backpressure.LowOnDisk
)

// Alarm returns the alarm in force, or nil. Its channel Cleared is closed when the alarm ends.
func (b *Broker) Alarm() *Alarm { return b.alarm.Load() }

// AwaitNoAlarm returns nil once there is no alarm. Errors: that of ctx if it is done first,
// ErrClosed if the broker is about to close.
func (b *Broker) AwaitNoAlarm(ctx context.Context) error {
	for {
		a := b.Alarm()
		if a == nil {
			return nil
		}
		select {
		case <-a.Cleared:
		case <-ctx.Done():
			return ctx.Err()
		case <-b.hurry:
			return failure.ErrClosed
		}
	}
}

// WatchDisks makes the watchdog raise the alarm LowOnDisk also while short returns nodes: those
// that are low on disk, if the cluster cannot do without them.
func (b *Broker) WatchDisks(short func() []string) { b.disks.Store(&short) }

// lowNodes returns the nodes for which publishers must be blocked.
func (b *Broker) lowNodes() []string {
	if short := b.disks.Load(); short != nil {
		return (*short)()
	}
	return nil
}

// The watchdog checks memory and disk every watchRound, or every calmRound while both are far from
// their limits.
const (
	watchRound = 250 * time.Millisecond
	calmRound  = time.Second
)

// watch runs the watchdog until the broker closes.
func (b *Broker) watch() {
	defer b.housekeeper.Done()
	round := time.NewTimer(watchRound)
	defer round.Stop()
	short := backpressure.Shortage{MemoryLimit: b.opts.MemoryLimit, DiskFreeLimit: uint64(max(b.opts.DiskFreeLimit, 0))}
	for {
		select {
		case <-b.stop:
			b.setAlarm("", nil)
			return
		case <-round.C:
		}
		if b.set.Memory.Load() > b.opts.MemoryLimit/2 {
			for _, sh := range b.set.All {
				sh.Post(sh.Relieve)
			}
		}
		free, err := b.fs.Free(b.dir)
		if err != nil {
			free = math.MaxUint64 // an unknown amount of free space raises no alarm
		}
		memory := b.set.Memory.Load()
		nodes := b.lowNodes()
		b.setAlarm(short.Look(memory, free, len(nodes) > 0 || b.set.Log.State().Health == store.NoSpace), nodes)
		if err == nil && short.Far(memory, free) {
			round.Reset(calmRound)
		} else {
			round.Reset(watchRound)
		}
	}
}

// figures returns the numbers for the log line of an alarm.
func (b *Broker) figures(reason string, nodes []string) []any {
	if reason == LowOnMemory {
		return []any{"reason", reason, "memory", b.set.Memory.Load(), "memory_limit", b.opts.MemoryLimit}
	}
	free, _ := b.fs.Free(b.dir) //nolint:errcheck // then it is 0
	all := []any{"reason", reason, "dir", b.dir, "disk_free", free, "disk_free_limit", max(b.opts.DiskFreeLimit, 0)}
	if len(nodes) > 0 {
		all = append(all, "nodes", nodes)
	}
	if log := b.set.Log.State(); log.Health == store.NoSpace {
		all = append(all, "err", log.Err)
	}
	return all
}

func (b *Broker) setAlarm(reason string, nodes []string) {
	have := b.alarm.Load()
	switch {
	case have == nil && reason == "", have != nil && have.Reason == reason && slices.Equal(have.Nodes, nodes):
		return
	case have != nil && have.Reason == reason:
		b.alarm.Store(&Alarm{Reason: reason, Nodes: nodes, Cleared: have.Cleared, clear: have.clear})
		b.log.Warn("alarm: publishers stay blocked; other nodes are low on disk than before", b.figures(reason, nodes)...)
		return
	case have != nil:
		b.alarm.Store(nil)
		b.set.Alarmed.Store(false)
		close(have.clear)
		b.log.Info("alarm over: publishers resumed", b.figures(have.Reason, nil)...)
	}
	if reason != "" {
		ch := make(chan struct{})
		b.alarm.Store(&Alarm{Reason: reason, Nodes: nodes, Cleared: ch, clear: ch})
		b.set.Alarmed.Store(true)
		b.set.Flow.Relieve()
		b.log.Warn("alarm: publishers are blocked, consumers continue", b.figures(reason, nodes)...)
	}
}
