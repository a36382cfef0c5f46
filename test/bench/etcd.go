package main

import (
	"context"
	"errors"

	"fiveways.dev/fiveways/internal/bench/etcd"
	"fiveways.dev/fiveways/test/etcdd"
)

// etcdPeer returns the peer of a real etcd. It returns etcdd.ErrNone if there is none.
func etcdPeer() (*peer, error) {
	version, err := etcdd.Version()
	if err != nil {
		return nil, err
	}
	start := func(context.Context, benchCase, settings) (*server, error) {
		e, err := etcdd.Open()
		if err != nil {
			return nil, err
		}
		return &server{name: nameEtcd, urls: map[string]string{"etcd": e.Addr()}, pid: e.PID(), kill: e.Close, destroy: e.Close}, nil
	}
	return &peer{name: nameEtcd, version: version, servers: map[part]starter{partEtcd: start}}, nil
}

// etcdLoads runs loads of fiveways bench etcd one after the other on the same server.
func etcdLoads(ctx context.Context, q *server, s settings, change func(*etcd.Options)) ([]etcd.Load, error) {
	o := etcd.DefaultOptions()
	o.URL, o.PID, o.Duration = q.urls["etcd"], q.pid, s.duration
	change(&o)
	r, err := etcd.Run(ctx, o, nil)
	return r.Loads, err
}

// perEvent returns the server's CPU time per event in µs.
func perEvent(l etcd.Load) float64 { return l.ServerCPU / 100 / l.PerSecond * 1e6 }

// etcdQueue measures put, watch and delete.
func etcdQueue(producers int, consumers int64, inFlight int) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		loads, err := etcdLoads(ctx, q, s, func(o *etcd.Options) {
			o.Producers, o.Consumers, o.InFlight = producers, int(s.scaled(consumers, 1)), inFlight
		})
		if err != nil {
			return nil, err
		}
		l := loads[0]
		return values{
			"rate": l.PerSecond, "p50": l.P50, "p99": l.P99, "put p50": l.PutP50, "fairness": l.Fairness(), "cpu": perEvent(l), "cpu of the client": l.ClientCPU,
		}, nil
	}
}

// etcdWatch measures puts of one key that has many watches.
func etcdWatch(watches int64) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		loads, err := etcdLoads(ctx, q, s, func(o *etcd.Options) { o.Loads, o.Consumers = []string{"watch"}, int(s.scaled(watches, 1)) })
		if err != nil {
			return nil, err
		}
		l := loads[0]
		return values{"rate": l.PerSecond, "p50": l.P50, "cpu": perEvent(l), "cpu of the client": l.ClientCPU}, nil
	}
}

// etcdPut measures puts of ordinary keys, each of which waits for its answer.
func etcdPut(clients int) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		loads, err := etcdLoads(ctx, q, s, func(o *etcd.Options) { o.Loads, o.Producers, o.Plain = []string{"put"}, clients, true })
		if err != nil {
			return nil, err
		}
		l := loads[0]
		return values{"rate": l.PerSecond, "p50": l.P50, "p99": l.P99, "cpu": perEvent(l), "cpu of the client": l.ClientCPU}, nil
	}
}

// etcdKeyCount is the number of keys, of 100 bytes each, in the case of many keys.
const etcdKeyCount = 1_000_000

// etcdKeys measures a server with many keys.
func etcdKeys(ctx context.Context, q *server, s settings) (values, error) {
	names := []string{"range-1", "range-100", "range-10000", "limit-100", "count", "put"}
	loads, err := etcdLoads(ctx, q, s, func(o *etcd.Options) { o.Loads, o.Keys = names, int(s.scaled(etcdKeyCount, 10_000)) })
	if err != nil {
		return nil, err
	}
	if len(loads) != len(names) {
		return nil, errors.New("bench: a load is missing")
	}
	v := values{"rss": float64(loads[0].ServerRSS) / 1e6}
	for n, l := range loads {
		v[names[n]] = l.PerSecond
	}
	return v, nil
}

// etcdCases returns the cases of the etcd API in order.
func etcdCases() []benchCase {
	queue := func(rate, p50, fair bar) []metric {
		return []metric{
			{name: "rate", unit: "messages/s", more: true, bar: rate}, {name: "p50", unit: "ms", bar: p50}, {name: "p99", unit: "ms"},
			{name: "put p50", unit: "ms"}, {name: "fairness", unit: "least/most", more: true, bar: fair}, {name: "cpu", unit: "µs/message"},
			{name: "cpu of the client", unit: "% of a core"},
		}
	}
	watch := []metric{
		{name: "rate", unit: "events/s", more: true, bar: timesRival(1)}, {name: "p50", unit: "ms"}, {name: "cpu", unit: "µs/event"},
		{name: "cpu of the client", unit: "% of a core"},
	}
	put := []metric{
		{name: "rate", unit: "puts/s", more: true}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"}, {name: "cpu", unit: "µs/put"},
		{name: "cpu of the client", unit: "% of a core"},
	}
	same := timesRival(1)
	keys := []metric{
		{name: "rss", unit: "MB", bar: same}, {name: "range-1", unit: "/s", more: true, bar: same}, {name: "range-100", unit: "/s", more: true, bar: same},
		{name: "range-10000", unit: "/s", more: true, bar: same}, {name: "limit-100", unit: "/s", more: true, bar: same},
		{name: "count", unit: "/s", more: true, bar: same}, {name: "put", unit: "/s", more: true},
	}
	return []benchCase{
		{name: "etcd-queue-16", title: "queue: 16 producers, 1 consumer", metrics: queue(timesRival(4), timesRival(4), bar{}), serve: etcdQueue(16, 1, 64), floor: true},
		{name: "etcd-queue-1", title: "queue: 1 producer, 1 consumer", metrics: queue(timesRival(1.5), bar{}, bar{}), serve: etcdQueue(1, 1, 64), floor: true},
		{name: "etcd-queue-1000", title: "queue: 16 producers, 1,000 consumers", metrics: queue(bar{}, bar{}, limit(0.5)), serve: etcdQueue(16, 1000, 1)},
		{name: "etcd-put-1", title: "put of a key, 1 client", metrics: put, serve: etcdPut(1), floor: true},
		{name: "etcd-put-16", title: "put of a key, 16 clients on a connection", metrics: put, serve: etcdPut(16), floor: true},
		{name: "etcd-watch-1", title: "1 key, 16 writers, 1 watch", metrics: watch, serve: etcdWatch(1)},
		{name: "etcd-watch-100", title: "1 key, 16 writers, 100 watches", metrics: watch, serve: etcdWatch(100)},
		{name: "etcd-keys", title: "1,000,000 keys of 100 B", metrics: keys, serve: etcdKeys, once: true},
	}
}
