package store

import (
	"errors"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/storage/wal"
)

const replayBytes = 1 << 20

// Replay calls fn in order for every fact of a shard in entries after the given index; in a replica
// only for committed entries. A fact is its type byte and payload, valid until fn returns. Replay
// stops at the first error of fn and returns it. It returns ErrCorrupt if an entry is missing,
// unless a repair has marked the gap.
func (s *Store) Replay(shard uint32, after uint64, fn func(index uint64, sub uint32, fact []byte) error) error {
	next := after + 1
	for {
		var err error
		if next, err = s.replay(shard, next, fn); !errors.Is(err, errStale) {
			return err
		}
		// A segment was rewritten or cut meanwhile: look up the rest again.
	}
}

// ReplayEnd returns the index up to which Replay goes now.
func (s *Store) ReplayEnd(shard uint32) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replayEnd(shard)
}

// replayEnd is called with mu held.
func (s *Store) replayEnd(shard uint32) uint64 {
	l := s.shards[shard]
	switch {
	case l == nil:
		return 0
	case s.raft == nil:
		return l.written
	case s.raft.ends != nil:
		return s.raft.ends[shard]
	}
	return min(l.written, l.committed)
}

// replay replays the entries from next on and returns the index after the last one replayed.
func (s *Store) replay(shard uint32, next uint64, fn func(uint64, uint32, []byte) error) (uint64, error) {
	s.mu.Lock()
	var spans []span
	last := s.replayEnd(shard)
	if l := s.shards[shard]; l != nil {
		for _, sp := range l.spans {
			if next <= last && sp.last >= next && sp.first <= last {
				spans = append(spans, sp)
			}
		}
	}
	s.mu.Unlock()
	for _, sp := range spans {
		var err error
		if next, err = s.replaySpan(shard, next, min(sp.last, last), max(sp.first, next), fn); err != nil {
			return next, err
		}
	}
	if next <= last {
		return next, fmt.Errorf("store: %w: entries %d to %d of shard %d are missing", ErrCorrupt, next, last, shard)
	}
	return next, nil
}

// replaySpan replays the entries from next to last, all in the segment that holds entry probe. It
// returns the index after the last one replayed.
func (s *Store) replaySpan(shard uint32, next, last, probe uint64, fn func(uint64, uint32, []byte) error) (uint64, error) {
	img, off, end, err := s.find(shard, probe)
	if err != nil {
		return next, err
	}
	w := wal.NewWalker(imageReader{&s.files, img}, img.salt, off, end, replayBytes, false)
	for {
		at := w.Offset()
		h, err := w.Peek()
		if next > last {
			return next, nil
		}
		if err == io.EOF {
			return next, fmt.Errorf("store: %w: entries %d to %d of shard %d are missing before %s offset %d", ErrCorrupt, next, last, shard, img.name, at)
		}
		if err == nil && (h.Shard != shard || h.Index < next) {
			w.Skip(&h)
			continue
		}
		var payload []byte
		if err == nil {
			h, payload, err = w.Frame()
		}
		if err != nil {
			return next, img.damaged(at, err)
		}
		if h.Index != next && h.Flags&wal.Gap == 0 {
			return next, fmt.Errorf("store: %w: entries %d to %d of shard %d are missing before %s offset %d", ErrCorrupt, next, h.Index-1, shard, img.name, at)
		}
		facts := wal.NewFacts(h.Kind, payload)
		for {
			sub, fact, ok := facts.Next()
			if !ok {
				break
			}
			if err := fn(h.Index, sub, fact); err != nil {
				return next, err
			}
		}
		if err := facts.Err(); err != nil {
			return next, img.damaged(at, err)
		}
		next = h.Index + 1
	}
}
