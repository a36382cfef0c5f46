package store

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// Rewrite replaces a sealed segment that checkpoints cover by one that holds only the facts that
// live returns. live is called once for each shard in the segment, with the first and last index,
// and returns ascending positions; a fact it leaves out is gone for ever; its error stops the
// rewrite. Reading goes on meanwhile. What made the other facts dead is durable before they go.
func (s *Store) Rewrite(number uint64, live func(shard uint32, lo, hi uint64) ([]Pos, error)) error {
	s.housekeeping.Lock()
	defer s.housekeeping.Unlock()
	defer took(&s.stats.rewrites, time.Now())
	seg, err := s.rewritable(number)
	if err != nil {
		return err
	}
	keep := map[uint32][]Pos{}
	for shard, e := range seg.index { // does not change: only Rewrite replaces it
		if shard == wal.RaftShard {
			continue // no replica needs what covers it
		}
		if keep[shard], err = live(shard, e.First, e.Last); err != nil {
			return err
		}
	}
	img := &image{name: seg.img.name, path: seg.img.path, salt: rand.Uint32()} // #nosec G404 -- tells files apart; no secret
	tmp := img.path + tmpSuffix
	s.mu.Lock()
	refs := max(seg.live, 0)
	s.mu.Unlock()
	rw := &rewriter{old: seg, img: img, keep: keep}
	if err := rw.write(s, tmp, refs); err != nil {
		s.fs.Remove(tmp) // Open removes it otherwise
		return inFile(img.name, err)
	}
	if err := s.awaitSettled(); err != nil {
		s.fs.Remove(tmp)
		return err
	}
	if err := s.replace(seg, rw, tmp, refs); err != nil {
		return inFile(img.name, err)
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return inFile(s.dir, err)
	}
	return nil
}

func (s *Store) rewritable(number uint64) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if seg.number == number {
			if !seg.sealed || !s.covered(seg) {
				return nil, fmt.Errorf("store: rewrite %s: still needed for replay", seg.img.name)
			}
			return seg, nil
		}
	}
	return nil, fmt.Errorf("%w: segment %d", ErrNotFound, number)
}

// replace puts the new file in the place of the old one. Readers that looked the old one up look
// again.
func (s *Store) replace(seg *segment, rw *rewriter, tmp string, refs int64) error {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err := s.fs.Rename(tmp, rw.img.path); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files.retire(seg.img)
	seg.img, seg.index = rw.img, rw.out.index
	seg.written, seg.planned, seg.bytes = rw.out.end, rw.out.end, rw.out.at
	seg.refs = refs
	return nil
}

// rewriter writes the new version of a segment.
type rewriter struct {
	old  *segment
	img  *image
	keep map[uint32][]Pos
	out  *segmentWriter
	sum  []byte // payload being made
}

func (rw *rewriter) write(s *Store, tmp string, refs int64) error {
	out, f, err := createSegmentFile(s.fs, tmp, rw.old.number, rw.img.salt)
	if err != nil {
		return err
	}
	defer f.Close()
	rw.out = out
	if err := rw.copyFrames(s); err != nil {
		return err
	}
	out.cover(rw.old.index, uint64(refs))
	if err := out.seal(); err != nil {
		return err
	}
	return f.Datasync()
}

func (rw *rewriter) copyFrames(s *Store) error {
	old := rw.old.img
	w := wal.NewWalker(imageReader{&s.files, old}, old.salt, wal.SegmentHeaderSize, rw.old.written, replayBytes, false)
	for {
		at := w.Offset()
		h, payload, err := w.Frame()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return old.damaged(at, err)
		}
		if err := rw.copyFrame(h, payload); err != nil {
			return err
		}
	}
}

// copyFrame writes a sparse frame with the facts to keep, if there are any.
func (rw *rewriter) copyFrame(h wal.Header, payload []byte) error {
	keep := rw.keep[h.Shard]
	for len(keep) > 0 && keep[0].Index < h.Index {
		keep = keep[1:]
	}
	rw.sum = rw.sum[:0]
	next := uint32(0) // number after that of the last fact kept
	facts := wal.NewFacts(h.Kind, payload)
	for {
		sub, fact, ok := facts.Next()
		if !ok {
			break
		}
		wanted := false
		for len(keep) > 0 && keep[0].Index == h.Index && keep[0].Sub <= sub {
			wanted = keep[0].Sub == sub
			keep = keep[1:]
		}
		if wanted {
			rw.sum = wal.AppendSparse(rw.sum, sub-next, fact)
			next = sub + 1
		}
	}
	rw.keep[h.Shard] = keep
	if len(rw.sum) == 0 {
		return nil
	}
	kept := wal.Header{Kind: wal.KindSparse, Shard: h.Shard, Index: h.Index, Term: h.Term}
	return rw.out.add(&kept, rw.sum)
}
