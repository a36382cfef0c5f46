package store

import (
	"errors"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/storage/wal"
)

const (
	readAheadBytes = 256 << 10
	bodyBytes      = 16 << 10 // Body reads one frame: little read-ahead
)

// Reader reads facts of one shard, fastest in ascending order. One goroutine at a time may use it.
type Reader struct {
	s     *Store
	shard uint32
	fresh bool // blocks are never reused
	ahead int

	img  *image // the one walk reads; nil if none
	walk wal.Walker

	index   uint64 // entry of payload, 0 if none
	cuts    uint64 // Store.cuts when the payload was read, kept by Body
	kind    wal.Kind
	payload []byte

	facts wal.Facts // positioned after fact
	sub   uint32    // number of the current fact
	fact  []byte    // nil before the first and after the last fact
}

// NewReader returns a reader of the facts of a shard.
func (s *Store) NewReader(shard uint32) *Reader {
	return &Reader{s: s, shard: shard, fresh: true, ahead: readAheadBytes}
}

// Read returns a fact (type byte and payload) from a frame whose checksum was verified. The bytes
// stay valid forever. They keep the block they lie in alive: up to 256 KiB, or the entry if it is
// larger. Read returns ErrNotFound, ErrNotWritten, ErrCorrupt, or an error of the file.
func (r *Reader) Read(index uint64, sub uint32) ([]byte, error) {
	if index != r.index {
		if err := r.seek(index); err != nil {
			r.index, r.fact = 0, nil
			return nil, err
		}
	}
	if r.fact == nil || sub < r.sub {
		r.facts = wal.NewFacts(r.kind, r.payload)
		r.next()
	}
	for r.fact != nil && r.sub < sub {
		r.next()
	}
	if r.fact == nil || r.sub != sub {
		return nil, fmt.Errorf("%w: fact %d of entry %d of shard %d", ErrNotFound, sub, index, r.shard)
	}
	return r.fact, nil
}

func (r *Reader) next() { r.sub, r.fact, _ = r.facts.Next() }

// seek makes payload that of the entry.
func (r *Reader) seek(index uint64) error {
	for {
		img, off, end, err := r.s.find(r.shard, index)
		if err != nil {
			return err
		}
		if img != r.img {
			r.img = img
			r.walk = wal.NewWalker(imageReader{&r.s.files, img}, img.salt, off, end, r.ahead, r.fresh)
		} else if index > r.index && r.index != 0 {
			// The walk is past an entry before this one: no need to go back to the indexed offset.
			off = max(off, r.walk.Offset())
		}
		r.walk.Move(off, end)
		err = r.scan(index)
		if err == nil {
			return nil
		}
		r.img = nil
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// scan walks forward to the frame of an entry.
func (r *Reader) scan(index uint64) error {
	for {
		at := r.walk.Offset()
		h, err := r.walk.Peek()
		if err == nil && (h.Shard != r.shard || h.Index < index) {
			r.walk.Skip(&h)
			continue
		}
		if err == io.EOF || err == nil && h.Index > index {
			return fmt.Errorf("%w: entry %d of shard %d", ErrNotFound, index, r.shard)
		}
		if err == nil {
			h, r.payload, err = r.walk.Frame()
		}
		if err != nil {
			return r.img.damaged(at, err)
		}
		r.index, r.kind, r.fact = index, h.Kind, nil
		return nil
	}
}

// damaged adds the place to a format error. A bad frame is corruption here, because everything read
// through an image was intact once.
func (img *image) damaged(at int64, err error) error {
	if errors.Is(err, wal.ErrBadFrame) {
		err = ErrCorrupt
	}
	return fmt.Errorf("store: %s at offset %d: %w", img.name, at, err)
}

// Body appends a fact (type byte and payload) to dst. It returns the errors of Reader.Read. For
// many facts in order a Reader is much faster.
func (s *Store) Body(p Pos, dst []byte) ([]byte, error) {
	r, _ := s.bodies.Get().(*Reader)
	if r == nil {
		r = &Reader{s: s, ahead: bodyBytes}
	}
	defer s.bodies.Put(r)
	if cuts := s.cuts.Load(); r.shard != p.Shard || r.cuts != cuts {
		r.shard, r.index, r.cuts = p.Shard, 0, cuts
	}
	fact, err := r.Read(p.Index, p.Sub)
	return append(dst, fact...), err
}
