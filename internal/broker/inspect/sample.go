package inspect

import (
	"maps"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Sample is what a broker holds and has done, queue by queue. Each queue is shown as it was when
// its shard was asked; the shards are asked one after the other.
type Sample struct {
	At      int64          // unix ms
	Queues  []*QueueSample // in no order
	VHosts  []VHostSample  // by name
	Retired queue.Counts   // of deleted queues, by virtual host, which may be deleted, too
}

// QueueSample is a queue at a moment. It is never changed: as long as nothing happens to a queue,
// its samples are the same.
type QueueSample struct {
	ID          uint64 // distinguishes it from later queues with its name
	VHost, Name string
	Counts      queue.Counts

	Ready, Unacked, Scheduled, Blocked int // messages
	Consumers                          int
	ReadyBytes, UnackedBytes           int64      // of bodies
	Memory                             int64      // bytes that its messages take in memory
	OldestSince                        int64      // unix ms since about which its oldest ready message has existed, 0 if none is ready
	HeadTimestamp                      int64      // the property timestamp of the next message, unix seconds, 0: it has none, or is only on disk
	Active                             int64      // unix ms of its last use
	Insists                            bool       // dead letters stay until they have arrived
	DeadLetters                        bool       // it has a dead-letter exchange
	Jobs                               *JobSample // nil: it is not used for jobs
}

// JobSample counts the jobs of a queue at a moment, as jobs.Counts has them.
type JobSample struct{ Queued, Backoff, Locked, Behind, Done int }

// VHostSample is what was published in a virtual host.
type VHostSample struct {
	Name             string
	In, Out, NoRoute uint64       // messages that came to its exchanges, the sum of queues they went to, and messages that went to none; deleted exchanges included
	Retired          queue.Counts // of its deleted queues
	Exchanges        []ExchangeSample
}

// ExchangeSample is what was published to an exchange. Messages that were published directly to a
// queue are in broker.Counts.Direct.
type ExchangeSample struct {
	Name, Type       string
	Bindings         int // whose source it is
	In, Out, NoRoute uint64
}

// Sampler takes samples of a broker. It is for one goroutine at a time.
type Sampler struct {
	b     *broker.Broker
	known map[uint64]*sampled // the queues of the last sample, by ID
	n     uint64              // number of the newest sample
}

// sampled is what a Sampler remembers of a queue.
type sampled struct {
	ages ages
	last *QueueSample
	n    uint64 // number of the newest sample with the queue
}

// NewSampler returns a sampler of b.
func NewSampler(b *broker.Broker) *Sampler { return &Sampler{b: b, known: map[uint64]*sampled{}} }

// Sample reads the counts of all queues and exchanges. It reuses the slices of s if they are large
// enough. Errors: ErrClosed.
func (sm *Sampler) Sample(s *Sample) error {
	s.At, s.Retired = sm.b.Now(), queue.Counts{}
	s.Queues, s.VHosts = s.Queues[:0], s.VHosts[:0]
	place := map[*shard.VHost]int{}
	var queues []*shard.Queue
	for v := range sm.b.AllVHosts() {
		place[v] = len(s.VHosts)
		s.VHosts = append(s.VHosts, sampleVHost(v))
		for q := range v.Queues() {
			queues = append(queues, q)
		}
	}
	// Deleted queues are read first: the counts of a queue that is deleted meanwhile are missing
	// once, but never counted twice.
	err := sm.b.EachRetired(func(v *shard.VHost, counts *queue.Counts) {
		s.Retired.Add(counts)
		if i, ok := place[v]; ok {
			s.VHosts[i].Retired.Add(counts)
		}
	})
	if err != nil {
		return err
	}
	sm.n++
	err = sm.b.AtEach(queues, func(_ int, at shard.Context) { s.Queues = append(s.Queues, sm.sample(at)) })
	maps.DeleteFunc(sm.known, func(_ uint64, k *sampled) bool { return k.n != sm.n })
	return err
}

// sample is the queue now.
func (sm *Sampler) sample(at shard.Context) *QueueSample {
	k := sm.known[at.Queue().ID]
	if k == nil {
		k = &sampled{}
		sm.known[at.Queue().ID] = k
	}
	k.n = sm.n
	if now := sampleQueue(at, &k.ages); k.last == nil || *k.last != now {
		changed := now
		k.last = &changed
	}
	return k.last
}

func sampleQueue(at shard.Context, a *ages) QueueSample {
	q, st, hidden := at.Queue(), at.Deliveries(), at.Hidden()
	return QueueSample{
		ID: q.ID, VHost: q.VHost(), Name: q.Name, Counts: *at.Counts(),
		Ready: st.Ready(), Unacked: st.Unacked(), Scheduled: st.Scheduled() - hidden, Blocked: st.Blocked(),
		Consumers: at.Consumers().Len(), ReadyBytes: st.ReadyBytes(), UnackedBytes: st.UnackedBytes(), Memory: at.Memory(),
		OldestSince: a.oldest(at), HeadTimestamp: headTimestamp(at), Active: at.Active(),
		Insists: q.Policy().Insists(), DeadLetters: q.Policy().DeadLetter, Jobs: sampleJobs(at, hidden),
	}
}

func sampleJobs(at shard.Context, behind int) *JobSample {
	if !at.Content().UsedForJobs() {
		return nil
	}
	st := at.Deliveries()
	return &JobSample{st.Ready() + st.Blocked(), st.Scheduled() - behind, st.Unacked(), behind, at.Content().Jobs.RememberedIDs()}
}

func sampleVHost(v *shard.VHost) VHostSample {
	t := v.Traffic()
	s := VHostSample{Name: v.Name, In: t.In.Load(), Out: t.Out.Load(), NoRoute: t.Unroutable.Load()}
	for x := range v.Table().Exchanges() {
		s.Exchanges = append(s.Exchanges, sampleOf(x))
	}
	return s
}

func sampleOf(x *routing.Exchange) ExchangeSample {
	t := x.Traffic()
	return ExchangeSample{x.Spec.Name, x.Spec.Type, x.BindingCount(), t.In.Load(), t.Out.Load(), t.Unroutable.Load()}
}
