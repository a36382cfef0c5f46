package store

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"
)

// SyncMode says what a promise waits for where nothing else is asked.
type SyncMode uint8

const (
	SyncAlways SyncMode = iota // after an fsync that starts at once
	SyncBatch                  // after an fsync that is put off by up to BatchDelay, so that more entries share it
	SyncOS                     // after the write; it is synced behind that within a second or so
)

const (
	maxSegmentBytes = 2 << 30

	// maxGroupBytes keeps offsets within 32 bits in a segment that is almost full.
	maxGroupBytes = 1<<30 + 1<<20
)

// Options configure a store. The zero value is the default.
type Options struct {
	SegmentBytes int64         // size at which a segment is sealed; 64 MiB; 4 KiB to 2 GiB
	Sync         SyncMode      // SyncAlways
	BatchDelay   time.Duration // longest delay of an fsync in SyncBatch; 5 ms
	LazySync     time.Duration // longest delay of the fsync of entries without a wait; 10 ms; not in SyncOS
	Scratch      bool          // nothing survives: files of an earlier run are removed, no fsync, no checkpoints
	Logger       *slog.Logger  // slog.Default()
}

// Wait is what an entry waits for in this mode.
func (m SyncMode) Wait() Wait {
	return [...]Wait{SyncAlways: WaitSync, SyncBatch: WaitBatch, SyncOS: WaitNot}[m]
}

func (o *Options) fill() error {
	o.SegmentBytes = cmp.Or(o.SegmentBytes, 64<<20)
	o.BatchDelay = cmp.Or(o.BatchDelay, 5*time.Millisecond)
	o.LazySync = cmp.Or(o.LazySync, 10*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	switch {
	case o.SegmentBytes < 4<<10 || o.SegmentBytes > maxSegmentBytes:
		return fmt.Errorf("store: SegmentBytes %d: must be between 4 KiB and 2 GiB", o.SegmentBytes)
	case o.BatchDelay < 0:
		return fmt.Errorf("store: BatchDelay %s: must not be negative", o.BatchDelay)
	case o.LazySync < 0:
		return fmt.Errorf("store: LazySync %s: must not be negative", o.LazySync)
	case o.Sync > SyncOS:
		return fmt.Errorf("store: Sync %d: unknown mode", o.Sync)
	}
	return nil
}
