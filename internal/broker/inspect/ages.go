package inspect

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// ages estimates the age of the oldest ready message of a queue. Messages carry no time of arrival.
// Instead, each sample records which messages had arrived by then. An estimate is too small by at
// most the time between two samples or, for a backlog that grew over many samples, by an eighth of
// its age. The age of messages that existed at the first sample counts from then.
type ages struct {
	points []agePoint // by time
	last   uint64     // Counts.Published at the newest point
	every  int64      // ms from one point to the next
	begun  bool
}

// agePoint records which messages had arrived by a time: all below the end of their priority.
type agePoint struct {
	at   int64 // unix ms
	ends []queue.Handle
}

// agePoints bounds the points of a queue. When it is reached, every second point is dropped, and
// new ones are recorded half as often.
const agePoints = 32

// oldest records a point, and returns the time since which the oldest ready message has existed,
// unix ms; 0 if none is ready. Messages that were put before the head do not count.
func (a *ages) oldest(at shard.Context) int64 {
	published := at.Counts().Published
	if at.Deliveries().Ready() == 0 {
		*a = ages{last: published, begun: true}
		return 0
	}
	if !a.begun || a.last != published {
		a.note(at, published)
	}
	since, first := at.Now(), len(a.points)
	for _, h := range at.Deliveries().Fronts(nil) {
		if h.Priority() > at.Queue().Policy().MaxPriority {
			continue
		}
		i := slices.IndexFunc(a.points, func(p agePoint) bool { return p.has(h) })
		if i >= 0 {
			since, first = min(since, a.points[i].at), min(first, i)
		}
	}
	a.points = slices.Delete(a.points, 0, first)
	return since
}

// note records a point when one is due.
func (a *ages) note(at shard.Context, published uint64) {
	n := len(a.points)
	switch {
	case n > 0 && at.Now()-a.points[n-1].at < a.every:
		return
	case n == agePoints:
		a.points = thinned(a.points)
		a.every = 2 * (at.Now() - a.points[0].at) / agePoints
	case n < agePoints/4:
		a.every /= 2
	}
	a.begun, a.last = true, published
	a.points = append(a.points, agePoint{at.Now(), at.Deliveries().Ends()})
}

// has reports whether the message had arrived by the time of the point.
func (p *agePoint) has(h queue.Handle) bool {
	return slices.ContainsFunc(p.ends, func(end queue.Handle) bool { return end.Priority() == h.Priority() && h < end })
}

// thinned drops every second point, but not the oldest.
func thinned(points []agePoint) []agePoint {
	kept := points[:1]
	for i := 2; i < len(points); i += 2 {
		kept = append(kept, points[i])
	}
	clear(points[len(kept):])
	return kept
}
