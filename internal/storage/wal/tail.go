package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const scanBlockBytes = 1 << 20

// Tail is the result of scanning a segment.
type Tail struct {
	Salt   uint32
	Index  Index
	End    int64 // bytes to keep: header and complete groups of intact frames, without the footer
	Sealed bool  // an intact footer and trailer follow at End and end the file
	Torn   int64 // bytes after End that are neither frames nor footer
	Blank  bool  // those bytes are zeros, which writers lay ahead of frames: nothing was cut off
}

// ErrNoHeader means that a crash came between the creation of a segment file and the sync of its
// header.
var ErrNoHeader = errors.New("wal: segment without a header")

// ScanTail reads a whole segment, the last one of a log, whose end may be torn. An offset without
// an intact frame is the end of the log. If a later intact frame records that the offset was
// already durable, ScanTail returns ErrCorrupt. It cuts off an incomplete group as a whole.
func ScanTail(r io.ReaderAt, size int64, number uint64) (Tail, error) {
	salt, err := ReadSegmentHeader(r, size, number)
	if err != nil {
		return Tail{}, err
	}
	t := Tail{Salt: salt, Index: Index{}, End: SegmentHeaderSize}
	w := NewWalker(r, salt, SegmentHeaderSize, size, scanBlockBytes, false)
	var group []located
	for {
		at := w.Offset()
		h, _, err := w.Frame()
		switch {
		case err == io.EOF:
			t.Torn = size - t.End
			return t, nil
		case errors.Is(err, ErrBadFrame):
			t.Torn = size - t.End
			if at == t.End {
				if t.Blank, err = blank(r, at, size); t.Blank || err != nil {
					return t, err
				}
			}
			return t, findSynced(r, salt, at, size)
		case err != nil:
			return t, fmt.Errorf("%w at offset %d", err, at)
		case h.Kind == KindFooter:
			t.Sealed = endsWithTrailer(r, salt, at, w.Offset(), size)
			if !t.Sealed {
				t.Torn = size - t.End
			}
			return t, nil
		case h.Kind == KindMark && len(group) == 0:
			t.End = w.Offset()
			continue
		}
		group = append(group, located{h, at})
		if h.Flags&Continued != 0 {
			continue
		}
		for _, f := range group {
			if e := t.Index[f.h.Shard]; e != nil && f.h.Index <= e.Last {
				return t, fmt.Errorf("%w at offset %d: entry %d of shard %d after entry %d", ErrCorrupt, f.at, f.h.Index, f.h.Shard, e.Last)
			}
			t.Index.Add(&f.h, f.at)
		}
		group = group[:0]
		t.End = w.Offset()
	}
}

type located struct {
	h  Header
	at int64
}

// ReadSegmentHeader returns the salt of a segment. It returns ErrNoHeader if the file ends before
// the first frame would start, as after a crash during creation: the header is made durable before
// any frame is written.
func ReadSegmentHeader(r io.ReaderAt, size int64, number uint64) (salt uint32, err error) {
	b := make([]byte, min(size, SegmentHeaderSize))
	if n, err := r.ReadAt(b, 0); n < len(b) {
		return 0, fmt.Errorf("wal: read segment header: %w", err)
	}
	salt, err = DecodeSegmentHeader(b, number)
	if errors.Is(err, ErrBadFrame) {
		if size <= SegmentHeaderSize {
			return 0, ErrNoHeader
		}
		return 0, fmt.Errorf("%w at offset 0: bad segment header", ErrCorrupt)
	}
	return salt, err
}

// ReadSealed returns the salt, the index and the end of the frames of a sealed segment without
// reading its frames.
func ReadSealed(r io.ReaderAt, size int64, number uint64) (Tail, error) {
	salt, err := ReadSegmentHeader(r, size, number)
	if errors.Is(err, ErrNoHeader) {
		return Tail{}, fmt.Errorf("%w at offset 0: bad segment header", ErrCorrupt)
	}
	if err != nil {
		return Tail{}, err
	}
	var b [TrailerSize]byte
	if n, err := r.ReadAt(b[:], max(size-TrailerSize, 0)); n < len(b) && !errors.Is(err, io.EOF) {
		return Tail{}, fmt.Errorf("wal: read trailer: %w", err)
	}
	at, ok := DecodeTrailer(b[:], salt)
	if !ok || at > size-TrailerSize {
		return Tail{}, fmt.Errorf("%w at offset %d: bad trailer of a sealed segment", ErrCorrupt, max(size-TrailerSize, 0))
	}
	w := NewWalker(r, salt, at, size-TrailerSize, 0, false)
	h, payload, err := w.Frame()
	if err != nil && !errors.Is(err, ErrBadFrame) && err != io.EOF {
		return Tail{}, fmt.Errorf("%w at offset %d", err, at)
	}
	if err == nil && h.Kind == KindFooter {
		if x, err := DecodeFooter(payload); err == nil {
			return Tail{Salt: salt, Index: x, End: at, Sealed: true}, nil
		}
	}
	return Tail{}, fmt.Errorf("%w at offset %d: bad footer", ErrCorrupt, at)
}

func endsWithTrailer(r io.ReaderAt, salt uint32, footer, at, size int64) bool {
	var b [TrailerSize]byte
	if size-at != TrailerSize {
		return false
	}
	if n, _ := r.ReadAt(b[:], at); n < len(b) {
		return false
	}
	off, ok := DecodeTrailer(b[:], salt)
	return ok && off == footer
}

// blank reports whether a range has only zeros.
func blank(r io.ReaderAt, from, to int64) (bool, error) {
	b := make([]byte, min(scanBlockBytes, to-from))
	for ; from < to; from += int64(len(b)) {
		b = b[:min(int64(len(b)), to-from)]
		if n, err := r.ReadAt(b, from); n < len(b) {
			return false, fmt.Errorf("wal: read at offset %d: %w", from, err)
		}
		if b[0] != 0 || !bytes.Equal(b[1:], b[:len(b)-1]) { // each byte equals the one before it
			return false, nil
		}
	}
	return true, nil
}

// findSynced searches after a bad offset for an intact frame that was written when the bad offset
// was already durable.
func findSynced(r io.ReaderAt, salt uint32, bad, size int64) error {
	for at := bad + 1; ; {
		_, next, err := FindFrame(r, salt, at, size)
		if err != nil || next < 0 {
			return err
		}
		w := NewWalker(r, salt, next, size, scanBlockBytes, false)
		for {
			at = w.Offset()
			h, _, err := w.Frame()
			if err != nil {
				break // resume the search where the intact frames end
			}
			if int64(h.Synced) > bad {
				return fmt.Errorf("%w at offset %d: no intact frame, but the frame at offset %d says that it was durable", ErrCorrupt, bad, at)
			}
		}
	}
}

// FindFrame returns the first intact frame that starts at or after from, at any offset; next is -1
// if there is none.
func FindFrame(r io.ReaderAt, salt uint32, from, size int64) (h Header, next int64, err error) {
	block := make([]byte, max(0, min(scanBlockBytes+FrameHeaderSize, size-from)))
	for base := from; base+FrameHeaderSize <= size; base += scanBlockBytes {
		b := block[:min(int64(len(block)), size-base)]
		if n, err := r.ReadAt(b, base); n < len(b) {
			return Header{}, -1, fmt.Errorf("wal: read at offset %d: %w", base, err)
		}
		for i := 0; i < scanBlockBytes && i+FrameHeaderSize <= len(b); i++ {
			at := base + int64(i)
			if !plausible(b[i:], at, size) {
				continue
			}
			w := NewWalker(r, salt, at, size, 0, false)
			if h, _, err := w.Frame(); err == nil {
				return h, at, nil
			}
		}
	}
	return Header{}, -1, nil
}

// plausible is a cheap test, so that the sum of a frame need not be computed at every offset.
func plausible(b []byte, at, size int64) bool {
	if b[9] != frameVersion || b[8] == 0 || b[8] > byte(KindMark) {
		return false
	}
	le := binary.LittleEndian
	return le.Uint64(b[24:])>>32 == 0 && int64(le.Uint32(b[32:])) <= at &&
		int64(le.Uint32(b[0:]))+FrameHeaderSize <= size-at
}
