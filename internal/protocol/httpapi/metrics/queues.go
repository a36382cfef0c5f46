package metrics

import (
	"iter"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/queue"
)

// queueFigure is one value of a queue, under RabbitMQ's name or ours.
type queueFigure struct {
	family string // its family in /metrics/detailed
	name   string
	help   string
	total  bool // it is a counter
	value  func(q *inspect.QueueSample) float64
	has    func(q *inspect.QueueSample) bool // reports whether a queue has the value; nil: always
}

// Families of queue metrics in /metrics/detailed.
const (
	coarse    = "queue_coarse_metrics"
	rich      = "queue_metrics"
	consumers = "queue_consumer_count"
)

// queueFigures are the values that RabbitMQ has too.
var queueFigures = []queueFigure{
	{coarse, "queue_messages_ready", "Ready messages", false, func(q *inspect.QueueSample) float64 { return float64(q.Ready) }, nil},
	{coarse, "queue_messages_unacked", "Unacknowledged messages", false,
		func(q *inspect.QueueSample) float64 { return float64(q.Unacked) }, nil},
	{coarse, "queue_messages", "Ready and unacknowledged messages", false,
		func(q *inspect.QueueSample) float64 { return float64(q.Ready + q.Unacked) }, nil},
	{consumers, "queue_consumers", "Consumers", false, func(q *inspect.QueueSample) float64 { return float64(q.Consumers) }, nil},
	{rich, "queue_process_memory_bytes", "Memory used by the messages", false, func(q *inspect.QueueSample) float64 { return float64(q.Memory) }, nil},
	{rich, "queue_messages_bytes", "Body bytes of ready and unacknowledged messages", false,
		func(q *inspect.QueueSample) float64 { return float64(q.ReadyBytes + q.UnackedBytes) }, nil},
	{rich, "queue_messages_ready_bytes", "Body bytes of ready messages", false,
		func(q *inspect.QueueSample) float64 { return float64(q.ReadyBytes) }, nil},
	{rich, "queue_messages_unacked_bytes", "Body bytes of unacknowledged messages", false,
		func(q *inspect.QueueSample) float64 { return float64(q.UnackedBytes) }, nil},
	{rich, "queue_messages_published_total", "Messages received", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.Published) }, nil},
}

// headTimestamp is written only for single queues, as in RabbitMQ, because a sum makes no sense.
var headTimestamp = queueFigure{rich, "queue_head_message_timestamp", "The property timestamp of the first message, in seconds since 1970", false,
	func(q *inspect.QueueSample) float64 { return float64(q.HeadTimestamp) }, func(q *inspect.QueueSample) bool { return q.HeadTimestamp != 0 }}

// ownFigures are the values that RabbitMQ does not have.
var ownFigures = []queueFigure{
	{rich, "queue_messages_scheduled", "Scheduled messages", false, func(q *inspect.QueueSample) float64 { return float64(q.Scheduled) }, nil},
	{rich, "queue_messages_blocked", "Messages blocked by others", false, func(q *inspect.QueueSample) float64 { return float64(q.Blocked) }, nil},
	{rich, "queue_delivered_total", "Messages delivered", true, func(q *inspect.QueueSample) float64 { return float64(q.Counts.HandedOut()) }, nil},
	{rich, "queue_redelivered_total", "Messages redelivered", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.Redelivered) }, nil},
	{rich, "queue_acked_total", "Messages acknowledged", true, func(q *inspect.QueueSample) float64 { return float64(q.Counts.Acked) }, nil},
	{rich, "queue_returned_total", "Messages requeued", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.Returned) }, nil},
	{rich, "queue_dead_lettered_total", "Messages dead-lettered to a queue", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.DeadLettered) }, nil},
	{rich, "queue_refused_total", "Messages rejected by a full queue", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.Refused) }, nil},
	{rich, "queue_duplicates_total", "Duplicates dropped", true,
		func(q *inspect.QueueSample) float64 { return float64(q.Counts.Duplicates) }, nil},
}

// sumQueues writes the sums of the values over all queues, in one pass.
func sumQueues(out *sink, figures []queueFigure, s *inspect.Sample) {
	sums := make([]float64, len(figures))
	for i := range s.Queues {
		for k := range figures {
			sums[k] += figures[k].value(s.Queues[i])
		}
	}
	for k, f := range figures {
		if f.total { // counters must not fall when queues are deleted
			sums[k] += f.value(&inspect.QueueSample{Counts: s.Retired})
		}
		f.begin(out).add(sums[k])
	}
}

// eachQueue writes the values of each queue. There may be very many, so rows are generated while
// they are written.
func (l *labelled) eachQueue(out *sink, figures []queueFigure) {
	for _, f := range figures {
		f.begin(out).each = l.rows(f.has, f.value)
	}
}

// labelled holds queues of a sample with their labels, formatted once for all rows.
type labelled struct {
	queues []*inspect.QueueSample
	labels []string
}

// labelQueues labels the queues of the wanted virtual hosts. If want is nil, it labels all queues.
func labelQueues(s *inspect.Sample, want func(vhost string) bool) *labelled {
	l := &labelled{queues: make([]*inspect.QueueSample, 0, len(s.Queues)), labels: make([]string, 0, len(s.Queues))}
	var b []byte
	for i := range s.Queues {
		if q := s.Queues[i]; want == nil || want(q.VHost) {
			b = appendLabels(b[:0], queueLabels, []string{q.VHost, q.Name})
			l.queues, l.labels = append(l.queues, q), append(l.labels, string(b))
		}
	}
	return l
}

// queueLabels are the labels that identify a queue.
var queueLabels = []string{"vhost", "queue"}

// rows yields labels and values of the queues for which has returns true. If has is nil, it yields
// all queues.
func (l *labelled) rows(has func(*inspect.QueueSample) bool, value func(*inspect.QueueSample) float64) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, q := range l.queues {
			if (has == nil || has(q)) && !yield(l.labels[i], value(q)) {
				return
			}
		}
	}
}

// begin adds the family of a figure, without values.
func (f *queueFigure) begin(out *sink) *family {
	kind := "gauge"
	if f.total {
		kind = "counter"
	}
	return out.family(kind, f.name, f.help, nil)
}

// Name and help of the age of the oldest ready message.
const (
	oldestName = "queue_oldest_message_age_seconds"
	oldestHelp = "Age of the oldest ready message, as far as the samples show"
)

// age returns for how many seconds the oldest ready message of a queue has waited.
func age(s *inspect.Sample, q *inspect.QueueSample) float64 {
	if q.OldestSince == 0 {
		return 0
	}
	return float64(s.At-q.OldestSince) / 1000
}

// oldest writes the age of the oldest ready message of all queues.
func oldest(out *sink, s *inspect.Sample) {
	most := 0.0
	for i := range s.Queues {
		most = max(most, age(s, s.Queues[i]))
	}
	out.gauge(oldestName, oldestHelp)(most)
}

// eachOldest writes the age of the oldest ready message of each queue.
func (l *labelled) eachOldest(out *sink, s *inspect.Sample) {
	out.family("gauge", oldestName, oldestHelp, nil).each = l.rows(nil, func(q *inspect.QueueSample) float64 { return age(s, q) })
}

// deaths are the reasons why messages are dead-lettered or dropped, as in RabbitMQ's metrics.
var deaths = []struct {
	name, help string
	count      func(c *queue.Counts) uint64
}{
	{"expired", "Messages dead-lettered because they expired", func(c *queue.Counts) uint64 { return c.Expired }},
	{"maxlen", "Messages dead-lettered because their queue was full", func(c *queue.Counts) uint64 { return c.PushedOut }},
	{"rejected", "Messages dead-lettered because a consumer rejected them", func(c *queue.Counts) uint64 { return c.Rejected }},
	{"delivery_limit", "Messages dead-lettered by the delivery limit", func(c *queue.Counts) uint64 { return c.TooOften }},
}

// queueType is RabbitMQ's name for the type of all our queues.
const queueType = "rabbit_classic_queue"

// Dead-letter strategies, as in RabbitMQ's metrics.
const (
	notAtAll = iota
	atMostOnce
	atLeastOnce
	strategies
)

var strategyNames = [strategies]string{"disabled", "at_most_once", "at_least_once"}

// died writes how many messages died, by the current dead-letter strategy of their queues. Deaths
// in deleted queues count as without a dead-letter exchange.
func died(out *sink, s *inspect.Sample) {
	var sums [strategies]queue.Counts
	sums[notAtAll] = s.Retired
	for i := range s.Queues {
		sums[strategy(s.Queues[i])].Add(&s.Queues[i].Counts)
	}
	for _, d := range deaths {
		add := out.counter("global_messages_dead_lettered_"+d.name+"_total", d.help, "queue_type", "dead_letter_strategy")
		for i, name := range strategyNames {
			add(float64(d.count(&sums[i])), queueType, name)
		}
	}
}

func strategy(q *inspect.QueueSample) int {
	switch {
	case q.Insists:
		return atLeastOnce
	case q.DeadLetters:
		return atMostOnce
	}
	return notAtAll
}
