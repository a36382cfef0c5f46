package stream

import (
	"math"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Excess returns the handle of the first entry that a stream keeps, or 0 if it keeps all. It keeps
// the last entry, and otherwise at most maxBytes of bodies (below 0: any number) and only entries
// that are at most maxAge (ms, 0: any) old at now (Unix ms). messages are those of its queue.
func (s *Stream) Excess(messages *queue.Deliveries, maxBytes, maxAge, now int64) (before queue.Handle) {
	first, last, ok := s.Handles()
	if !ok {
		return 0
	}
	if from := uint64(max(now-maxAge, 0)); maxAge > 0 && s.FirstEntry().Ms < from {
		before = last + 1
		s.Ascend(ID{Ms: from}, func(_ ID, h queue.Handle) bool {
			before = h
			return false
		})
	}
	over := messages.ReadyBytes() + messages.UnackedBytes() - maxBytes
	if maxBytes < 0 || over <= 0 {
		return before
	}
	messages.Each(first, func(it *queue.Item, _ queue.Status) bool {
		if over <= 0 || it.Handle == last {
			return false
		}
		over -= int64(it.Size)
		before = max(before, it.Handle+1)
		return true
	})
	return before
}

// NextPast returns when the first entry becomes older than maxAge (ms; 0: never), in Unix ms;
// math.MaxInt64 if there is none, or if that is too far in the future.
func (s *Stream) NextPast(maxAge int64) int64 {
	first := s.FirstEntry().Ms
	if maxAge == 0 || s.index.n == 0 || first > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return int64(first) + maxAge + 1
}
