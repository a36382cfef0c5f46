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
			b.setAlarm(shortage{})
			return
		case <-round.C:
		}
		if b.memory.Load() > b.opts.MemoryLimit/2 {
			for _, sh := range b.shards {
				sh.post(sh.relieve)
			}
		}
		b.setAlarm(b.shortage())
	}
}

// shortage is what is short, and the figures that an operator looks for in the log.
type shortage struct {
	reason  string // one of the reasons of alarms; "": nothing is short
	figures []any
}

func (b *Broker) shortage() shortage {
	if s, short := b.shortOfDisk(); short {
		return s
	}
	if used, limit := b.memory.Load(), b.opts.MemoryLimit; used > limit {
		return shortage{LowOnMemory, []any{"memory", used, "memory_limit", limit}}
	}
	return shortage{}
}

func (b *Broker) shortOfDisk() (s shortage, short bool) {
	free, err := b.fs.Free(b.dir)
	limit := b.opts.DiskFreeLimit
	s = shortage{LowOnDisk, []any{"dir", b.dir, "disk_free", free, "disk_free_limit", max(limit, 0)}}
	if log := b.wal.State(); log.Health == store.NoSpace {
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
		close(have.clear)
		b.log.Info("alarm over: publishers resumed", "reason", have.Reason)
	}
	if s.reason != "" {
		ch := make(chan struct{})
		b.alarm.Store(&Alarm{Reason: s.reason, Cleared: ch, clear: ch})
		b.flow.relieve()
		b.log.Warn("alarm: publishers are held back, consumers go on", append([]any{"reason", s.reason}, s.figures...)...)
	}
}
