package main

import "context"

// values are the results of one run of a case, by metric.
type values map[string]float64

// runner measures one case on a broker started for it.
type runner func(ctx context.Context, b *broker, s settings) (values, error)

// part is the subject of a case. Each part has its own table.
type part string

const (
	partAMQP       part = "amqp"
	partSQL        part = "sql"
	partJobs       part = "jobs"
	partEtcd       part = "etcd"
	partSemaphore  part = "semaphore"
	partManagement part = "management"
	partDisk       part = "disk"
)

// benchCase is one thing to measure. Its metrics are its rows in the table.
type benchCase struct {
	part        part
	name, title string
	metrics     []metric
	oursEnv     []string // environment variables of Fiveways only
	sync        string   // in a case of jobs: when Redis syncs its log
	tools       []string // programs that it needs; it is left out if one is missing
	big         bool     // takes minutes: only with --big, and only on Fiveways
	once        bool     // takes minutes: not repeated
	oursOnly    bool     // the others have no equivalent
	floor       bool     // the null servers can run it too

	// What measures it, depending on the part: one of them is set.
	run        runner           // AMQP
	serve      serverRunner     // SQL, jobs, etcd's API, semaphores
	management managementRunner // the management API
	disk       diskRunner       // the disk alone
}

// throughputMetrics have the bar of every throughput case: 8 times the rate at an eighth of the
// cost.
func throughputMetrics() []metric {
	return []metric{
		{name: "delivered", unit: "msg/s", more: true, bar: timesRival(8)},
		{name: "cpu", unit: "µs/msg", bar: timesRival(8)},
		{name: "rss", unit: "MB"},
	}
}

// latencyMetrics have bars for p50 and p99, as multiples of RabbitMQ's.
func latencyMetrics(p50, p99 float64) []metric {
	return []metric{
		{name: "confirm p50", unit: "ms", bar: timesRival(1 / p50)},
		{name: "confirm p99", unit: "ms", bar: timesRival(1 / p99)},
		{name: "confirm p99.9", unit: "ms"},
		{name: "deliver p50", unit: "ms"},
		{name: "deliver p99", unit: "ms"},
		{name: "cpu", unit: "µs/msg"},
	}
}

func backlogMetrics(fill bar, rss float64) []metric {
	return []metric{
		{name: "fill", unit: "msg/s", more: true, bar: fill},
		{name: "rss", unit: "MB", bar: limit(rss)},
		{name: "restart", unit: "s", bar: limit(5)},
		{name: "rss after", unit: "MB", bar: limit(rss)},
		{name: "drain", unit: "msg/s", more: true},
	}
}

// neighbourMetrics are the metrics of a load with a neighbour. The bar for memory is the default
// memory limit of Fiveways.
func neighbourMetrics() []metric {
	return []metric{
		{name: "alone", unit: "msg/s", more: true},
		{name: "kept", unit: "%", more: true, bar: limit(90)},
		{name: "rss", unit: "MB", bar: limit(512)},
	}
}

// allCases returns the cases in the order in which they run and appear in the table.
func allCases() (all []benchCase) {
	for _, s := range sections {
		for _, c := range s.cases() {
			c.part = s.part
			all = append(all, c)
		}
	}
	return all
}

func amqpCases() []benchCase {
	return []benchCase{
		{name: "throughput-16-noack", title: "16 B transient, no acks", metrics: throughputMetrics(), floor: true,
			run: throughput(load{size: 16, pubs: 1, cons: 1, queues: 1, noAck: true})},
		{name: "throughput-100-acks", title: "100 B transient, acks", metrics: throughputMetrics(), floor: true,
			run: throughput(load{size: 100, pubs: 1, cons: 1, queues: 1, prefetch: usualPrefetch, ackEvery: usualAckEvery})},
		{name: "throughput-100-confirm", title: "100 B persistent, acks, 2000 confirms in flight", metrics: throughputMetrics(), floor: true,
			run: throughput(load{size: 100, pubs: 1, cons: 1, queues: 1, persist: true, window: usualWindow,
				prefetch: usualPrefetch, ackEvery: usualAckEvery})},
		{name: "throughput-1024-confirm", title: "1 KiB persistent, acks, 2000 confirms in flight, 2 publishers, 2 consumers, 2 queues",
			metrics: throughputMetrics(), floor: true,
			run: throughput(load{size: 1024, pubs: 2, cons: 2, queues: 2, persist: true, window: usualWindow,
				prefetch: usualPrefetch, ackEvery: usualAckEvery})},
		{name: "confirm-1", title: "100 B persistent, acks, 1 confirm in flight", floor: true,
			metrics: []metric{{name: "delivered", unit: "msg/s", more: true}, {name: "cpu", unit: "µs/msg"}},
			run:     throughput(load{size: 100, pubs: 1, cons: 1, queues: 1, persist: true, window: 1, prefetch: usualPrefetch, ackEvery: usualAckEvery})},
		{name: "latency", title: "latency at 2,000 msg/s persistent with confirms, default sync", metrics: latencyMetrics(1.5, 3), run: latencies, floor: true},
		{name: "latency-os", title: "latency at 2,000 msg/s persistent with confirms, Fiveways with sync = os", metrics: latencyMetrics(1, 1),
			run: latencies, oursEnv: []string{"FIVEWAYS_SYNC=os"}, floor: true},
		{name: "backlog", title: "backlog of 1,000,000 × 100 B persistent", metrics: backlogMetrics(timesRival(10), 150), run: backlog(1_000_000, backlogSize)},
		{name: "backlog-big", title: "backlog of 10,000,000 × 100 B persistent", metrics: backlogMetrics(bar{}, 350), run: backlog(10_000_000, backlogSize), big: true},
		{name: "size-backlog", title: "backlog of 100,000,000 × 16 B persistent", run: backlog(100_000_000, 16), big: true, metrics: []metric{
			{name: "fill", unit: "msg/s", more: true}, {name: "rss", unit: "MB", bar: limit(300)}, {name: "disk", unit: "MB"},
			{name: "restart", unit: "s", bar: limit(10)}, {name: "rss after", unit: "MB", bar: limit(300)}, {name: "drain", unit: "msg/s", more: true}}},
		{name: "tail", title: "latency at half load beside backups and a backlog of 10,000,000 × 16 B", run: tail(10_000_000, 16), big: true, oursOnly: true, metrics: []metric{
			{name: "load", unit: "msg/s", more: true}, {name: "backups", unit: "", more: true}, {name: "confirm p50", unit: "ms"}, {name: "confirm p99", unit: "ms"},
			{name: "confirm p99.9", unit: "ms"}, {name: "tail", unit: "p99.9/p50", bar: limit(10)}}},
		{name: "size-connections", title: "50,000 idle connections", run: idleConnections(50_000), big: true, metrics: []metric{
			{name: "connects", unit: "1/s", more: true}, {name: "rss", unit: "MB"}}},
		{name: "size-queues", title: "100,000 empty durable queues", run: manyEmptyQueues(100_000), big: true, metrics: []metric{
			{name: "declares", unit: "1/s", more: true}, {name: "rss", unit: "MB"}, {name: "disk", unit: "MB"}, {name: "restart", unit: "s"},
			{name: "rss after", unit: "MB"}, {name: "page p50", unit: "ms"}, {name: "page p99", unit: "ms"}}},
		{name: "size-delayed", title: "1,000,000 delayed messages of 100 B that become due at the same time", run: dueTogether, big: true, metrics: []metric{
			{name: "publish", unit: "msg/s", more: true}, {name: "rss", unit: "MB"}, {name: "disk", unit: "MB"}, {name: "restart", unit: "s"},
			{name: "rss after", unit: "MB"}, {name: "early", unit: ""}, {name: "first", unit: "ms late"}, {name: "last", unit: "ms late"}}},
		{name: "stream", title: "stream of 1,000,000 × 100 B, read by one consumer with a prefetch of 1000", run: stream(1_000_000),
			metrics: []metric{{name: "fill", unit: "msg/s", more: true}, {name: "read", unit: "msg/s", more: true, bar: timesRival(3)}, {name: "rss", unit: "MB"}}},
		{name: "delayed", title: "1,000,000 delayed messages of 100 B pending for up to an hour, beside 10,000 due each second", run: delayed,
			oursOnly: true, metrics: []metric{
				{name: "publish", unit: "msg/s", more: true}, {name: "rss", unit: "MB"}, {name: "late p50", unit: "ms"},
				{name: "late p99", unit: "ms", bar: limit(20)}, {name: "cpu", unit: "µs/msg"}, {name: "rss after", unit: "MB"},
				{name: "lost by kill -9", unit: ""}}},
		{name: "idle-connections", title: "10,000 idle connections", run: idleConnections(10_000), metrics: []metric{
			{name: "connects", unit: "1/s", more: true}, {name: "rss", unit: "MB", bar: limit(250)}}},
		{name: "empty-queues", title: "10,000 empty durable queues", run: emptyQueues(10_000), metrics: []metric{
			{name: "declares", unit: "1/s", more: true, bar: limit(5000)}, {name: "rss", unit: "MB", bar: limit(60)}}},
		{name: "idle", title: "1,000 connections that consume from an empty queue each", run: idle, metrics: []metric{
			{name: "cpu", unit: "% of a core", bar: limit(0.2)}}},
		{name: "topic-bindings", title: "100,000 bindings on a topic exchange", run: topicBindings, metrics: []metric{
			{name: "binds", unit: "1/s", more: true}, {name: "rss", unit: "MB"}, {name: "routing", unit: "µs/msg", bar: limit(2)}}},
		{name: "slow-consumer", title: "others beside a slow consumer", metrics: neighbourMetrics(), run: neighbours(slowConsumer)},
		{name: "stuck-publisher", title: "others beside 50 publishers stuck in a 1 MiB body", metrics: neighbourMetrics(), run: neighbours(stuckPublisher)},
		{name: "never-reading", title: "others beside a consumer that never reads", metrics: neighbourMetrics(), run: neighbours(neverReading)},
		{name: "perftest", title: "PerfTest with its defaults (transient, automatic acks, no limit)", tools: perfTestTools,
			metrics: perfTestMetrics(), run: perfTest()},
		{name: "perftest-confirm", title: "PerfTest `-x 2 -y 2 -c 500 -q 1000 -f persistent`", tools: perfTestTools,
			metrics: perfTestMetrics(), run: perfTest("-x", "2", "-y", "2", "-c", "500", "-q", "1000", "-f", "persistent")},
		{name: "perftest-durable", title: "PerfTest `-x 2 -y 2 -c 500 -q 1000 -f persistent`, one durable queue", tools: perfTestTools,
			metrics: perfTestMetrics(), run: perfTest("-x", "2", "-y", "2", "-c", "500", "-q", "1000", "-f", "persistent", "-u", "perf", "-ad", "false")},
	}
}
