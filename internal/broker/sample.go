package broker

import (
	"fiveways/internal/core/histogram"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// Sample is what a broker holds and has done, queue by queue. A queue is as it was when its shard
// was asked; the shards are asked one after the other.
type Sample struct {
	At      int64         // unix ms
	Queues  []QueueSample // in no order
	VHosts  []VHostSample // by name
	Retired Counts        // of queues that are gone, with their virtual host or without
}

// QueueSample is a queue at a moment.
type QueueSample struct {
	ID          uint64 // of this queue and no other, also of one of the same name later
	VHost, Name string
	Counts      Counts

	Ready, Unacked, Scheduled, Blocked int // messages
	Consumers                          int
	ReadyBytes, UnackedBytes           int64      // of bodies
	Memory                             int64      // bytes that its messages take in memory
	OldestSince                        int64      // unix ms from which about its oldest ready message has been there, 0 when none is ready
	HeadTimestamp                      int64      // the property timestamp of the next message, unix seconds, 0: it has none, or is only on disk
	Active                             int64      // unix ms when something was last done with it
	Insists                            bool       // dead letters stay until they have arrived
	DeadLetters                        bool       // it has a dead-letter exchange
	Jobs                               *JobSample // nil: it is not used for jobs
}

// JobSample counts the jobs of a queue at a moment, as jobs.Counts has them.
type JobSample struct{ Queued, Backoff, Locked, Behind, Done int }

// VHostSample is what publishers brought to a virtual host.
type VHostSample struct {
	Name             string
	In, Out, NoRoute uint64 // messages that came to its exchanges, queues that they went to in sum, and messages that went to none; gone exchanges too
	Retired          Counts // of its queues that are gone
	Exchanges        []ExchangeSample
}

// ExchangeSample is what publishers brought to an exchange. What came past it, straight into a
// queue, is in Counts.Direct.
type ExchangeSample struct {
	Name, Type       string
	Bindings         int // of which it is the source
	In, Out, NoRoute uint64
}

// sampleStep is how many queues a shard tells of at a time.
const sampleStep = 512

// Sample reads the counts of all queues and exchanges. The slices of s are used again when they are
// large enough. Errors: ErrClosed.
func (b *Broker) Sample(s *Sample) error {
	s.At, s.Retired = b.nowMillis(), Counts{}
	s.Queues, s.VHosts = s.Queues[:0], s.VHosts[:0]
	at := map[*VHost]int{}
	perShard := map[*shard][]*Queue{}
	for _, def := range b.catalog.VHosts() {
		v, table := vhostOf(def), def.Table()
		at[v] = len(s.VHosts)
		s.VHosts = append(s.VHosts, v.sample(table))
		for _, id := range table.Queues() {
			if q, ok := b.queueByID(uint64(id)); ok {
				perShard[q.shard] = append(perShard[q.shard], q)
			}
		}
	}
	for _, sh := range b.shards {
		if err := sh.sample(s, perShard[sh], at); err != nil {
			return err
		}
	}
	return nil
}

// sample appends what the shard has to tell. at says where virtual hosts are in s.
func (sh *shard) sample(s *Sample, queues []*Queue, at map[*VHost]int) error {
	// Those that are gone come first: a queue that goes meanwhile is in no sum for once, and never
	// in one twice.
	err := sh.call(func() {
		for v, counts := range sh.retired {
			s.Retired.Add(counts)
			if i, ok := at[v]; ok {
				s.VHosts[i].Retired.Add(counts)
			}
		}
	})
	for len(queues) > 0 && err == nil {
		step := queues[:min(len(queues), sampleStep)]
		queues = queues[len(step):]
		err = sh.call(func() { s.Queues = sh.sampleQueues(s.Queues, step) })
	}
	return err
}

func (sh *shard) sampleQueues(dst []QueueSample, queues []*Queue) []QueueSample {
	now := sh.b.nowMillis()
	for _, q := range queues {
		if !q.gone {
			dst = append(dst, q.sample(now))
		}
	}
	return dst
}

// sample runs on the shard's goroutine.
func (q *Queue) sample(now int64) QueueSample {
	q.freeProbe()
	behind := q.hidden()
	return QueueSample{
		ID: q.ID, VHost: q.vhost.Name, Name: q.Name, Counts: q.counts,
		Ready: q.state.Ready(), Unacked: q.state.Unacked(), Scheduled: q.state.Scheduled() - behind, Blocked: q.state.Blocked(),
		Consumers: q.consumers.Len(), ReadyBytes: q.state.ReadyBytes(), UnackedBytes: q.state.UnackedBytes(), Memory: q.hot,
		OldestSince: q.oldest(now), HeadTimestamp: q.headTimestamp(), Active: q.active,
		Insists: q.Policy().Insists(), DeadLetters: q.Policy().DeadLetter, Jobs: q.sampleJobs(behind),
	}
}

func (q *Queue) sampleJobs(behind int) *JobSample {
	if !q.content.UsedForJobs() {
		return nil
	}
	st := q.state
	return &JobSample{st.Ready() + st.Blocked(), st.Scheduled() - behind, st.Unacked(), behind, q.content.Jobs.RememberedIDs()}
}

// headTimestamp is the property timestamp of the next message, unix seconds, as far as memory
// tells.
func (q *Queue) headTimestamp() int64 {
	if q.state.Ready() == 0 {
		return 0
	}
	var fronts [4]queue.Handle
	heads := q.state.Fronts(fronts[:0])
	if len(heads) == 0 {
		return 0
	}
	it, status := q.state.Get(heads[0])
	if status == queue.Gone || it.Env == nil {
		return 0
	}
	peek, err := message.PeekProperties(it.Env.Properties())
	if err != nil || !peek.HasTimestamp {
		return 0
	}
	return int64(peek.Timestamp)
}

func (v *VHost) sample(table *routing.Table) VHostSample {
	s := VHostSample{Name: v.Name, In: v.traffic.In.Load(), Out: v.traffic.Out.Load(), NoRoute: v.traffic.Unroutable.Load()}
	for x := range table.Exchanges() {
		t := x.Traffic()
		s.Exchanges = append(s.Exchanges, ExchangeSample{x.Spec.Name, x.Spec.Type, x.BindingCount(), t.In.Load(), t.Out.Load(), t.Unroutable.Load()})
	}
	return s
}

// Latencies are times that the engine takes of its work.
type Latencies struct {
	Queueing histogram.Snapshot // ms from a message's coming in to its first handing out, of some messages of each queue
	Confirm  histogram.Snapshot // ns from the end of the work of a shard for publishes to their being safe, one for each part of the log
	Sync     histogram.Snapshot // ns of an fsync of the log
	Group    histogram.Snapshot // entries that one fsync made safe
}

// Latencies reads the histograms.
func (b *Broker) Latencies() Latencies {
	syncs, groups := b.store.Histograms()
	return Latencies{Queueing: b.waited.Read(), Confirm: b.confirmed.Read(), Sync: syncs, Group: groups}
}
