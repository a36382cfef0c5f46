package store

import (
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// openCommitted opens a replica's segments up to the last entry that is both committed and written,
// as a single node's log. No checkpoint covers a later entry.
func (r *RaftLog) openCommitted(sn *Snapshot) error {
	parts, err := r.segmentsUpTo(r.ReplayEnd())
	if err != nil {
		return err
	}
	for i := range parts {
		parts[i].alone = true
	}
	return sn.openAll(r.s, parts)
}

// Measure returns the number of bytes that Copy writes.
func (f *SnapshotFile) Measure() (int64, error) {
	if !f.alone {
		return f.Size, nil
	}
	n := counter(0)
	err := f.Copy(&n)
	return int64(n), err
}

// counter counts the bytes written to it.
type counter int64

func (n *counter) Write(p []byte) (int, error) {
	*n += counter(len(p))
	return len(p), nil
}

// Copy writes the file in a single node's format. It returns ErrCorrupt and the errors of the file
// and of w.
func (f *SnapshotFile) Copy(w io.Writer) error {
	if !f.alone {
		_, err := io.Copy(w, f.Reader())
		return err
	}
	if err := f.copyAlone(w); err != nil {
		return inFile(f.Name, err)
	}
	return nil
}

// copyAlone writes a replica's segment without anything specific to Raft: no entry heads, no marks,
// and the term of a single node. An entry of the replicated log becomes one group.
func (f *SnapshotFile) copyAlone(w io.Writer) error {
	number, _ := wal.ParseSegmentName(f.Name)
	read := wal.ScanTail
	if f.sealed {
		read = wal.ReadSealed
	}
	old, err := read(f.file, f.Size, number)
	if err == nil && old.Torn > 0 {
		err = fmt.Errorf("%w at offset %d", ErrCorrupt, old.End)
	}
	if err != nil {
		return err
	}
	out := wal.NewSegmentWriter(w, number, old.Salt)
	if err := addAlone(out, wal.NewWalker(f.file, old.Salt, wal.SegmentHeaderSize, old.End, replayBytes, false)); err != nil {
		return err
	}
	refs := uint64(0)
	for _, e := range old.Index {
		refs += e.Refs
	}
	delete(old.Index, wal.RaftShard)
	out.Cover(old.Index, refs)
	_, _, err = out.Seal()
	return err
}

// addAlone copies the frames of shards to out.
func addAlone(out *wal.SegmentWriter, frames wal.Walker) error {
	for {
		at := frames.Offset()
		h, payload, err := frames.Frame()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%w at offset %d: %w", ErrCorrupt, at, err)
		case h.Shard == wal.RaftShard:
			continue
		}
		h.Term = 1
		if err := out.Add(&h, payload); err != nil {
			return err
		}
	}
}
