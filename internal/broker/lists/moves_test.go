package lists

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Moves of many sessions between queues of all shards, waited for, at one moment and in rows,
// beside deliveries that come back and a queue that comes and goes: every message is there once
// afterwards.
func TestMovesLoseNothing(t *testing.T) {
	for seed := range uint64(2) {
		b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Shards = 3; o.SegmentBytes = 64 << 10; o.CheckpointBytes = 16 << 10 })
		c := enginetest.NewClient(t, b)
		const n, queues = 60, 7
		for i := range queues {
			c.Queue(fmt.Sprint("q", i), nil)
		}
		for i := range n {
			c.MustDo(&Push{OnQueue: enginetest.On(fmt.Sprint("q", i%queues)), Bodies: values(fmt.Sprint("m", i))})
		}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(w)))
				s := enginetest.NewClient(t, b)
				defer s.Close()
				name := func() string { return fmt.Sprint("q", rng.IntN(queues)) }
				mv := func() *Move {
					return &Move{OnQueue: enginetest.On(name()), To: name(), FromBack: rng.IntN(2) == 0, ToFront: rng.IntN(2) == 0}
				}
				for range 200 {
					switch rng.IntN(8) {
					case 0, 1:
						if err := s.Do(mv(), mv(), mv()); err != nil {
							t.Error(err)
						}
					case 2, 3:
						if err := s.DoAll(mv(), mv(), mv()); err != nil {
							t.Error(err)
						}
					case 4, 5:
						ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(800))*time.Microsecond)
						if _, err := s.Await(ctx, mv(), mv()); err != nil {
							t.Error(err)
						}
						cancel()
					case 6:
						ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(800))*time.Microsecond)
						p := &Pop{OnQueue: enginetest.On("void"), Max: 1, Create: true}
						if i, err := s.Await(ctx, p); err != nil || i >= 0 && p.Err != nil && !errors.Is(p.Err, failure.ErrQueueNotFound) {
							t.Error(i, err, p.Err)
						}
						cancel()
					case 7:
						if rng.IntN(4) == 0 {
							s.DeleteQueue("void", false, false)
						}
						tx := s.NewTx()
						d, _, ok, err := s.Get(name(), false)
						if err != nil {
							t.Error(err)
						}
						if ok {
							tx.Requeue(d.Queue, nil, d.Handle, 1)
							if err := tx.Commit(); err != nil {
								t.Error(err)
							}
						}
					}
				}
			})
		}
		wg.Wait()
		var all []string
		for i := range queues {
			all = append(all, c.Drain(fmt.Sprint("q", i))...)
		}
		slices.Sort(all)
		if len(all) != n || len(slices.Compact(all)) != n {
			t.Fatalf("seed %d: %d messages: %q", seed, len(all), all)
		}
		c.Close()
		enginetest.Close(t, b)
	}
}
