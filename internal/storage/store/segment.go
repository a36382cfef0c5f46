package store

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// segment is one file of the log. All fields are guarded by Store.mu.
type segment struct {
	number  uint64
	img     *image
	index   wal.Index
	planned int64 // offset after the last appended frame
	written int64 // offset after the last frame handed to the kernel
	bytes   int64 // of the file, footer included once sealed
	sealed  bool

	refs int64  // references to bodies at the time of writing
	live int64  // references now
	dead uint64 // Store.appended when Forget first saw live at 0; 0 before
}

// shardLog is the store's index of one shard. All fields are guarded by Store.mu.
type shardLog struct {
	id         uint32
	last       uint64 // highest index appended or found
	written    uint64 // highest index handed to the kernel
	durable    uint64 // highest index known to survive a power failure
	committed  uint64 // highest index known to be committed, in a replica
	checkpoint uint64 // index of the newest checkpoint known to be intact
	newest     uint64 // index of the newest checkpoint file, by its name
	spans      []span // ascending
	hit        int    // span of the last lookup
}

// span is the part of a shard's log in one segment.
type span struct {
	first, last uint64
	seg         *segment
}

// shard returns the log of a shard, which it adds if needed. Called with mu held.
func (s *Store) shard(id uint32) *shardLog {
	l := s.shards[id]
	if l == nil {
		l = &shardLog{id: id}
		s.shards[id] = l
	}
	return l
}

// segmentOf returns the segment that holds or held an entry, or nil if it is gone.
func (l *shardLog) segmentOf(index uint64) *segment {
	if l.hit < len(l.spans) {
		if sp := &l.spans[l.hit]; sp.first <= index && index <= sp.last {
			return sp.seg
		}
	}
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].last >= index })
	if i == len(l.spans) || l.spans[i].first > index {
		return nil
	}
	l.hit = i
	return l.spans[i].seg
}

// extend records that seg holds an entry, which follows all others.
func (l *shardLog) extend(seg *segment, index uint64) {
	if n := len(l.spans); n > 0 && l.spans[n-1].seg == seg {
		l.spans[n-1].last = index
	} else {
		l.spans = append(l.spans, span{first: index, last: index, seg: seg})
	}
	l.last = index
}

// drop removes the span of a deleted segment.
func (l *shardLog) drop(seg *segment) {
	kept := l.spans[:0]
	for _, sp := range l.spans {
		if sp.seg != seg {
			kept = append(kept, sp)
		}
	}
	clear(l.spans[len(kept):])
	l.spans, l.hit = kept, 0
}

// merge gives seg the span of old, the segment after it.
func (l *shardLog) merge(seg, old *segment) {
	i := slices.IndexFunc(l.spans, func(sp span) bool { return sp.seg == old })
	l.spans[i].seg, l.hit = seg, 0
	if i > 0 && l.spans[i-1].seg == seg {
		l.spans[i-1].last = l.spans[i].last
		l.spans = slices.Delete(l.spans, i, i+1)
	}
}

// find returns the image that holds an entry, an offset at or before its frame, and the end of the
// readable part.
func (s *Store) find(shard uint32, index uint64) (img *image, off, end int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.shards[shard]
	if l == nil || index > l.last {
		return nil, 0, 0, fmt.Errorf("%w: entry %d of shard %d", ErrNotFound, index, shard)
	}
	if index > l.written {
		return nil, 0, 0, fmt.Errorf("%w: entry %d of shard %d", ErrNotWritten, index, shard)
	}
	seg := l.segmentOf(index)
	if seg != nil {
		if e := seg.index[shard]; e != nil {
			if off, ok := e.Seek(index); ok {
				return seg.img, off, seg.written, nil
			}
		}
	}
	return nil, 0, 0, fmt.Errorf("%w: entry %d of shard %d", ErrNotFound, index, shard)
}

// covered reports whether checkpoints cover all entries of the segment. Called with mu held.
func (s *Store) covered(seg *segment) bool {
	for shard, e := range seg.index {
		if e.Last > s.shard(shard).checkpoint {
			return false
		}
	}
	return true
}

// asRefs clamps a count to the 32 bits of a frame's field. Clamping only makes cleaning less eager.
func asRefs(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }
