package store

import (
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// RaftSnapshot is a snapshot of a replica as of one entry: a node that installs it knows what a
// restart of this node would find if its log ended with that entry.
type RaftSnapshot struct {
	Snapshot
	ID    EntryID // the last entry
	First EntryID // as in RaftState
}

// Snapshot is Store.Snapshot for a replica. Once the checkpoints are open it calls at for the entry
// that the snapshot is to end with. That entry must be written and must not precede one committed
// by then, so that no checkpoint is ahead of the log. Compact does not go beyond it until Snapshot
// returns. Snapshot returns the errors of at and of the files.
func (r *RaftLog) Snapshot(at func() (uint64, error)) (*RaftSnapshot, error) {
	s := r.s
	s.housekeeping.Lock() // as in Store.Snapshot
	defer s.housekeeping.Unlock()
	sn := &RaftSnapshot{}
	err := r.openAt(sn, at)
	if err != nil {
		sn.Close()
		return nil, err
	}
	return sn, nil
}

func (r *RaftLog) openAt(sn *RaftSnapshot, at func() (uint64, error)) error {
	if err := r.s.openCheckpoints(&sn.Snapshot); err != nil {
		return err
	}
	index, err := at()
	if err != nil {
		return err
	}
	term, err := r.Term(index)
	if err != nil {
		return err
	}
	parts, err := r.segmentsUpTo(index)
	if err != nil {
		return err
	}
	sn.ID, sn.First = EntryID{index, term}, r.State().First
	return sn.openAll(r.s, parts)
}

// segmentsUpTo returns the segments without the entries after index, which may be cut meanwhile.
func (r *RaftLog) segmentsUpTo(index uint64) ([]SnapshotFile, error) {
	for {
		c := r.cursor(index+1, false)
		_, _, err := c.next()
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNotWritten) {
			return nil, err
		}
		if parts, ok := r.partsBefore(c); ok {
			return parts, nil
		}
	}
}

// partsBefore returns the segments before the entry that c has read, or all of them if there is no
// such entry yet. It returns false if what c found has become stale.
func (r *RaftLog) partsBefore(c *raftCursor) (parts []SnapshotFile, ok bool) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	parts = s.segmentFiles()
	if c.img == nil {
		return parts, s.shard(wal.RaftShard).written < c.index
	}
	end := slices.IndexFunc(s.segments, func(seg *segment) bool { return seg.img == c.img })
	if end < 0 {
		return nil, false
	}
	if c.at > wal.SegmentHeaderSize {
		parts[end].Size, parts[end].sealed = c.at, false
		end++
	}
	return parts[:end], true
}
