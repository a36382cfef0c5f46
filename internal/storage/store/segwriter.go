package store

import (
	"fiveways/internal/storage/vfs"
	"fiveways/internal/storage/wal"
)

// segmentWriter writes a whole segment, sealed, that takes the place of another one.
type segmentWriter struct {
	f      vfs.File
	number uint64
	salt   uint32
	index  wal.Index
	buf    []byte
	at     int64 // offset where buf goes; of the end of the file once sealed
	end    int64 // of the frames, once sealed
}

func createSegmentFile(fs vfs.FS, path string, number uint64, salt uint32) (*segmentWriter, error) {
	f, err := fs.Create(path)
	if err != nil {
		return nil, err
	}
	return &segmentWriter{
		f:      f,
		number: number,
		salt:   salt,
		index:  wal.Index{},
		buf:    wal.AppendSegmentHeader(nil, number, salt),
	}, nil
}

// add writes a frame that belongs to no group.
func (w *segmentWriter) add(h *wal.Header, payload []byte) error {
	h.Flags, h.Synced, h.Length = 0, wal.SegmentHeaderSize, uint32(len(payload))
	w.index.Add(h, w.at+int64(len(w.buf)))
	w.buf = wal.AppendHeader(w.buf, w.salt, h, payload)
	w.buf = append(w.buf, payload...)
	if len(w.buf) < flushBytes {
		return nil
	}
	return w.flush()
}

func (w *segmentWriter) flush() error {
	if _, err := w.f.WriteAt(w.buf, w.at); err != nil {
		return err
	}
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// seal writes the footer and makes the file durable.
func (w *segmentWriter) seal() error {
	w.end = w.at + int64(len(w.buf))
	w.buf = wal.AppendFooter(w.buf, w.salt, w.number, w.end, wal.SegmentHeaderSize, w.index)
	if err := w.flush(); err != nil {
		return err
	}
	return w.f.Datasync()
}
