package metrics

import "fiveways/internal/broker"

// queueFigure is one value of a queue, under RabbitMQ's name or ours.
type queueFigure struct {
	family string // of /metrics/detailed
	name   string
	help   string
	total  bool // it only rises
	value  func(q *broker.QueueSample) float64
	has    func(q *broker.QueueSample) bool // nil: always
}

// The families of queues in /metrics/detailed.
const (
	coarse    = "queue_coarse_metrics"
	rich      = "queue_metrics"
	consumers = "queue_consumer_count"
)

// queueFigures are those that RabbitMQ has, too.
var queueFigures = []queueFigure{
	{coarse, "queue_messages_ready", "Messages that wait for a consumer", false, func(q *broker.QueueSample) float64 { return float64(q.Ready) }, nil},
	{coarse, "queue_messages_unacked", "Messages that were handed out and not settled", false,
		func(q *broker.QueueSample) float64 { return float64(q.Unacked) }, nil},
	{coarse, "queue_messages", "Messages that are ready or unacknowledged", false,
		func(q *broker.QueueSample) float64 { return float64(q.Ready + q.Unacked) }, nil},
	{consumers, "queue_consumers", "Consumers", false, func(q *broker.QueueSample) float64 { return float64(q.Consumers) }, nil},
	{rich, "queue_process_memory_bytes", "Memory that the messages take", false, func(q *broker.QueueSample) float64 { return float64(q.Memory) }, nil},
	{rich, "queue_messages_bytes", "Bytes of the bodies of messages that are ready or unacknowledged", false,
		func(q *broker.QueueSample) float64 { return float64(q.ReadyBytes + q.UnackedBytes) }, nil},
	{rich, "queue_messages_ready_bytes", "Bytes of the bodies of messages that are ready", false,
		func(q *broker.QueueSample) float64 { return float64(q.ReadyBytes) }, nil},
	{rich, "queue_messages_unacked_bytes", "Bytes of the bodies of messages that are unacknowledged", false,
		func(q *broker.QueueSample) float64 { return float64(q.UnackedBytes) }, nil},
	{rich, "queue_messages_published_total", "Messages that came in", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.Published) }, nil},
}

// headTimestamp is told of single queues only, as in RabbitMQ: it has no sum.
var headTimestamp = queueFigure{rich, "queue_head_message_timestamp", "The property timestamp of the first message, in seconds since 1970", false,
	func(q *broker.QueueSample) float64 { return float64(q.HeadTimestamp) }, func(q *broker.QueueSample) bool { return q.HeadTimestamp != 0 }}

// ownFigures are those that RabbitMQ does not have.
var ownFigures = []queueFigure{
	{rich, "queue_messages_scheduled", "Messages whose time has not come", false, func(q *broker.QueueSample) float64 { return float64(q.Scheduled) }, nil},
	{rich, "queue_messages_blocked", "Messages that wait for others to be gone", false, func(q *broker.QueueSample) float64 { return float64(q.Blocked) }, nil},
	{rich, "queue_delivered_total", "Messages that were handed out", true, func(q *broker.QueueSample) float64 { return float64(q.Counts.HandedOut()) }, nil},
	{rich, "queue_redelivered_total", "Messages that were handed out, and not for the first time", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.Redelivered) }, nil},
	{rich, "queue_acked_total", "Messages that were acknowledged", true, func(q *broker.QueueSample) float64 { return float64(q.Counts.Acked) }, nil},
	{rich, "queue_returned_total", "Messages that came back to be delivered again", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.Returned) }, nil},
	{rich, "queue_dead_lettered_total", "Messages that a dead-letter exchange sent on", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.DeadLettered) }, nil},
	{rich, "queue_refused_total", "Messages that did not get in, for the queue was full", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.Refused) }, nil},
	{rich, "queue_duplicates_total", "Messages that did not get in, for their key was remembered", true,
		func(q *broker.QueueSample) float64 { return float64(q.Counts.Duplicates) }, nil},
}

// sumQueues adds queues up.
func sumQueues(out *sink, figures []queueFigure, s *broker.Sample) {
	for _, f := range figures {
		sum := 0.0
		for i := range s.Queues {
			sum += f.value(&s.Queues[i])
		}
		if f.total { // sums do not fall when queues go
			sum += f.value(&broker.QueueSample{Counts: s.Retired})
		}
		f.in(out)(sum)
	}
}

// eachQueue tells of queues one by one. want says of which, nil: of all.
func eachQueue(out *sink, figures []queueFigure, s *broker.Sample, want func(vhost string) bool) {
	for _, f := range figures {
		add := f.in(out, "vhost", "queue")
		for i := range s.Queues {
			q := &s.Queues[i]
			if (want == nil || want(q.VHost)) && (f.has == nil || f.has(q)) {
				add(f.value(q), q.VHost, q.Name)
			}
		}
	}
}

// in is the family of a figure.
func (f *queueFigure) in(out *sink, labels ...string) add {
	if f.total {
		return out.counter(f.name, f.help, labels...)
	}
	return out.gauge(f.name, f.help, labels...)
}

// oldest tells for how long the oldest ready message has waited: of each queue, or without labels of the one that waits longest.
func oldest(out *sink, s *broker.Sample, each bool) {
	const name, help = "queue_oldest_message_age_seconds", "For how long the oldest ready message has been in its queue, as far as the samples tell"
	age := func(q *broker.QueueSample) float64 {
		if q.OldestSince == 0 {
			return 0
		}
		return float64(s.At-q.OldestSince) / 1000
	}
	if each {
		add := out.gauge(name, help, "vhost", "queue")
		for i := range s.Queues {
			add(age(&s.Queues[i]), s.Queues[i].VHost, s.Queues[i].Name)
		}
		return
	}
	most := 0.0
	for i := range s.Queues {
		most = max(most, age(&s.Queues[i]))
	}
	out.gauge(name, help)(most)
}

// deaths are why messages died, in the words of RabbitMQ's metrics.
var deaths = []struct {
	name, help string
	count      func(c *broker.Counts) uint64
}{
	{"expired", "Messages that died since their time was over", func(c *broker.Counts) uint64 { return c.Expired }},
	{"maxlen", "Messages that died since their queue was too long", func(c *broker.Counts) uint64 { return c.PushedOut }},
	{"rejected", "Messages that died since a consumer refused them", func(c *broker.Counts) uint64 { return c.Rejected }},
	{"delivery_limit", "Messages that died since they came back too often", func(c *broker.Counts) uint64 { return c.TooOften }},
}

// queueType is what RabbitMQ calls a queue of a kind that ours are all of.
const queueType = "rabbit_classic_queue"

// died tells of messages that died, by what their queues do with the dead now. Those of queues that are gone count as without a dead-letter exchange.
func died(out *sink, s *broker.Sample) {
	for _, d := range deaths {
		add := out.counter("global_messages_dead_lettered_"+d.name+"_total", d.help, "queue_type", "dead_letter_strategy")
		sums := map[string]uint64{"disabled": d.count(&s.Retired), "at_most_once": 0, "at_least_once": 0}
		for i := range s.Queues {
			sums[strategy(&s.Queues[i])] += d.count(&s.Queues[i].Counts)
		}
		for name, n := range sums {
			add(float64(n), queueType, name)
		}
	}
}

func strategy(q *broker.QueueSample) string {
	switch {
	case q.Insists:
		return "at_least_once"
	case q.DeadLetters:
		return "at_most_once"
	}
	return "disabled"
}
