package protocoltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestSumsUnderLoad: what the parts of a broker's state hash to at any moment of much work is what
// those of a replica do after the same entries. Nodes of a cluster that differ stop.
func TestSumsUnderLoad(t *testing.T) {
	sems, keys := semaphores.New(semaphores.Options{Logger: slog.New(slog.DiscardHandler)}), keyspace.New(keyspace.Options{})
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) {
		o.StateMachines, o.CheckpointBytes, o.SegmentBytes = Machines(sems, keys), 16<<10, 32<<10
	})
	enginetest.Must(t, sems.Start(b))
	enginetest.Must(t, keys.Start(b.StateMachine(statemachine.Keys)))
	enginetest.SumsDuring(t, b, func() {
		var working sync.WaitGroup
		for worker := range 3 {
			working.Go(func() { publishes(t, b, worker) })
			working.Go(func() { enqueues(t, b, sems, worker) })
			working.Go(func() { puts(t, keys, worker) })
		}
		working.Wait()
	})
	keys.Stop()
	sems.Stop()
	enginetest.Close(t, b)
	enginetest.Must(t, keys.Close())
}

const rounds = 300

// publishes has messages in queues of its own on all shards, in some also transactions over them.
func publishes(t *testing.T, b *broker.Broker, worker int) {
	c := enginetest.NewClient(t, b)
	defer c.Close()
	persistent := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}
	c.Queue("jobs", nil)
	for i := range 4 {
		name := fmt.Sprint("q", worker, i)
		c.Queue(name, nil)
		enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "amq.fanout", Destination: name}))
	}
	for i := range rounds {
		queue := fmt.Sprint("q", worker, i%4)
		c.Put(queue, "text", nil)
		c.Send("amq.fanout", "", "to all", persistent, nil)
		_, _, _, err := c.Get(queue, true)
		enginetest.Must(t, err)
		c.MustDo(&jobs.Enqueue{OnQueue: enginetest.On("jobs"), ID: fmt.Append(nil, worker, i), Body: []byte("job")})
		if i%10 == 0 { // it is there for a moment
			c.Queue("short-lived", nil)
			c.Put("short-lived", "text", nil)
			if _, err = c.DeleteQueue("short-lived", false, false); !errors.Is(err, failure.ErrQueueNotFound) {
				enginetest.Must(t, err)
			}
		}
	}
}

func enqueues(t *testing.T, b *broker.Broker, sems *semaphores.Manager, worker int) {
	s, err := b.Operate("/")
	enginetest.Must(t, err)
	defer s.Close()
	key, active := fmt.Sprint("s", worker%2), 10
	enginetest.Must(t, sems.Do(s, &semaphores.Create{Of: semaphores.Of{Key: key}, Settings: semaphores.Settings{Active: &active}}))
	for i := range rounds {
		task := fmt.Sprint(worker, ".", i)
		enqueue := &semaphores.Enqueue{Of: semaphores.Of{Key: key}, Entries: []semaphores.Entry{{Task: task, Priority: float64(i % 7)}}}
		enginetest.Must(t, sems.Do(s, enqueue))
		if i%3 == 0 {
			enginetest.Must(t, sems.Do(s, &semaphores.Release{Of: semaphores.Of{Key: key}, Tasks: []string{task}}))
		}
	}
}

func puts(t *testing.T, keys *keyspace.Store, worker int) {
	for i := range rounds {
		r := &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: fmt.Append(nil, worker, i%10), Value: fmt.Append(nil, i)}}
		if x, err := keys.Propose(context.Background(), r); err != nil || x.Err != nil {
			t.Error(err, x)
		}
	}
}
