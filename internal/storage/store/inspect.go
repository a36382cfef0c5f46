package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// Report is the result of Inspect.
type Report struct {
	Segments    []SegmentReport
	Checkpoints []CheckpointReport
	Damage      []Damage
	Missing     []Range // entries that are neither in the log nor covered by a checkpoint
}

// SegmentReport describes a segment file.
type SegmentReport struct {
	Number uint64
	Bytes  int64
	Sealed bool
	Shards []ShardReport // ascending
}

// ShardReport describes the entries of a shard in a segment.
type ShardReport struct {
	Shard   uint32
	First   uint64
	Last    uint64
	Entries uint64 // intact frames: fewer than the range if the segment was cleaned
}

// CheckpointReport describes a checkpoint file.
type CheckpointReport struct {
	Shard uint32
	Index uint64
	Bytes int64
	Valid bool
}

// Damage is a place where a file does not hold what was written.
type Damage struct {
	File   string
	Offset int64
	Bytes  int64 // that cannot be read
	Torn   bool  // the end of the log after a crash: nothing confirmed is lost, and Open cuts it
	Detail string
}

func (d Damage) String() string {
	return fmt.Sprintf("%s at offset %d: %d bytes: %s", d.File, d.Offset, d.Bytes, d.Detail)
}

// Range is a range of entries of a shard, both ends included.
type Range struct {
	Shard       uint32
	First, Last uint64
}

// Inspect reads all files of a closed store and reports what they hold and what is damaged. It
// changes nothing but the lock file. It returns ErrUnsupportedFormat if a newer version wrote a
// file.
func Inspect(fs vfs.FS, dir string) (Report, error) {
	lock, err := fs.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return Report{}, inFile(dir, err)
	}
	defer lock.Close()
	if dir, err = liveDir(fs, dir); err != nil {
		return Report{}, err
	}
	in, err := inspect(fs, dir)
	if err != nil {
		return Report{}, err
	}
	return in.report, nil
}

// inspection collects a report and where each missing range would have been.
type inspection struct {
	fs     vfs.FS
	dir    string
	report Report
	next   map[uint32]uint64 // per shard, the index that must follow
	bad    map[uint64]bool   // segments that Repair is to rebuild
	seen   []uint64          // segments so far
	gaps   map[entryID]bool  // the entries after missing ones
	cut    int64             // where the torn end of the last segment begins
}

type entryID struct {
	shard uint32
	index uint64
}

func inspect(fs vfs.FS, dir string) (*inspection, error) {
	l, err := readLayout(fs, dir)
	if err != nil {
		return nil, err
	}
	st, err := readRaftState(fs, dir)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	in := &inspection{fs: fs, dir: dir, next: map[uint32]uint64{}, bad: map[uint64]bool{}, gaps: map[entryID]bool{}}
	if err != nil {
		in.damage(Damage{File: raftFile, Detail: err.Error()})
	}
	if st != nil {
		in.next[wal.RaftShard] = st.First.Index + 1
	}
	for _, c := range l.checkpoints {
		if err := in.checkpoint(c); err != nil {
			return nil, inFile(c.name(), err)
		}
	}
	for i, number := range l.segments {
		in.seen = append(in.seen, number)
		if err := in.segment(number, i == len(l.segments)-1); err != nil {
			return nil, inFile(wal.SegmentName(number), err)
		}
	}
	return in, nil
}

func (in *inspection) checkpoint(c checkpointFile) error {
	path := filepath.Join(in.dir, c.name())
	size, err := in.fs.Stat(path)
	if err != nil {
		return err
	}
	r, err := openCheckpoint(in.fs, path, c)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	if err == nil {
		r.Close()
		in.next[c.shard] = max(in.next[c.shard], c.index+1)
	} else {
		in.damage(Damage{File: c.name(), Bytes: size, Detail: err.Error()})
	}
	in.report.Checkpoints = append(in.report.Checkpoints, CheckpointReport{Shard: c.shard, Index: c.index, Bytes: size, Valid: err == nil})
	return nil
}

func (in *inspection) damage(d Damage) { in.report.Damage = append(in.report.Damage, d) }

func (in *inspection) segment(number uint64, last bool) error {
	name := wal.SegmentName(number)
	f, err := in.fs.Open(filepath.Join(in.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	sr := SegmentReport{Number: number, Bytes: size}
	index := wal.Index{}
	if last {
		t, err := wal.ScanTail(f, size, number)
		switch {
		case errors.Is(err, wal.ErrNoHeader):
			in.report.Segments = append(in.report.Segments, sr)
			return nil
		case err == nil:
			if in.cut = size; t.Torn > 0 {
				in.cut = t.End
			}
			if t.Torn > 0 && !t.Blank {
				in.damage(Damage{File: name, Offset: t.End, Bytes: t.Torn, Torn: true, Detail: "torn end of the log"})
			}
			sr.Sealed, size = t.Sealed, t.End
		case !errors.Is(err, ErrCorrupt):
			return err
		}
	} else if t, err := wal.ReadSealed(f, size, number); err == nil {
		sr.Sealed, size = true, t.End
	} else if !errors.Is(err, ErrCorrupt) {
		return err
	} else {
		in.bad[number] = true
		in.damage(Damage{File: name, Offset: size, Detail: err.Error()})
	}
	err = intactFrames(f, size, number, func(h wal.Header, _ []byte) error {
		if h.Kind == wal.KindMark {
			return nil
		}
		index.Add(&h, 0)
		in.frame(number, &h)
		return nil
	}, func(from, to int64) {
		in.bad[number] = true
		in.damage(Damage{File: name, Offset: from, Bytes: to - from, Detail: "no intact frame"})
	})
	for _, shard := range slices.Sorted(maps.Keys(index)) {
		e := index[shard]
		sr.Shards = append(sr.Shards, ShardReport{Shard: shard, First: e.First, Last: e.Last, Entries: e.Frames})
	}
	in.report.Segments = append(in.report.Segments, sr)
	return err
}

// frame records an intact frame and the missing entries before it.
func (in *inspection) frame(number uint64, h *wal.Header) {
	next := max(in.next[h.Shard], 1)
	if h.Index > next && h.Flags&wal.Gap == 0 {
		in.report.Missing = append(in.report.Missing, Range{Shard: h.Shard, First: next, Last: h.Index - 1})
		in.bad[number] = true
		in.gaps[entryID{h.Shard, h.Index}] = true
	}
	in.next[h.Shard] = max(next, h.Index+1)
}

// intactFrames calls frame for every intact frame of entries in the first size bytes of a segment,
// and hole for every range without one.
func intactFrames(r io.ReaderAt, size int64, number uint64, frame func(wal.Header, []byte) error, hole func(from, to int64)) error {
	salt, err := wal.ReadSegmentHeader(r, size, number)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, wal.ErrNoHeader) {
		hole(0, size) // without the salt, random bytes cannot be told from a frame
		return nil
	}
	if err != nil {
		return err
	}
	w := wal.NewWalker(r, salt, wal.SegmentHeaderSize, size, replayBytes, false)
	for {
		at := w.Offset()
		h, payload, err := w.Frame()
		if errors.Is(err, wal.ErrBadFrame) {
			_, next, err := wal.FindFrame(r, salt, at+1, size)
			if err != nil {
				return err
			}
			if next < 0 {
				hole(at, size)
				return nil
			}
			hole(at, next)
			w.Move(next, size)
			continue
		}
		if err == io.EOF || err == nil && h.Kind == wal.KindFooter {
			return nil
		}
		if err != nil {
			return err
		}
		if err := frame(h, payload); err != nil {
			return err
		}
	}
}
