package store

import (
	"errors"
	"slices"

	"fiveways/internal/storage/wal"
)

// RaftSnapshot is a snapshot of a replica as it is after one entry: what a node that this was
// installed on knows is what a restart of this one would find, if its log ended there.
type RaftSnapshot struct {
	Snapshot
	ID    EntryID // the last entry
	First EntryID // as in RaftState
}

// Snapshot is Store.Snapshot for a replica. Once the checkpoints are open, at names the entry that
// the snapshot ends with: it is written, and not before any that was committed at that moment, so
// that no checkpoint is ahead of the log. Compact does not go beyond that entry until Snapshot
// returns. Errors are those of at and of the files.
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

// segmentsUpTo are the segments without the entries behind index, which may be cut meanwhile.
func (r *RaftLog) segmentsUpTo(index uint64) ([]SnapshotFile, error) {
	s := r.s
	for {
		s.mu.Lock()
		parts, written := s.segmentFiles(), s.shard(wal.RaftShard).written
		s.mu.Unlock()
		if written <= index {
			return parts, nil
		}
		c := r.cursor(index+1, false)
		_, _, err := c.next()
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		end := slices.IndexFunc(parts, func(p SnapshotFile) bool { return p.Name == c.img.name })
		if end < 0 {
			continue // it was cut, and is in a new segment
		}
		if c.at > wal.SegmentHeaderSize {
			parts[end].Size = c.at
			end++
		}
		return parts[:end], nil
	}
}
