package wal

import (
	"errors"
	"fmt"
	"io"
)

// Walker reads the frames of a segment from one offset to another, with a block of the file in
// memory.
type Walker struct {
	src   io.ReaderAt
	salt  uint32
	off   int64 // of the next frame
	end   int64 // no byte from here on is read
	size  int   // bytes read at a time
	fresh bool

	block   []byte
	blockAt int64 // file offset of block
}

// NewWalker returns a walker over src[off:end] that reads blockBytes at a time. With fresh, every
// block is newly allocated, so the results of Frame stay valid forever. Otherwise they are valid
// until the next call.
func NewWalker(src io.ReaderAt, salt uint32, off, end int64, blockBytes int, fresh bool) Walker {
	return Walker{src: src, salt: salt, off: off, end: end, size: blockBytes, fresh: fresh}
}

// Offset returns where the next frame starts.
func (w *Walker) Offset() int64 { return w.off }

// Move continues at another offset and end, and keeps bytes in memory that are still usable.
func (w *Walker) Move(off, end int64) { w.off, w.end = off, end }

// Peek returns the header of the next frame without checking its sum, and io.EOF at the end.
func (w *Walker) Peek() (Header, error) {
	if w.off == w.end {
		return Header{}, io.EOF
	}
	if w.end-w.off < FrameHeaderSize {
		return Header{}, ErrBadFrame
	}
	b, err := w.bytes(FrameHeaderSize)
	if err != nil {
		return Header{}, err
	}
	h, err := PeekHeader(b)
	if err == nil && h.Size() > w.end-w.off {
		err = ErrBadFrame
	}
	return h, err
}

// Skip moves to the frame after the one with header h.
func (w *Walker) Skip(h *Header) { w.off += h.Size() }

// Frame returns the next frame, checked, and moves to the one after it; on an error it does not
// move. It returns io.EOF at the end; other errors are those of DecodeFrame and of the file.
func (w *Walker) Frame() (Header, []byte, error) {
	h, err := w.Peek()
	if err != nil {
		return Header{}, nil, err
	}
	b, err := w.bytes(h.Size())
	if err != nil {
		return Header{}, nil, err
	}
	h, payload, err := DecodeFrame(b, w.salt)
	if err == nil {
		w.Skip(&h)
	}
	return h, payload, err
}

// bytes returns src[off:off+n], which lies before end.
func (w *Walker) bytes(n int64) ([]byte, error) {
	at := w.off - w.blockAt
	if at < 0 || at+n > int64(len(w.block)) {
		size := min(max(int64(w.size), n), w.end-w.off)
		if w.fresh || int64(cap(w.block)) < size {
			w.block = make([]byte, size)
		}
		w.block = w.block[:size]
		w.blockAt, at = w.off, 0
		if got, err := w.src.ReadAt(w.block, w.off); int64(got) < size {
			w.block = w.block[:0]
			if errors.Is(err, io.EOF) {
				return nil, ErrBadFrame
			}
			return nil, fmt.Errorf("wal: read at offset %d: %w", w.off, err)
		}
	}
	return w.block[at : at+n], nil
}
