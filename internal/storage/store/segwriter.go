package store

import (
	"io"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// segmentWriter writes a whole segment, sealed: one that takes the place of another one, or goes to
// a backup.
type segmentWriter struct {
	w      io.Writer
	number uint64
	salt   uint32
	index  wal.Index
	buf    []byte
	at     int64 // offset where buf goes; of the end of the file once sealed
	end    int64 // of the frames, once sealed
}

func newSegmentWriter(w io.Writer, number uint64, salt uint32) *segmentWriter {
	return &segmentWriter{
		w:      w,
		number: number,
		salt:   salt,
		index:  wal.Index{},
		buf:    wal.AppendSegmentHeader(nil, number, salt),
	}
}

// createSegmentFile returns a writer and its file, which is to be synced once it is sealed.
func createSegmentFile(fs vfs.FS, path string, number uint64, salt uint32) (*segmentWriter, vfs.File, error) {
	f, err := fs.Create(path)
	if err != nil {
		return nil, nil, err
	}
	return newSegmentWriter(io.NewOffsetWriter(f, 0), number, salt), f, nil
}

// add writes a frame.
func (w *segmentWriter) add(h *wal.Header, payload []byte) error {
	h.Synced, h.Length = wal.SegmentHeaderSize, uint32(len(payload))
	w.index.Add(h, w.at+int64(len(w.buf)))
	w.buf = wal.AppendHeader(w.buf, w.salt, h, payload)
	w.buf = append(w.buf, payload...)
	if len(w.buf) < flushBytes {
		return nil
	}
	return w.flush()
}

func (w *segmentWriter) flush() error {
	if _, err := w.w.Write(w.buf); err != nil {
		return err
	}
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// cover makes the index name the ranges of another one, of the same segment when it had more
// frames: they say what was written there, and indexes must not be given out again. refs is the
// count of the whole segment.
func (w *segmentWriter) cover(x wal.Index, refs uint64) {
	for shard, e := range x {
		own := w.index[shard]
		if own == nil {
			own = &wal.Extent{}
			w.index[shard] = own
		}
		own.Widen(e.First, e.Last)
		own.Refs, refs = refs, 0
	}
}

// seal writes the footer.
func (w *segmentWriter) seal() error {
	w.end = w.at + int64(len(w.buf))
	w.buf = wal.AppendFooter(w.buf, w.salt, w.number, w.end, wal.SegmentHeaderSize, w.index)
	return w.flush()
}
