package monitor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// If the rate is steady, every computed rate equals it, however the times of samples jitter and
// whatever the steps are.
func TestSteadyRates(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n, now := startAt(t)
		id := ChannelID{1, 1}
		for at := *now; now.Sub(at) < 20*time.Minute; {
			count := uint64(now.Sub(at).Seconds() * 2000)
			n.e = Edge{
				Connections: []Connection{{ID: 1, Received: count}}, Received: count,
				Channels: []Channel{{ID: id, VHost: "/", Counts: ChannelCounts{Confirmed: count}}},
			}
			n.m.Sample()
			*now = now.Add(every + time.Duration(rng.IntN(2000)-1000)*time.Millisecond)
			if rng.IntN(20) == 0 { // a missed sample
				*now = now.Add(every)
			}
		}
		counts := &n.e.Channels[0].Counts
		for _, s := range []Span{{time.Minute, every}, {time.Minute, time.Second}, {time.Minute, 7 * time.Second}, {10 * time.Minute, 5 * time.Second}, {10 * time.Minute, 30 * time.Second}} {
			q := Query{s, s, s, s}
			for what, f := range map[string]Figures{
				"connection": n.m.ConnectionStats(1, 0, 0, q), "channel": n.m.ChannelStats(id, counts, q), "vhost": n.m.VHost("/", q).Stats,
				"total": n.m.Total(q).Stats, "node": n.m.Node(q),
			} {
				for _, name := range []string{"recv_oct", "confirm"} {
					if f.Get(name) > 0 {
						requireSteady(t, fmt.Sprintf("seed %d, %s of %s, %v", seed, name, what, s), f, name, 2000)
					}
				}
			}
		}
		n.end()
	}
}

// startAt is start with a clock controlled by the test.
func startAt(t *testing.T) (*node, *time.Time) {
	t.Helper()
	n, now := start(t), time.Now()
	n.m = New(n.b, Options{Edge: func() Edge { return n.e }, Process: func() Process { return Process{} }, Now: func() time.Time { return now }})
	return n, &now
}

// requireSteady fails if a rate of a value, or one computed from its samples, is more than 5 % off.
func requireSteady(t *testing.T, what string, f Figures, name string, want float64) {
	t.Helper()
	check := func(which string, rate float64) {
		if math.Abs(rate-want) > want/20 {
			t.Errorf("%s: %s is %v", what, which, rate)
		}
	}
	for i := range f {
		if f[i].Name != name {
			continue
		}
		d := f[i].Details
		check("rate", d.Rate)
		check("avg_rate", *d.AvgRate)
		if len(d.Samples) < 3 {
			t.Errorf("%s: %d samples", what, len(d.Samples))
		}
		for j := range len(d.Samples) - 1 {
			a, b := d.Samples[j], d.Samples[j+1]
			check(fmt.Sprintf("from sample %d", j), float64(a.Sample-b.Sample)*1000/float64(a.Timestamp-b.Timestamp))
		}
	}
}

// An object created while others exist never has a higher rate than its events since the previous
// sample give.
func TestSteadyFromTheFirst(t *testing.T) {
	n, now := startAt(t)
	defer n.end()
	n.m.Sample()
	began := *now
	for _, after := range []time.Duration{4900, 5900, 5000, 4000, 5300} {
		*now = now.Add(after * time.Millisecond)
		n.e = Edge{Connections: []Connection{{ID: 1, Received: uint64(now.Sub(began).Seconds() * 2000)}}}
		n.m.Sample()
	}
	s := n.m.ConnectionStats(1, 0, 0, Query{Data: Span{time.Minute, every}})[0].Details.Samples
	for i := range len(s) - 1 {
		if got := float64(s[i].Sample-s[i+1].Sample) * 1000 / float64(s[i].Timestamp-s[i+1].Timestamp); got > 2100 {
			t.Errorf("sample %d: %v per second", i, got)
		}
	}
}

// Counters restart when a channel number, or the name of an exchange or a virtual host, is reused.
// Sums never fall.
func TestCountersThatRestart(t *testing.T) {
	n, now := startAt(t)
	defer n.end()
	if _, err := n.b.PutVHost(catalog.VHostSpec{Name: "v"}); err != nil {
		t.Fatal(err)
	}
	id := ChannelID{1, 1}
	n.e.Channels = []Channel{{ID: id, VHost: "v", Counts: ChannelCounts{Confirmed: 100}}}
	own := n.s
	var err error
	if n.s, err = n.b.Operate("v"); err != nil {
		t.Fatal(err)
	}
	n.publish("nowhere", 50)
	n.s.Close()
	n.s = own
	n.m.Sample()

	*now = now.Add(every)
	n.e = Edge{GoneIn: map[string]ChannelCounts{"v": {Confirmed: 100}}, Channels: []Channel{{ID: id, VHost: "v", Counts: ChannelCounts{Confirmed: 10}}}}
	n.m.Sample()
	if f := n.m.ChannelStats(id, &n.e.Channels[0].Counts, Query{}); rateOf(f, "confirm") < 0 {
		t.Errorf("of the channel %+v", f)
	}
	if f := n.m.VHost("v", Query{}).Stats; f.Get("confirm") != 110 || rateOf(f, "confirm") != 2 {
		t.Errorf("of the virtual host %+v", f)
	}

	// While it is being closed, a channel is in neither sum: not open any more, and not yet in
	// GoneIn.
	*now = now.Add(every)
	n.e.Channels = nil
	n.m.Sample()
	for what, f := range map[string]Figures{"vhost": n.m.VHost("v", Query{}).Stats, "total": n.m.Total(Query{}).Stats} {
		if f.Get("confirm") != 110 || rateOf(f, "confirm") != 0 {
			t.Errorf("%s: %+v", what, f)
		}
	}

	*now = now.Add(every)
	if err := n.b.DeleteVHost("v"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.PutVHost(catalog.VHostSpec{Name: "v"}); err != nil {
		t.Fatal(err)
	}
	n.m.Sample()
	if f := n.m.VHost("v", Query{}).Stats; f.Get("publish") != 0 || rateOf(f, "publish") < 0 {
		t.Errorf("of the new virtual host %+v", f)
	}
	if f := n.m.ExchangeStats("v", "", 0, 0, Query{}); f != nil && rateOf(f, "publish_in") < 0 {
		t.Errorf("of its exchange %+v", f)
	}
	if f := n.m.Total(Query{}).Stats; f.Get("publish") != 50 || rateOf(f, "publish") != 0 {
		t.Errorf("of all %+v", f)
	}
}
