package store

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// Rewrite replaces adjacent sealed segments that checkpoints cover with one that holds only the
// facts that live returns. live is called once for each shard in a segment, with its first and last
// index, and returns ascending positions. A fact it omits is lost forever. Its error stops the
// rewrite. Reading continues meanwhile. The facts that made the others obsolete are durable before
// those are removed.
func (s *Store) Rewrite(run SegmentRun, live func(shard uint32, lo, hi uint64) ([]Pos, error)) error {
	s.housekeeping.Lock()
	defer s.housekeeping.Unlock()
	defer took(&s.stats.rewrites, time.Now())
	olds, refs, err := s.rewritable(run)
	if err != nil {
		return err
	}
	first := olds[0].img
	rw := &rewriter{s: s, live: live, img: &image{name: first.name, path: first.path, salt: rand.Uint32()}} // #nosec G404 -- tells files apart; no secret
	tmp := first.path + tmpSuffix
	err = rw.write(tmp, olds, refs)
	if err == nil {
		err = s.awaitSettled()
	}
	if err != nil {
		s.fs.Remove(tmp) // otherwise Open removes it
		return inFile(first.name, err)
	}
	if err := s.replace(olds, rw, tmp, refs); err != nil {
		return inFile(first.name, err)
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return inFile(s.dir, err)
	}
	for _, old := range olds[1:] { // otherwise Open removes it: the new one covers it
		if err := s.fs.Remove(old.img.path); err != nil {
			return inFile(old.img.name, err)
		}
	}
	return nil
}

// rewritable returns the segments of a run and the number of their remaining references.
func (s *Store) rewritable(run SegmentRun) (segs []*segment, refs int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if seg.number < run.First || seg.number > run.Last {
			continue
		}
		if !seg.sealed || !s.covered(seg) {
			return nil, 0, fmt.Errorf("store: rewrite %s: still needed for replay", seg.img.name)
		}
		segs = append(segs, seg)
		refs += max(seg.live, 0)
	}
	if len(segs) == 0 {
		return nil, 0, fmt.Errorf("%w: segments %d to %d", ErrNotFound, run.First, run.Last)
	}
	return segs, refs, nil
}

// replace puts the new file in the place of the old ones, under the name of the first. Readers of
// an old one look it up again.
func (s *Store) replace(olds []*segment, rw *rewriter, tmp string, refs int64) error {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err := s.fs.Rename(tmp, rw.img.path); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seg := olds[0]
	s.files.retire(seg.img)
	for _, old := range olds[1:] {
		s.segments = slices.DeleteFunc(s.segments, func(other *segment) bool { return other == old })
		for shard := range old.index {
			s.shard(shard).merge(seg, old)
		}
		seg.live += old.live
		s.files.retire(old.img)
	}
	seg.img, seg.index = rw.img, rw.index
	seg.written, seg.planned, seg.bytes = rw.end, rw.end, rw.size
	seg.refs, seg.dead = refs, 0
	return nil
}

// rewriter writes the new version of segments.
type rewriter struct {
	s    *Store
	live func(shard uint32, lo, hi uint64) ([]Pos, error)
	img  *image
	out  *wal.SegmentWriter
	keep map[uint32][]Pos // for the segment being copied
	sum  []byte           // payload being built

	index     wal.Index // of the new version
	end, size int64
}

func (rw *rewriter) write(tmp string, olds []*segment, refs int64) error {
	f, err := vfs.CreateSteady(rw.s.fs, tmp)
	if err != nil {
		return err
	}
	defer f.Close()
	rw.out = wal.NewSegmentWriter(io.NewOffsetWriter(f, 0), olds[0].number, rw.img.salt)
	covers := wal.Index{}
	for _, old := range olds {
		if err := rw.copyFrames(old); err != nil {
			return err
		}
		covers.Cover(old.index)
	}
	rw.out.Cover(covers, uint64(refs))
	rw.index = rw.out.Index
	if rw.end, rw.size, err = rw.out.Seal(); err != nil {
		return err
	}
	return f.Datasync()
}

func (rw *rewriter) copyFrames(old *segment) (err error) {
	rw.keep = map[uint32][]Pos{}
	for shard, e := range old.index { // does not change: only Rewrite replaces it
		if shard == wal.RaftShard {
			continue // no replica needs the entries it covers
		}
		if rw.keep[shard], err = rw.live(shard, e.First, e.Last); err != nil {
			return err
		}
	}
	w := wal.NewWalker(imageReader{&rw.s.files, old.img}, old.img.salt, wal.SegmentHeaderSize, old.written, replayBytes, false)
	for {
		at := w.Offset()
		h, payload, err := w.Frame()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return old.img.damaged(at, err)
		}
		if err := rw.copyFrame(h, payload); err != nil {
			return err
		}
	}
}

// copyFrame writes a sparse frame with the facts to keep, if any.
func (rw *rewriter) copyFrame(h wal.Header, payload []byte) error {
	keep := rw.keep[h.Shard]
	for len(keep) > 0 && keep[0].Index < h.Index {
		keep = keep[1:]
	}
	rw.sum = rw.sum[:0]
	next := uint32(0) // one more than the last fact kept
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
	return rw.out.Add(&kept, rw.sum)
}
