package store

import (
	"errors"
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

const tmpSuffix = vfs.TmpSuffix

// layout lists the files of a directory by kind, from their names.
type layout struct {
	segments    []uint64 // ascending
	checkpoints []checkpointFile
	tmp         []string
}

func readLayout(fs vfs.FS, dir string) (layout, error) {
	names, err := fs.List(dir)
	if err != nil {
		return layout{}, inFile(dir, err)
	}
	var l layout
	for _, name := range names { // sorted, and the numbers in the names have leading zeros
		if n, ok := wal.ParseSegmentName(name); ok {
			l.segments = append(l.segments, n)
		} else if c, ok := parseCheckpointName(name); ok {
			l.checkpoints = append(l.checkpoints, c)
		} else if strings.HasSuffix(name, tmpSuffix) {
			l.tmp = append(l.tmp, name)
		}
	}
	return l, nil
}

// names returns the names of the segments and checkpoints.
func (l *layout) names() (out []string) {
	for _, n := range l.segments {
		out = append(out, wal.SegmentName(n))
	}
	for _, c := range l.checkpoints {
		out = append(out, c.name())
	}
	return out
}

// recover reads the directory and returns the committer, positioned at the end of the log.
func (s *Store) recover() (*committer, error) {
	live, err := liveSlot(s.fs, s.root)
	if err != nil {
		return nil, err
	}
	s.dir = slotDir(s.root, live)
	l, err := readLayout(s.fs, s.dir)
	if err != nil {
		return nil, err
	}
	if s.opts.Scratch {
		if err := s.wipe(&l); err != nil {
			return nil, err
		}
	}
	active, err := s.readLog(&l)
	if err != nil {
		return nil, err
	}
	// Everything up to here was intact. From here on the directory is changed.
	for _, name := range l.tmp {
		if err := s.fs.Remove(s.path(name)); err != nil {
			return nil, inFile(name, err)
		}
	}
	c, err := s.resume(active)
	if err == nil {
		err = clearOthers(s.fs, s.root, live)
	}
	if err != nil && active != nil {
		active.Close()
	}
	return c, err
}

// readLog records the checkpoints and reads the index of every segment. It returns the file of the
// last segment if the committer continues in it. It changes nothing in the directory except that it
// cuts a torn end.
func (s *Store) readLog(l *layout) (active vfs.File, err error) {
	if err := s.beginRaft(); err != nil {
		return nil, err
	}
	for _, c := range l.checkpoints { // ascending by shard and index
		sh := s.shard(c.shard)
		sh.newest = c.index
		sh.last, sh.written, sh.durable = c.index, c.index, c.index
	}
	for i, number := range l.segments {
		if active, err = s.recoverSegment(l, number, i == len(l.segments)-1); err != nil {
			return nil, err
		}
	}
	if err := s.recoverRaft(); err != nil {
		if active != nil {
			active.Close()
		}
		return nil, err
	}
	return active, nil
}

// wipe removes what an earlier run left in a scratch directory.
func (s *Store) wipe(l *layout) error {
	for _, n := range l.segments {
		if err := s.fs.Remove(s.path(wal.SegmentName(n))); err != nil {
			return inFile(wal.SegmentName(n), err)
		}
	}
	l.segments = nil
	return nil
}

// recoverSegment reads the index of a segment. For the last one it returns the open file, unless
// the segment is sealed or the store is read-only.
func (s *Store) recoverSegment(l *layout, number uint64, last bool) (vfs.File, error) {
	name := wal.SegmentName(number)
	open := s.fs.Open
	if last && !s.readOnly {
		open = s.fs.OpenReadWrite
	}
	f, err := open(s.path(name))
	if err != nil {
		return nil, inFile(name, err)
	}
	keep, err := s.readSegment(l, f, number, last)
	if err != nil {
		f.Close()
		return nil, inFile(name, err)
	}
	if !keep {
		f.Close()
		return nil, nil
	}
	return f, nil
}

// readSegment adds the segment in f to the log, unless its predecessor was merged with it. keep
// reports whether the committer continues in f.
func (s *Store) readSegment(l *layout, f vfs.File, number uint64, last bool) (keep bool, err error) {
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	var t wal.Tail
	if last {
		t, err = wal.ScanTail(f, size, number)
		if errors.Is(err, wal.ErrNoHeader) {
			return false, nil // the name will be reused
		}
	} else {
		t, err = wal.ReadSealed(f, size, number)
	}
	if err != nil {
		return false, err
	}
	if n := len(s.segments); n > 0 && t.Index.Within(s.segments[n-1].index) {
		l.tmp = append(l.tmp, wal.SegmentName(number)) // a crash kept Rewrite from removing it
		return false, nil
	}
	if last && !s.readOnly {
		// What a killed process wrote can be read but is not yet durable. Replaying it confirms it.
		if t.Torn > 0 && !t.Blank {
			s.opts.Logger.Warn("store: cut torn end of log", "segment", wal.SegmentName(number), "offset", t.End, "bytes", t.Torn)
		}
		if t.Torn > 0 {
			if err := f.Truncate(t.End); err != nil {
				return false, err
			}
		}
		if err := f.Datasync(); err != nil {
			return false, err
		}
	}
	seg := s.addSegment(number)
	seg.img.salt = t.Salt
	seg.index = t.Index
	seg.planned, seg.written, seg.bytes = t.End, t.End, size-t.Torn
	seg.sealed = t.Sealed
	for shard, e := range t.Index {
		seg.refs += int64(e.Refs)
		if err := s.recoverExtent(seg, shard, e); err != nil {
			return false, err
		}
	}
	return last && !t.Sealed && !s.readOnly, nil
}

func (s *Store) recoverExtent(seg *segment, shard uint32, e *wal.Extent) error {
	l := s.shard(shard)
	if n := len(l.spans); n > 0 && l.spans[n-1].last >= e.First {
		return fmt.Errorf("%w: entry %d of shard %d after entry %d of an earlier segment", ErrCorrupt, e.First, shard, l.spans[n-1].last)
	}
	l.spans = append(l.spans, span{first: e.First, last: e.Last, seg: seg})
	l.last = max(l.last, e.Last)
	l.written, l.durable = l.last, l.last
	return nil
}

// resume returns a committer at the end of the last segment, or at the start of a new one if that
// is sealed or there is none.
func (s *Store) resume(active vfs.File) (*committer, error) {
	if active != nil {
		seg := s.segments[len(s.segments)-1]
		c := newCommitter(s)
		c.begin(seg, active, seg.written)
		return c, nil
	}
	number := uint64(1)
	if n := len(s.segments); n > 0 {
		number = s.segments[n-1].number + 1
	}
	seg := s.addSegment(number)
	f, err := createSegment(s, seg)
	if err != nil {
		return nil, inFile(seg.img.name, err)
	}
	c := newCommitter(s)
	c.begin(seg, f, wal.SegmentHeaderSize)
	return c, nil
}
