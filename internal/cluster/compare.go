package cluster

import (
	"log/slog"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/statemachine"
)

const (
	// compareRound is the interval between rounds over the parts. compareInterval is the minimum
	// interval between two comparisons of the same part.
	compareRound    = time.Second
	compareInterval = 10 * time.Second
	// compareShare bounds the cost: the interval between comparisons of a part is at least this
	// many times their duration.
	compareShare = 10_000
	// compareLimit is the longest that a comparison may take: it blocks the part on all nodes.
	compareLimit = 100 * time.Millisecond
)

// compared is the state of the comparisons of a part.
type compared struct {
	last uint64    // the entry after which it was compared last
	next time.Time // earliest time of the next comparison
}

// compare has the other nodes compare their state with that of the leader, part by part, until stop
// is closed.
func compare(b *broker.Broker, log *replica.Log, logger *slog.Logger, stop <-chan struct{}) {
	round := time.NewTicker(compareRound)
	defer round.Stop()
	known := map[uint32]*compared{}
	for _, part := range b.Parts() {
		known[part] = &compared{}
	}
	for {
		select {
		case <-stop:
			return
		case <-round.C:
		}
		for part, c := range known {
			begun := time.Now()
			if begun.Before(c.next) {
				continue
			}
			//nolint:errcheck // a closed broker has no sums
			b.Sum(part, c.last, func(sum uint64, at broker.Place) {
				c.last = at.Last
				log.Check(part, [2]uint64{at.Last, at.Definitions}, sum)
			})
			took := time.Since(begun)
			c.next = begun.Add(max(compareInterval, took*compareShare))
			if took > compareLimit {
				logger.Info("cluster: a part of the state is too large to compare between the nodes while this one leads", "part", statemachine.ShardName(part), "took", took)
				delete(known, part)
			}
		}
	}
}
