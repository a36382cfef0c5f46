package monitor

import (
	"math"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Lengths are numbers of messages. It is meant to be embedded in the form of a queue.
type Lengths struct {
	Messages        int     `json:"messages"`
	MessagesDetails Details `json:"messages_details"`
	Ready           int     `json:"messages_ready"`
	ReadyDetails    Details `json:"messages_ready_details"`
	Unacked         int     `json:"messages_unacknowledged"`
	UnackedDetails  Details `json:"messages_unacknowledged_details"`
}

// QueueLengths returns how many messages a queue has, and how that has changed.
func (m *Monitor) QueueLengths(st *inspect.QueueStatus, q Query) Lengths {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.lengths(m.queues[st.ID], st.Ready, st.Unacked, q)
}

func (m *Monitor) lengths(h *history, ready, unacked int, q Query) Lengths {
	return Lengths{
		Messages: ready + unacked, MessagesDetails: m.details(h, 0, q.Lengths), Ready: ready, ReadyDetails: m.details(h, 1, q.Lengths),
		Unacked: unacked, UnackedDetails: m.details(h, 2, q.Lengths),
	}
}

// QueueStats returns the message_stats of a queue, or nil if all counters are 0.
func (m *Monitor) QueueStats(st *inspect.QueueStatus, q Query) Figures {
	if st.Counts == (queue.Counts{}) {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var room [16]int64
	return m.figures(queueStats, m.queues[st.ID], lengths, appendQueueStats(room[:0], st.Counts.Published, &st.Counts), q.Messages)
}

// QueueRates returns the rates of a value of queues, by their ids: messages, messages_ready,
// messages_unacknowledged, or a counter such as message_stats.publish. Each result is a float64 as
// in [Monitor.QueueLengths] and [Monitor.QueueStats], or nil if these have none. All are of the
// same moment.
func (m *Monitor) QueueRates(value string, ids []uint64) []any {
	name, happened := strings.CutPrefix(value, "message_stats.")
	i := queueKind.index(name)
	rates := make([]any, len(ids))
	if i < 0 || happened != (i >= lengths) {
		return rates
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	for at, id := range ids {
		if h := m.queues[id]; !happened || h.any(lengths) {
			rates[at] = m.rate(h, i)
		}
	}
	return rates
}

// ExchangeStats returns the message_stats of an exchange, or nil if all counters are 0. in and out
// are the current counters.
func (m *Monitor) ExchangeStats(vhost, name string, in, out uint64, q Query) Figures {
	m.mu.RLock()
	defer m.mu.RUnlock()
	h := m.exchanges[exchangeID{vhost, name}]
	if h.len() > 0 { // the history of the default exchange includes more than its own counters
		in = max(in, uint64(h.at(0, 0)))
	}
	if in == 0 && out == 0 {
		return nil
	}
	return m.figures(exchangeKind.names, h, 0, []int64{int64(in), int64(out)}, q.Messages)
}

// ChannelStats returns the message_stats of a channel, or nil if all counters are 0. It leaves out
// values that are 0 except those that RabbitMQ always has.
func (m *Monitor) ChannelStats(id ChannelID, c *ChannelCounts, q Query) Figures {
	if *c == (ChannelCounts{}) {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var room [16]int64
	return m.figures(channelStats, m.channels[id], 0, c.appendStats(room[:0]), q.Messages)
}

// ConnectionStats returns the numbers of bytes received and sent by a connection, as recv_oct and
// send_oct.
func (m *Monitor) ConnectionStats(id, received, sent uint64, q Query) Figures {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.figures(connectionKind.names, m.connections[id], 0, []int64{int64(received), int64(sent)}, q.Data)
}

// Sum is the total of many queues.
type Sum struct {
	Lengths Lengths
	Stats   Figures // message_stats
}

// Add adds another sum. Histories are added up as far back as both reach.
func (s *Sum) Add(o *Sum) {
	if s.Stats == nil {
		*s = *o
		return
	}
	a, b := &s.Lengths, &o.Lengths
	a.Messages += b.Messages
	a.Ready += b.Ready
	a.Unacked += b.Unacked
	a.MessagesDetails.add(&b.MessagesDetails)
	a.ReadyDetails.add(&b.ReadyDetails)
	a.UnackedDetails.add(&b.UnackedDetails)
	for i := range s.Stats {
		s.Stats[i].Value += o.Stats[i].Value
		s.Stats[i].Details.add(&o.Stats[i].Details)
	}
}

// add adds the details of another value, whose samples were taken at the same times.
func (d *Details) add(o *Details) {
	d.Rate = rounded(d.Rate + o.Rate)
	n := min(len(d.Samples), len(o.Samples))
	d.Samples = append([]Point(nil), d.Samples[:n]...)
	for i := range d.Samples {
		d.Samples[i].Sample += o.Samples[i].Sample
	}
	d.average()
}

// VHost returns the sum of a virtual host as of the last sample.
func (m *Monitor) VHost(name string, q Query) Sum {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.sum(m.vhosts[name], vhostStats, q)
}

// Total returns the sum of all virtual hosts as of the last sample.
func (m *Monitor) Total(q Query) Sum {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.sum(m.total, totalStats, q)
}

func (m *Monitor) sum(h *history, names []string, q Query) Sum {
	now := make([]int64, lengths+len(names))
	if h.len() > 0 {
		for i := range now {
			now[i] = h.at(0, i)
		}
	}
	return Sum{m.lengths(h, int(now[1]), int(now[2]), q), m.figures(names, h, lengths, now[lengths:], q.Messages)}
}

// Churn returns how many objects were created and removed, as churn_rates.
func (m *Monitor) Churn(q Query) Figures { return m.newest(churnKind.names, m.churn, q.Messages) }

// Node returns the resource usage of the node.
func (m *Monitor) Node(q Query) Figures { return m.newest(nodeKind.names, m.node, q.Node) }

// SyncTime returns how the mean duration of an fsync has changed. Its samples are in microseconds.
func (m *Monitor) SyncTime(s Span) Details {
	m.mu.RLock()
	defer m.mu.RUnlock()
	total, number := nodeKind.index("io_sync_time"), nodeKind.index("io_sync_count")
	d := Details{}
	if rate := m.rate(m.node, number); rate > 0 {
		d.Rate = rounded(m.rate(m.node, total) / rate)
	}
	if s.Every <= 0 || m.clock.n == 0 {
		return d
	}
	times, counts := m.curve(m.node, total, s), m.curve(m.node, number, s)
	for i := range max(len(times)-1, 0) {
		d.Samples = append(d.Samples, Point{Timestamp: times[i].at})
		if n := counts[i].value - counts[i+1].value; n > 0 {
			d.Samples[i].Sample = int64(math.Round((times[i].value - times[i+1].value) * 1000 / n))
		}
	}
	return d
}

// newest returns the figures of the last sample.
func (m *Monitor) newest(names []string, h *history, s Span) Figures {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := make([]int64, len(names))
	if h.len() > 0 {
		for i := range now {
			now[i] = h.at(0, i)
		}
	}
	return m.figures(names, h, 0, now, s)
}

// figures returns values with their details. The first is value from of the history. The caller
// holds mu.
func (m *Monitor) figures(names []string, h *history, from int, now []int64, s Span) Figures {
	f := make(Figures, len(names))
	for i, name := range names {
		f[i] = Figure{name, now[i], m.details(h, from+i, s)}
	}
	return f
}

// rate returns how fast value i of a history changes, per second. The caller holds mu.
func (m *Monitor) rate(h *history, i int) float64 {
	if h.len() < 2 {
		return 0
	}
	ms := h.clock.time(0) - h.clock.time(1)
	if ms <= 0 {
		return 0
	}
	return rounded(float64(h.at(0, i)-h.at(1, i)) * 1000 / ms)
}

// details returns how value i of a history has changed. The caller holds mu.
func (m *Monitor) details(h *history, i int, s Span) (d Details) {
	d.Rate = m.rate(h, i)
	if s.Every > 0 && m.clock.n > 0 {
		d.Samples = m.samples(h, i, s)
		d.average()
	}
	return d
}

// samples returns the samples of value i of a history, as far back as it may reach. Their number
// does not depend on the age of the object. They are evenly spaced, unlike the samples that were
// taken, so values between two of these are interpolated; otherwise a steady rate would appear to
// jump. The caller holds mu.
func (m *Monitor) samples(h *history, i int, s Span) (out []Point) {
	for _, p := range m.curve(h, i, s) {
		out = append(out, Point{int64(math.Round(p.value)), p.at})
	}
	return out
}

// point is a Point without rounding.
type point struct {
	value float64
	at    int64
}

// curve is samples without rounding. The caller holds mu.
func (m *Monitor) curve(h *history, i int, s Span) (out []point) {
	c := m.clock
	var reach time.Duration // 0 for an object that was created after the last sample
	if h != nil {
		if s.Age > h.reach() && h.slow != nil {
			h = h.slow
		}
		c, reach = h.clock, min(s.Age, h.reach())
	}
	newest, back := c.time(0), 0
	for ago := time.Duration(0); ago <= reach; ago += s.Every {
		at := newest - float64(ago.Milliseconds())
		for back < h.len() && c.time(back) > at {
			back++
		}
		if back == h.len() && back > 0 && back == h.depth { // older samples have been dropped
			return out
		}
		out = append(out, point{c.between(h, i, back, at), c.wall - ago.Milliseconds()})
	}
	return out
}

// between returns value i at a time between the sample back and the one after it.
func (c *clock) between(h *history, i, back int, at float64) float64 {
	v := 0.0 // before its first sample the value of an object is 0
	if back < h.len() {
		v = float64(h.at(back, i))
	}
	if back == 0 || back >= c.n {
		return v
	}
	from, to := c.time(back), c.time(back-1)
	if at <= from || to <= from {
		return v
	}
	return v + (float64(h.at(back-1, i))-v)*(at-from)/(to-from)
}

// average sets the fields that are computed from the samples.
func (d *Details) average() {
	n := len(d.Samples)
	if n == 0 {
		d.Avg, d.AvgRate = nil, nil
		return
	}
	total, rate := 0.0, 0.0
	for _, s := range d.Samples {
		total += float64(s.Sample)
	}
	if n > 1 {
		rate = rounded(float64(d.Samples[0].Sample-d.Samples[n-1].Sample) * 1000 / float64(d.Samples[0].Timestamp-d.Samples[n-1].Timestamp))
	}
	avg := total / float64(n)
	d.Avg, d.AvgRate = &avg, &rate
}

// Read calls fn with the newest sample and the data taken along with it, which fn must not change.
// If there is no sample, it takes one first.
func (m *Monitor) Read(fn func(s *inspect.Sample, e *Edge, p *Process)) {
	m.mu.RLock()
	empty := m.clock.n == 0
	m.mu.RUnlock()
	if empty {
		m.Sample()
	}
	m.mu.RLock()
	s, e, p := m.last, m.edge, m.proc
	m.mu.RUnlock()
	fn(s, e, p)
}
