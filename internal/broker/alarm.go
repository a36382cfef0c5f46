package broker

import (
	"time"

	"fiveways.dev/fiveways/internal/storage/store"
)

// Alarm is the reason why publishers are blocked. There is at most one at a time.
type Alarm struct {
	Reason  string // LowOnMemory or LowOnDisk
	Cleared <-chan struct{}
	clear   chan struct{}
}

// Reasons of alarms.
const (
	LowOnMemory = "low on memory"
	LowOnDisk   = "low on disk"
)

// Alarm returns the alarm in force, nil when there is none. Its Cleared is closed when it is over.
func (b *Broker) Alarm() *Alarm { return b.alarm.Load() }

// watchRound is the time between two looks of the watchdog at memory and disk.
const watchRound = 250 * time.Millisecond

// watch runs the watchdog until the broker closes.
func (b *Broker) watch() {
	defer b.housekeeper.Done()
	round := time.NewTicker(watchRound)
	defer round.Stop()
	for {
		select {
		case <-b.stop:
			b.setAlarm(shortage{})
			return
		case <-round.C:
		}
		if b.set.Memory.Load() > b.opts.MemoryLimit/2 {
			for _, sh := range b.set.All {
				sh.Post(sh.Relieve)
			}
		}
		b.setAlarm(b.shortage())
	}
}

// shortage is the reason for an alarm, with figures for the log.
type shortage struct {
	reason  string // LowOnMemory, LowOnDisk or, when nothing is short, ""
	figures []any
}

func (b *Broker) shortage() shortage {
	if s, short := b.shortOfDisk(); short {
		return s
	}
	if used, limit := b.set.Memory.Load(), b.opts.MemoryLimit; used > limit {
		return shortage{LowOnMemory, []any{"memory", used, "memory_limit", limit}}
	}
	return shortage{}
}

func (b *Broker) shortOfDisk() (s shortage, short bool) {
	free, err := b.fs.Free(b.dir)
	limit := b.opts.DiskFreeLimit
	s = shortage{LowOnDisk, []any{"dir", b.dir, "disk_free", free, "disk_free_limit", max(limit, 0)}}
	if log := b.set.Log.State(); log.Health == store.NoSpace {
		s.figures = append(s.figures, "err", log.Err)
		return s, true
	}
	return s, limit > 0 && err == nil && free < uint64(limit)
}

func (b *Broker) setAlarm(s shortage) {
	have := b.alarm.Load()
	switch {
	case have == nil && s.reason == "", have != nil && have.Reason == s.reason:
		return
	case have != nil:
		b.alarm.Store(nil)
		b.set.Alarmed.Store(false)
		close(have.clear)
		b.log.Info("alarm over: publishers resumed", "reason", have.Reason)
	}
	if s.reason != "" {
		ch := make(chan struct{})
		b.alarm.Store(&Alarm{Reason: s.reason, Cleared: ch, clear: ch})
		b.set.Alarmed.Store(true)
		b.set.Flow.Relieve()
		b.log.Warn("alarm: publishers are blocked, consumers continue", append([]any{"reason", s.reason}, s.figures...)...)
	}
}
