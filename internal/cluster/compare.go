package cluster

import (
	"log/slog"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/statemachine"
)

const (
	// compareRound is how often the parts are gone through, compareInterval how often each of them
	// is compared at most.
	compareRound    = time.Second
	compareInterval = 10 * time.Second
	// compareShare bounds what that costs: a part is compared so rarely that it takes this part of
	// the time.
	compareShare = 10_000
	// compareLimit is how long it may take: the part stands still meanwhile, on all nodes.
	compareLimit = 100 * time.Millisecond
)

// compared is what is known of a part of the state.
type compared struct {
	last uint64    // the entry after which it was compared
	next time.Time // when it may be again
}

// compare has the other nodes compare their state with that of a leader, part by part, until stop
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
			//nolint:errcheck // a broker that is closed has no more sums
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
