package store

import (
	"time"

	"fiveways.dev/fiveways/internal/core/histogram"
)

// Stats is a reading of a store's counters.
type Stats struct {
	Segments  int
	Bytes     int64 // of all segment files
	Pending   int64 // bytes appended but not yet written
	Refs      int64 // references to bodies at the time of writing
	Live      int64 // references to bodies now
	Groups    uint64
	Syncs     uint64
	SyncLast  time.Duration
	SyncTotal time.Duration // mean latency is SyncTotal / Syncs, mean groups per sync is Groups / Syncs
	SyncMax   time.Duration
}

// counters are guarded by Store.mu.
type counters struct {
	groups                           uint64
	syncs                            uint64
	last, total, max                 time.Duration
	syncGroups                       histogram.Histogram // groups that an fsync made durable
	syncTimes, checkpoints, rewrites histogram.Histogram // ns
}

func (c *counters) synced(d time.Duration) {
	c.syncs++
	c.last = d
	c.total += d
	c.max = max(c.max, d)
	c.syncTimes.Observe(uint64(d), 1)
}

// Stats returns the counters since Open.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stats
	st := Stats{Segments: len(s.segments), Pending: s.bytes, Groups: c.groups, Syncs: c.syncs, SyncLast: c.last, SyncTotal: c.total, SyncMax: c.max}
	for _, seg := range s.segments {
		st.Bytes += seg.bytes
		st.Refs += seg.refs
		st.Live += seg.live
	}
	return st
}

// Histograms are the durations and sizes of a store's operations.
type Histograms struct {
	Sync       histogram.Snapshot // ns of an fsync of the log
	Group      histogram.Snapshot // groups that one fsync made durable
	Checkpoint histogram.Snapshot // ns of writing a checkpoint
	Rewrite    histogram.Snapshot // ns of rewriting a segment
}

// Histograms returns the current histograms.
func (s *Store) Histograms() Histograms {
	c := &s.stats
	return Histograms{Sync: c.syncTimes.Read(), Group: c.syncGroups.Read(), Checkpoint: c.checkpoints.Read(), Rewrite: c.rewrites.Read()}
}

// took adds to h the time since began. For use with defer.
func took(h *histogram.Histogram, began time.Time) { h.Observe(uint64(time.Since(began)), 1) }
