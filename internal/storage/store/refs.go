package store

import "slices"

// Retain counts n more references to bodies of an entry: on restore and replay, and when a message
// is added to another queue. It ignores an entry of a deleted segment: facts not yet replayed
// settle those messages.
func (s *Store) Retain(shard uint32, index uint64, n int) { s.count(shard, index, n) }

// Release removes n references to bodies of an entry. Call it after the Append of the facts that
// settle them.
func (s *Store) Release(shard uint32, index uint64, n int) { s.count(shard, index, -n) }

func (s *Store) count(shard uint32, index uint64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg := s.shard(shard).segmentOf(index); seg != nil {
		seg.live += int64(n)
		if n > 0 {
			seg.dead = 0
		}
	}
}

// ReleaseRuns is Release for many entries at once.
func (s *Store) ReleaseRuns(shard uint32, runs []Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.shard(shard)
	for _, r := range runs {
		if seg := l.segmentOf(r.Index); seg != nil {
			seg.live -= int64(r.N)
		}
	}
}

// Forget deletes the sealed segments that are covered by checkpoints and whose bodies are not
// referenced. It first makes the facts that settled those bodies durable: otherwise a crash could
// bring back messages without their bodies.
func (s *Store) Forget() error {
	s.housekeeping.Lock()
	defer s.housekeeping.Unlock()
	dead, unsynced := s.deadSegments()
	if unsynced && s.State().Health == Healthy {
		if err := s.SyncNow(); err != nil {
			return err
		}
		dead, _ = s.deadSegments()
	}
	if len(dead) == 0 {
		return nil
	}
	for _, seg := range dead {
		s.forgetSegment(seg)
		if err := s.fs.Remove(seg.img.path); err != nil {
			return inFile(seg.img.name, err)
		}
	}
	if s.opts.Scratch {
		return nil
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return inFile(s.dir, err)
	}
	return nil
}

// deadSegments returns the segments that may be deleted now. It also reports whether a sync would
// allow more.
func (s *Store) deadSegments() (dead []*segment, unsynced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if !seg.sealed || seg.live > 0 || !s.opts.Scratch && !s.covered(seg) {
			continue
		}
		if seg.dead == 0 {
			seg.dead = s.appended
		}
		if seg.dead <= s.settledGroups() || s.opts.Scratch {
			dead = append(dead, seg)
		} else {
			unsynced = true
		}
	}
	return dead, unsynced
}

func (s *Store) forgetSegment(seg *segment) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments = slices.DeleteFunc(s.segments, func(other *segment) bool { return other == seg })
	for shard := range seg.index {
		s.shard(shard).drop(seg)
	}
	s.files.retire(seg.img)
}

// SegmentRun is one segment, or several adjacent ones, to Rewrite.
type SegmentRun struct {
	First, Last uint64 // numbers
	Bytes       int64
	Refs        int64 // references to bodies at the time of writing or the last rewrite
	Live        int64 // references now
}

func (r *SegmentRun) add(seg *segment) {
	if r.Last = seg.number; r.First == 0 {
		r.First = seg.number
	}
	r.Bytes, r.Refs, r.Live = r.Bytes+seg.bytes, r.Refs+seg.refs, r.Live+seg.live
}

// Sparse returns the segments that Rewrite can shrink: sealed, covered by checkpoints, still
// referenced, but with less than the fraction maxLive (0 to 1) of their references left.
func (s *Store) Sparse(maxLive float64) (runs []SegmentRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if seg.sealed && seg.live > 0 && float64(seg.live) < maxLive*float64(seg.refs) && s.covered(seg) {
			var run SegmentRun
			run.add(seg)
			runs = append(runs, run)
		}
	}
	return runs
}

// smallRun is the least number of small segments that Rewrite merges.
const smallRun = 8

// Small returns runs of small segments, sealed and covered by checkpoints, that Rewrite should
// merge into one segment each. Otherwise a queue that keeps a little of every segment would keep a
// file for each. A run has at least smallRun segments, the smallest first, so that a body is copied
// only a few times until its segment is large.
func (s *Store) Small() (runs []SegmentRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for part := int64(256); part >= 16 && runs == nil; part /= 4 {
		var run SegmentRun
		n := 0
		for _, seg := range s.segments { // the last one is not sealed
			if seg.sealed && seg.bytes <= s.opts.SegmentBytes/part && run.Bytes+seg.bytes <= s.opts.SegmentBytes && s.covered(seg) {
				run.add(seg)
				n++
				continue
			}
			if n >= smallRun {
				runs = append(runs, run)
			}
			run, n = SegmentRun{}, 0
		}
	}
	return runs
}
