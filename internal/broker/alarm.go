package broker

import (
	"time"

	"fiveways/internal/storage/store"
)

// Alarm says why publishers are held back. There is at most one at a time.
type Alarm struct {
	Reason  string // "low on memory" or "low on disk"
	Cleared <-chan struct{}
	clear   chan struct{}
}

// The reasons of alarms.
const (
	LowOnMemory = "low on memory"
	LowOnDisk   = "low on disk"
)

// Alarm returns the alarm in force, nil when there is none.
func (b *Broker) Alarm() *Alarm { return b.alarm.Load() }

// watchRound is how often the watchdog looks at memory and disk.
const watchRound = 250 * time.Millisecond

// watch is the watchdog for memory and disk.
func (b *Broker) watch() {
	defer b.housekeeper.Done()
	round := time.NewTicker(watchRound)
	defer round.Stop()
	for {
		select {
		case <-b.stop:
			b.setAlarm("")
			return
		case <-round.C:
		}
		if b.memory.Load() > b.opts.MemoryLimit/2 {
			for _, sh := range b.shards {
				sh.post(sh.relieve)
			}
		}
		b.setAlarm(b.trouble())
	}
}

// trouble names what is short, "" when nothing is.
func (b *Broker) trouble() string {
	if b.store.State().Health == store.NoSpace {
		return LowOnDisk
	}
	if limit := b.opts.DiskFreeLimit; limit > 0 {
		if free, err := b.fs.Free(b.dir); err == nil && free < uint64(limit) {
			return LowOnDisk
		}
	}
	if b.memory.Load() > b.opts.MemoryLimit {
		return LowOnMemory
	}
	return ""
}

func (b *Broker) setAlarm(reason string) {
	have := b.alarm.Load()
	switch {
	case have == nil && reason == "", have != nil && have.Reason == reason:
		return
	case have != nil:
		b.alarm.Store(nil)
		close(have.clear)
		b.log.Info("alarm over: publishers go on", "reason", have.Reason)
	}
	if reason != "" {
		ch := make(chan struct{})
		b.alarm.Store(&Alarm{Reason: reason, Cleared: ch, clear: ch})
		b.flow.relieve()
		b.log.Warn("alarm: publishers are held back, consumers go on", "reason", reason,
			"memory", b.memory.Load(), "memory_limit", b.opts.MemoryLimit, "log", b.store.State())
	}
}
