package monitor

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node is a broker with a monitor and a session with all permissions.
type node struct {
	t *testing.T
	b *broker.Broker
	m *Monitor
	s *broker.Session

	mu sync.Mutex
	e  Edge // guarded by mu while m runs
}

// edge returns the state of the protocols for the monitor.
func (n *node) edge() Edge {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.e
	e.Channels = slices.Clone(e.Channels)
	return e
}

// change changes the state of the protocols.
func (n *node) change(by func(*Edge)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	by(&n.e)
}

func start(t *testing.T) *node {
	t.Helper()
	b := enginetest.Open(t, vfs.NewMem(), nil)
	n := &node{t: t, b: b}
	var err error
	n.m = New(b, Options{Edge: n.edge, Process: func() Process { return Process{Memory: 1 << 20, Files: 7} }})
	if n.s, err = b.Operate("/"); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) end() {
	n.t.Helper()
	n.m.Stop()
	n.s.Close()
	enginetest.Close(n.t, n.b)
}

func (n *node) declare(name string) {
	n.t.Helper()
	if _, err := n.s.DeclareQueue(catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) publish(queue string, count int) {
	n.t.Helper()
	p := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 1}
	props := p.Append(nil)
	peek, err := message.PeekProperties(props)
	if err != nil {
		n.t.Fatal(err)
	}
	for range count {
		targets, err := n.s.Route(nil, []byte(queue), &peek, nil)
		if err != nil {
			n.t.Fatal(err)
		}
		env := append(message.AppendEnvelopeHeader(nil, "", queue, props), "body"...)
		n.s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1})
	}
	n.s.Flush()
}

func (n *node) take(queue string, count int) {
	n.t.Helper()
	for range count {
		d, _, ok, err := n.s.Get(queue, false)
		if err != nil || !ok {
			n.t.Fatal(ok, err)
		}
		n.s.Ack(d.Queue, nil, d.Handle, 1)
	}
	n.s.Flush()
}

func (n *node) status(queue string) *inspect.QueueStatus {
	n.t.Helper()
	st, err := inspect.Queue(n.s, queue)
	if err != nil {
		n.t.Fatal(err)
	}
	return &st
}

// every is the interval between samples.
const every = 5 * time.Second

func rateOf(f Figures, name string) float64 {
	for _, x := range f {
		if x.Name == name {
			return x.Details.Rate
		}
	}
	return -1
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.end()
		n.declare("q")
		n.m.Start()
		if f := n.m.QueueStats(n.status("q"), Query{}); f != nil {
			t.Errorf("a queue that was never used has %v", f)
		}
		n.publish("q", 100)
		n.take("q", 25)
		time.Sleep(every)
		synctest.Wait()
		f := n.m.QueueStats(n.status("q"), Query{})
		if f.Get("publish") != 100 || rateOf(f, "publish") != 20 || f.Get("ack") != 25 || rateOf(f, "ack") != 5 || rateOf(f, "deliver_get") != 5 || rateOf(f, "get") != 5 {
			t.Errorf("statistics %+v", f)
		}
		l := n.m.QueueLengths(n.status("q"), Query{})
		if l.Ready != 75 || l.Messages != 75 || l.Unacked != 0 || l.ReadyDetails.Rate != 15 {
			t.Errorf("lengths %+v", l)
		}
		x := n.m.ExchangeStats("/", "", 0, 0, Query{})
		if x.Get("publish_in") != 100 || rateOf(x, "publish_out") != 20 {
			t.Errorf("exchange %+v", x)
		}
		if f := n.m.ExchangeStats("/", "amq.topic", 0, 0, Query{}); f != nil {
			t.Errorf("an exchange that was never used has %v", f)
		}
		// Values include events since the last sample, but rates do not yet.
		n.publish("q", 1)
		if f := n.m.QueueStats(n.status("q"), Query{}); f.Get("publish") != 101 || rateOf(f, "publish") != 20 {
			t.Errorf("statistics %+v", f)
		}
		time.Sleep(2 * every)
		synctest.Wait()
		if f := n.m.QueueStats(n.status("q"), Query{}); rateOf(f, "publish") != 0 {
			t.Errorf("nothing happens, and the rate is %v", rateOf(f, "publish"))
		}
	})
}

// The rates of many queues are the same as those of each.
func TestQueueRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.end()
		names := []string{"idle", "busy"}
		ids := make([]uint64, len(names)+1) // the last id is of no queue
		for i, name := range names {
			n.declare(name)
			ids[i] = n.status(name).ID
		}
		n.publish("busy", 10)
		n.m.Start()
		n.publish("busy", 25)
		n.take("busy", 5)
		time.Sleep(every)
		synctest.Wait()
		for value, want := range map[string][]any{
			"messages": {0.0, 4.0, 0.0}, "messages_ready": {0.0, 4.0, 0.0}, "message_stats.publish": {nil, 5.0, nil}, "message_stats.ack": {nil, 1.0, nil},
			"message_stats.redeliver": {nil, 0.0, nil}, "publish": {nil, nil, nil}, "message_stats.messages": {nil, nil, nil}, "none": {nil, nil, nil},
		} {
			if got := n.m.QueueRates(value, ids); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", value, got, want)
			}
		}
		if l, f := n.m.QueueLengths(n.status("busy"), Query{}), n.m.QueueStats(n.status("busy"), Query{}); l.MessagesDetails.Rate != 4 || rateOf(f, "publish") != 5 {
			t.Errorf("of one queue: %+v, %+v", l, f)
		}
	})
}

// Sums are kept when queues, connections and channels are removed.
func TestTotals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.end()
		n.declare("q")
		n.declare("gone")
		n.e = Edge{
			Connections: []Connection{{ID: 1, Received: 10, Sent: 20}}, ConnectionsOpened: 3, ConnectionsClosed: 2,
			Channels: []Channel{{ID: ChannelID{1, 1}, VHost: "/", Counts: ChannelCounts{Confirmed: 5, Returned: 1}}},
			GoneIn:   map[string]ChannelCounts{"/": {Confirmed: 2}, "gone": {Dropped: 4}},
		}
		n.publish("q", 3)
		n.publish("gone", 4)
		n.publish("nowhere", 2)
		n.take("gone", 4)
		if err := n.s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: "q"}, Bodies: [][]byte{[]byte("direct")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.s.DeleteQueue("gone", false, false); err != nil {
			t.Fatal(err)
		}
		n.m.Start()
		n.publish("q", 10)
		n.change(func(e *Edge) { e.Channels[0].Counts.Confirmed = 15 })
		time.Sleep(every)
		synctest.Wait()
		for what, sum := range map[string]Sum{"vhost": n.m.VHost("/", Query{}), "total": n.m.Total(Query{})} {
			confirmed := map[string]int64{"vhost": 17, "total": 17}[what]
			if sum.Lengths.Ready != 14 || sum.Lengths.ReadyDetails.Rate != 2 {
				t.Errorf("%s: lengths %+v", what, sum.Lengths)
			}
			if f := sum.Stats; f.Get("publish") != 20 || f.Get("ack") != 4 || f.Get("confirm") != confirmed || rateOf(f, "confirm") != 2 || rateOf(f, "publish") != 2 {
				t.Errorf("%s: %+v", what, f)
			}
		}
		if f := n.m.Churn(Query{}); f.Get("queue_created") != 2 || f.Get("queue_deleted") != 1 || f.Get("connection_created") != 3 || f.Get("connection_closed") != 2 {
			t.Errorf("churn %+v", f)
		}
		if f := n.m.Node(Query{}); f.Get("mem_used") != 1<<20 || f.Get("fd_used") != 7 || f.Get("sockets_used") != 1 {
			t.Errorf("node %+v", f)
		}
		if f := n.m.ConnectionStats(1, 10, 20, Query{}); f.Get("recv_oct") != 10 || len(n.m.connections) != 1 {
			t.Errorf("connection %+v", f)
		}
		c := &n.e.Channels[0]
		if f := n.m.ChannelStats(c.ID, &c.Counts, Query{}); f.Get("confirm") != 15 || rateOf(f, "confirm") != 2 {
			t.Errorf("channel %+v", f)
		}
		if f := n.m.ExchangeStats("/", "", 0, 0, Query{}); f.Get("publish_in") != 20 {
			t.Errorf("what comes to a queue past exchanges is not told: %+v", f)
		}
		n.change(func(e *Edge) { *e = Edge{} })
		time.Sleep(every)
		synctest.Wait()
		if len(n.m.connections)+len(n.m.channels) != 0 || len(n.m.queues) != 1 {
			t.Errorf("%d connections, %d channels and %d queues are remembered", len(n.m.connections), len(n.m.channels), len(n.m.queues))
		}
	})
}

func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.end()
		n.declare("q")
		n.m.Start()
		for range 6 {
			n.publish("q", 10)
			time.Sleep(every)
			synctest.Wait()
		}
		q := ParseQuery(url.Values{"lengths_age": {"20"}, "lengths_incr": {"10"}, "msg_rates_age": {"600"}, "msg_rates_incr": {"5"}})
		l := n.m.QueueLengths(n.status("q"), q)
		now := time.Now().UnixMilli()
		want := []Point{{60, now}, {40, now - 10_000}, {20, now - 20_000}}
		if !reflect.DeepEqual(l.ReadyDetails.Samples, want) || *l.ReadyDetails.Avg != 40 || *l.ReadyDetails.AvgRate != 2 {
			t.Errorf("samples %+v, want %v", l.ReadyDetails, want)
		}
		f := n.m.QueueStats(n.status("q"), q)
		if s := f[0].Details.Samples; len(s) != 13 || s[6] != (Point{0, now - 30_000}) || s[12] != (Point{0, now - 60_000}) {
			t.Errorf("samples %v", s)
		}
		n.declare("new")
		if s := n.m.QueueLengths(n.status("new"), q).ReadyDetails.Samples; !reflect.DeepEqual(s, []Point{{0, now}}) {
			t.Errorf("samples of a queue that was there at none %v", s)
		}
		// A queue is remembered for a minute, and sums for longer.
		time.Sleep(100 * every)
		synctest.Wait()
		if s := n.m.QueueStats(n.status("q"), q)[0].Details.Samples; len(s) != 13 {
			t.Errorf("%d samples of a queue", len(s))
		}
		if s := n.m.Total(q).Stats[0].Details.Samples; len(s) != 121 {
			t.Errorf("%d samples of all", len(s))
		}
		if len(n.m.Node(Query{Node: Span{time.Minute, 5 * time.Second}})[0].Details.Samples) != 13 {
			t.Error("the node's history is not of the length that was asked for")
		}
	})
}

// The ring buffer of a history returns the last samples in order, however often it wrapped around.
func TestHistory(t *testing.T) {
	h := newHistory(&kind{[]string{"a", "b"}, time.Minute}, newClock(time.Minute, Fine))
	for i := 1; i <= 10; i++ {
		h.clock.tick(float64(i), int64(i))
		h.add([]int64{int64(i), int64(-i)})
		if want := min(i, 3); h.len() != want {
			t.Fatalf("%d samples, want %d", h.len(), want)
		}
		for back := range h.len() {
			if h.at(back, 0) != int64(i-back) || h.at(back, 1) != int64(back-i) {
				t.Fatalf("sample %d: %d back is %d, %d", i, back, h.at(back, 0), h.at(back, 1))
			}
		}
	}
	h.clock.tick(11, 11)
	h.clock.tick(12, 12)
	h.add([]int64{12, -12})
	if h.len() != 1 || h.at(0, 0) != 12 {
		t.Errorf("after a gap there are %d samples, the newest %d", h.len(), h.at(0, 0))
	}
}

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]Query{
		"":                                      {},
		"lengths_age=60&lengths_incr=5":         {Lengths: Span{time.Minute, 5 * time.Second}},
		"node_stats_age=60&node_stats_incr=60":  {Node: Span{time.Minute, time.Minute}},
		"data_rates_age=60&data_rates_incr=60":  {Data: Span{time.Minute, time.Minute}},
		"lengths_age=60":                        {},
		"lengths_age=-1&lengths_incr=5":         {},
		"lengths_age=x&lengths_incr=y":          {},
		"lengths_age=999999999&lengths_incr=1":  {}, // more samples than allowed
		"msg_rates_age=60&msg_rates_incr=0":     {},
		"msg_rates_age=3600&msg_rates_incr=5&x": {Messages: Span{time.Hour, 5 * time.Second}},
	} {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := ParseQuery(values); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestFiguresInJSON(t *testing.T) {
	avg := 1.5
	f := Figures{{"publish", 3, Details{Rate: 0.2}}, {"ack", 0, Details{Samples: []Point{{1, 2}}, Avg: &avg, AvgRate: &avg}}}
	b, err := json.Marshal(f)
	want := `{"publish":3,"publish_details":{"rate":0.2},"ack":0,"ack_details":{"rate":0,"samples":[{"sample":1,"timestamp":2}],"avg_rate":1.5,"avg":1.5}}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	object := map[string]any{"name": "q"}
	f.AddTo(object)
	if b, err = json.Marshal(object); err != nil || !strings.Contains(string(b), `"ack":0`) || !strings.Contains(string(b), `"publish_details":{"rate":0.2}`) {
		t.Errorf("%s, %v", b, err)
	}
	if b, err = json.Marshal(Figures{}); err != nil || string(b) != "{}" {
		t.Errorf("%s, %v", b, err)
	}
}

// Latencies of the log cover only the last interval.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.end()
		n.m.Start()
		n.declare("q") // waits for an fsync
		time.Sleep(every)
		synctest.Wait()
		if l := n.m.Latency(); l.Fsync == nil || l.Fsync.P50 > l.Fsync.P99 {
			t.Errorf("latency %+v", l.Fsync)
		}
		time.Sleep(every)
		synctest.Wait()
		if l := n.m.Latency(); l.Fsync != nil || l.Confirm != nil {
			t.Errorf("nothing happened, and it took %+v", l)
		}
	})
}

func TestProcess(t *testing.T) {
	p := ReadProcess()
	if p.Memory <= 0 || p.Goroutines <= 0 || p.Heap <= 0 {
		t.Errorf("process %+v", p)
	}
}

// A monitor keeps its data when its broker is closed.
func TestClosedBroker(t *testing.T) {
	n := start(t)
	n.declare("q")
	n.publish("q", 1)
	n.m.Sample()
	n.s.Close()
	enginetest.Close(t, n.b)
	n.m.Sample()
	n.m.Stop()
	if got := n.m.Total(Query{}).Lengths.Ready; got != 1 {
		t.Errorf("%d messages", got)
	}
	n.m.Read(func(s *inspect.Sample, _ *Edge, p *Process) {
		if len(s.Queues) != 1 || p.Files != 7 {
			t.Error(fmt.Sprint(len(s.Queues), p.Files))
		}
	})
}

// An unused object has no values. Once it is used, its earlier values count as 0.
func TestHistoryBeginsWithUse(t *testing.T) {
	c := newClock(time.Second, time.Minute)
	h := newHistory(&exchangeKind, c)
	for i := range 3 {
		c.tick(float64(1000*i), 0)
		h.add([]int64{0, 0})
	}
	if h.len() != 0 {
		t.Errorf("%d samples of what is not used", h.len())
	}
	c.tick(3000, 0)
	h.add([]int64{0, 5})
	if h.len() != 2 || h.at(0, 1) != 5 || h.at(1, 1) != 0 {
		t.Errorf("%v after the first use", h.values)
	}
}
