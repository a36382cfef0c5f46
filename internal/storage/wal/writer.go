package wal

import "io"

// flushBytes is the amount of buffered data that triggers a write.
const flushBytes = 1 << 20

// SegmentWriter writes a complete sealed segment: a replacement for others, or one for a backup.
type SegmentWriter struct {
	Index Index // of the frames so far and the ranges added by Cover

	w      io.Writer
	number uint64
	salt   uint32
	buf    []byte
	at     int64 // file offset at which buf will be written
}

// NewSegmentWriter returns a writer of the segment with this number and salt to w.
func NewSegmentWriter(w io.Writer, number uint64, salt uint32) *SegmentWriter {
	return &SegmentWriter{
		Index:  Index{},
		w:      w,
		number: number,
		salt:   salt,
		buf:    AppendSegmentHeader(nil, number, salt),
	}
}

// Add writes a frame. Errors are those of the writer.
func (w *SegmentWriter) Add(h *Header, payload []byte) error {
	h.Synced, h.Length = SegmentHeaderSize, uint32(len(payload))
	w.Index.Add(h, w.at+int64(len(w.buf)))
	w.buf = AppendHeader(w.buf, w.salt, h, payload)
	w.buf = append(w.buf, payload...)
	if len(w.buf) < flushBytes {
		return nil
	}
	return w.flush()
}

func (w *SegmentWriter) flush() error {
	if _, err := w.w.Write(w.buf); err != nil {
		return err
	}
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// Cover adds the ranges of x to the index: those of segments that this one replaces and that had
// more frames. refs is the number of references to bodies in the whole segment.
func (w *SegmentWriter) Cover(x Index, refs uint64) {
	w.Index.Cover(x)
	for _, e := range w.Index {
		e.Refs, refs = refs, 0
	}
}

// Seal writes the footer, and returns the offset after the last frame and the size of the file.
func (w *SegmentWriter) Seal() (end, size int64, err error) {
	end = w.at + int64(len(w.buf))
	w.buf = AppendFooter(w.buf, w.salt, w.number, end, SegmentHeaderSize, w.Index)
	err = w.flush()
	return end, w.at, err
}
