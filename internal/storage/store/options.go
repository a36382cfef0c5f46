package store

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"
)

// SyncMode says what done waits for if an entry asks for nothing else.
type SyncMode uint8

const (
	SyncAlways SyncMode = iota // an fsync that starts at once
	SyncBatch                  // a delayed fsync, by up to BatchDelay, that more entries share
	SyncOS                     // the write; a background sync follows within about a second
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
	LazySync     time.Duration // the same for entries with WaitNot, except in SyncOS; 10 ms
	Scratch      bool          // nothing survives: Open removes old files, no fsync, no checkpoints
	Logger       *slog.Logger  // slog.Default()
}

// Wait returns what an entry waits for in this mode.
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
