package monitor

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Options configure a Monitor. A zero value means the default in brackets.
type Options struct {
	Every   time.Duration    // between samples [5 s]
	Edge    func() Edge      // returns the state of the protocols [empty]
	Process func() Process   // returns the operating system's view of this process [ReadProcess]
	Now     func() time.Time // [time.Now]
	Log     *slog.Logger     // [slog.Default()]
}

// Monitor samples one broker. Its methods are safe for concurrent use, also before Start and after
// Stop.
type Monitor struct {
	b       *broker.Broker
	o       Options
	started time.Time
	stop    context.CancelFunc
	stopped chan struct{}

	taking   sync.Mutex // held while a sample is taken; before mu
	sampler  *inspect.Sampler
	expected int // approximate number of queues in the next sample
	values   []int64

	mu    sync.RWMutex
	clock *clock          // of all samples
	slow  *clock          // of one sample a minute, for values kept for a day
	since int64           // unix ms of the first sample
	last  *inspect.Sample // the newest; immutable, so it may be read without the lock
	edge  *Edge           // likewise
	proc  *Process        // likewise

	took, tookSlow *latencies // at the intervals of clock and of slow

	queues      map[uint64]*history
	exchanges   map[exchangeID]*history
	vhosts      map[string]*history
	connections map[uint64]*history
	channels    map[ChannelID]*history
	brought     map[string]uint64 // messages published to each virtual host, as of the newest sample
	published   uint64            // messages published to all virtual hosts ever
	total       *history
	churn       *history
	node        *history
	jobs        map[uint64]jobHistory // by id of the queues that are used for jobs, at the interval of slow
}

// exchangeID identifies an exchange.
type exchangeID struct{ vhost, name string }

// New returns a monitor of b. It has no data before Start or Sample.
func New(b *broker.Broker, o Options) *Monitor {
	o.Every = cmp.Or(o.Every, 5*time.Second)
	if o.Edge == nil {
		o.Edge = func() Edge { return Edge{} }
	}
	if o.Process == nil {
		o.Process = ReadProcess
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	m := &Monitor{
		b: b, o: o, sampler: inspect.NewSampler(b), started: o.Now(), stop: func() {}, queues: map[uint64]*history{}, jobs: map[uint64]jobHistory{}, exchanges: map[exchangeID]*history{}, vhosts: map[string]*history{},
		connections: map[uint64]*history{}, channels: map[ChannelID]*history{}, last: &inspect.Sample{}, edge: &Edge{}, proc: &Process{},
		clock: newClock(o.Every, Fine), slow: newClock(max(time.Minute, o.Every), Coarse),
	}
	m.took, m.tookSlow = newLatencies(m.clock), newLatencies(m.slow)
	for h, k := range map[**history]*kind{&m.total: &totalKind, &m.churn: &churnKind, &m.node: &nodeKind} {
		*h = newHistory(k, m.clock)
		(*h).slow = newHistory(k, m.slow)
	}
	return m
}

// Every returns the interval between samples.
func (m *Monitor) Every() time.Duration { return m.o.Every }

// Started returns when the monitor was made, which is when the node was started.
func (m *Monitor) Started() time.Time { return m.started }

// Since returns the time of the first sample in unix ms, or 0 before it.
func (m *Monitor) Since() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.since
}

// Start takes a sample at once, and then one every interval until Stop.
func (m *Monitor) Start() {
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.stopped = stop, make(chan struct{})
	m.Sample()
	go m.run(ctx)
}

// Stop stops sampling. It may be called again, and without Start.
func (m *Monitor) Stop() {
	m.stop()
	if m.stopped != nil {
		<-m.stopped
	}
}

func (m *Monitor) run(ctx context.Context) {
	defer close(m.stopped)
	tick := time.NewTicker(m.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.Sample()
		}
	}
}

// Sample takes one sample. If the broker is closed, it does nothing.
func (m *Monitor) Sample() {
	m.taking.Lock()
	defer m.taking.Unlock()
	before := m.o.Now()
	fresh := &inspect.Sample{Queues: make([]*inspect.QueueSample, 0, m.expected)}
	if err := m.sampler.Sample(fresh); err != nil {
		m.o.Log.Debug("monitor: no sample", "err", err)
		return
	}
	edge := m.o.Edge()
	// The counters were read between before and now. The error of the middle is at most half of
	// that interval.
	now := m.o.Now()
	at := now.Add(before.Sub(now) / 2)
	proc, took := m.o.Process(), m.b.Latencies()
	m.mu.Lock()
	defer m.mu.Unlock()
	since := float64(at.Sub(m.started)) / float64(time.Millisecond)
	m.clock.tick(since, at.UnixMilli())
	m.since = cmp.Or(m.since, at.UnixMilli())
	m.took.add(&took)
	minute := m.slow.isDue(since)
	if minute {
		m.slow.tick(since, at.UnixMilli())
		m.tookSlow.add(&took)
	}
	m.last, m.expected = fresh, len(fresh.Queues)+len(fresh.Queues)/8
	m.edge, m.proc = &edge, &proc
	m.remember()
	if minute {
		m.rememberJobs()
	}
}

// remember adds the newest sample to the histories, and drops those of objects that no longer
// exist.
func (m *Monitor) remember() {
	m.countPublished()
	totals := m.rememberQueues()
	for i := range m.last.VHosts {
		v := &m.last.VHosts[i]
		for j := range v.Exchanges {
			x := &v.Exchanges[j]
			in := x.In
			if x.Name == "" {
				in += totals[v.Name].counts.Direct
			}
			id, values := exchangeID{v.Name, x.Name}, append(m.values[:0], int64(in), int64(x.Out))
			if h := m.exchanges[id]; x.Name == "" {
				h.keep(0, values)
			} else if h.restarted(values) {
				delete(m.exchanges, id)
			}
			remember(m, m.exchanges, id, &exchangeKind, values)
		}
	}
	forget(m, m.exchanges)
	m.rememberEdge(totals)
	m.rememberNode()
}

// countPublished adds the messages published to virtual hosts since the previous sample, including
// hosts deleted since then. If a virtual host was deleted and created again under the same name,
// its counts are reset.
func (m *Monitor) countPublished() {
	brought := make(map[string]uint64, len(m.last.VHosts))
	for i := range m.last.VHosts {
		v := &m.last.VHosts[i]
		before := m.brought[v.Name]
		if v.In < before {
			before = 0
			delete(m.vhosts, v.Name)
			delete(m.exchanges, exchangeID{v.Name, ""})
		}
		brought[v.Name] = v.In
		m.published += v.In - before
	}
	m.brought = brought
}

// sum holds the totals of the queues of a virtual host.
type sum struct {
	counts         queue.Counts
	ready, unacked int
	published      uint64
	channels       ChannelCounts
}

func (m *Monitor) rememberQueues() map[string]*sum {
	totals := map[string]*sum{}
	for i := range m.last.VHosts {
		v := &m.last.VHosts[i]
		totals[v.Name] = &sum{counts: v.Retired, published: v.In, channels: m.edge.GoneIn[v.Name]}
	}
	for i := range m.last.Queues {
		q := m.last.Queues[i]
		if t := totals[q.VHost]; t != nil {
			t.counts.Add(&q.Counts)
			t.ready += q.Ready
			t.unacked += q.Unacked
		}
		m.values = appendLengths(m.values[:0], q.Ready, q.Unacked)
		m.values = appendQueueStats(m.values, q.Counts.Published, &q.Counts)
		m.values = append(m.values, int64(q.Counts.Rejected+q.Counts.PushedOut+q.Counts.TooOften))
		remember(m, m.queues, q.ID, &queueKind, m.values)
	}
	forget(m, m.queues)
	return totals
}

// rememberEdge adds the state of the protocols, and the sums that depend on it.
func (m *Monitor) rememberEdge(totals map[string]*sum) {
	e := m.edge
	for _, c := range e.Connections {
		remember(m, m.connections, c.ID, &connectionKind, append(m.values[:0], int64(c.Received), int64(c.Sent)))
	}
	forget(m, m.connections)
	all := sum{counts: m.last.Retired, published: m.published}
	channels := e.Gone()
	for i := range e.Channels {
		c := &e.Channels[i]
		channels.Add(&c.Counts)
		if t := totals[c.VHost]; t != nil {
			t.channels.Add(&c.Counts)
		}
		values := c.Counts.appendStats(m.values[:0])
		if m.channels[c.ID].restarted(values) {
			delete(m.channels, c.ID)
		}
		remember(m, m.channels, c.ID, &channelKind, values)
	}
	forget(m, m.channels)
	for i := range m.last.Queues {
		q := m.last.Queues[i]
		all.counts.Add(&q.Counts)
		all.ready += q.Ready
		all.unacked += q.Unacked
	}
	for i := range m.last.VHosts {
		v := &m.last.VHosts[i]
		t := totals[v.Name]
		values := t.appendTo(m.values[:0], &t.channels)
		m.vhosts[v.Name].keep(lengths, values)
		remember(m, m.vhosts, v.Name, &vhostKind, values)
	}
	forget(m, m.vhosts)
	m.values = all.appendTo(m.values[:0], &channels)
	m.total.keep(lengths, m.values)
	m.total.add(m.values)
}

// appendTo appends the values of totalKind.
func (s *sum) appendTo(dst []int64, c *ChannelCounts) []int64 {
	dst = appendLengths(dst, s.ready, s.unacked)
	dst = append(dst, int64(c.Confirmed), int64(c.Returned), int64(c.Dropped))
	return appendQueueStats(dst, s.published+s.counts.Direct, &s.counts)
}

// rememberNode adds values of the node as a whole.
func (m *Monitor) rememberNode() {
	e, p, st, res := m.edge, m.proc, m.b.Stats(), m.b.Resources()
	m.values = append(m.values[:0], int64(e.ConnectionsOpened), int64(e.ConnectionsClosed), int64(e.ChannelsOpened), int64(e.ChannelsClosed),
		int64(st.QueuesDeclared), int64(st.QueuesCreated), int64(st.QueuesDeleted))
	m.churn.add(m.values)
	m.values = append(m.values[:0], p.Memory, p.Files, int64(len(e.Connections)), p.Goroutines, res.DiskFree, p.Collections, p.Reclaimed,
		int64(st.Log.Syncs), st.Log.SyncTotal.Milliseconds(), int64(st.Log.Groups), st.Log.Bytes, res.Memory, int64(e.Received), int64(e.Sent))
	m.node.keep(nodeKind.index("recv_oct"), m.values)
	m.node.add(m.values)
}

// remember adds values to the history of an object.
func remember[K comparable](m *Monitor, all map[K]*history, id K, k *kind, values []int64) {
	h := all[id]
	if h == nil {
		h = newHistory(k, m.clock)
		all[id] = h
	}
	h.add(values)
	m.values = values[:0]
}

// forget drops the histories of objects that the newest sample lacks.
func forget[K comparable](m *Monitor, all map[K]*history) {
	for id, h := range all {
		if h.last != m.clock.n {
			delete(all, id)
		}
	}
}
