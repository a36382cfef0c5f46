package main

import (
	"context"
	"time"
)

const (
	asksPerSecond = 20 // of each question
	costRounds    = 6  // turns of each of the two brokers
)

// answers sends requests to the API while messages flow.
func answers(ctx context.Context, open func(bool) (*management, error), s settings) (values, error) {
	m, err := open(true)
	if err != nil {
		return nil, err
	}
	e, err := m.settle(ctx, s)
	if err != nil {
		return nil, err
	}
	defer e.idle.stop()
	r, err := e.flow(watchedRate)
	if err != nil {
		return nil, err
	}
	defer r.crew.stop()
	if err := r.crew.wait(ctx, s.duration/warmUpShare); err != nil {
		return nil, err
	}
	questions := []*question{
		{name: "overview", url: m.api + "/api/overview" + pageQuery},
		{name: "queues", url: m.api + firstPage},
		{name: "queues by rate", url: m.api + firstPage + "&sort=message_stats.publish_details.rate&sort_reverse=true"},
		{name: "connections", url: m.api + "/api/connections?page=1&page_size=100"},
		{name: "scrape", url: m.metrics},
	}
	for _, q := range questions {
		q.every = time.Second / asksPerSecond
	}
	stop := askOn(ctx, r.crew, questions)
	o, err := r.measure(ctx, m.broker, s.duration)
	stop()
	if err != nil {
		return nil, err
	}
	v := values{"delivered": o.got, "cpu": o.cpu * o.got / microsPerSecond * 100}
	for _, q := range questions {
		q.percentiles(v)
	}
	v["rss"], err = m.residentMB()
	return v, err
}

// watching lets a load take turns on two brokers, one of which is watched and sampled while the
// other is not.
func watching(ctx context.Context, open func(bool) (*management, error), s settings) (values, error) {
	var estates [2]*estate // without, with
	for i := range estates {
		m, err := open(i == 1)
		if err != nil {
			return nil, err
		}
		if estates[i], err = m.settle(ctx, s); err != nil {
			return nil, err
		}
		defer estates[i].idle.stop()
	}
	var rates, costs [2][]float64
	for round := range costRounds {
		for turn := range 2 {
			i := (round + turn) % 2 // the order alternates: a machine that slows down must not count as a cost
			o, err := estates[i].turn(ctx, s)
			if err != nil {
				return nil, err
			}
			rates[i], costs[i] = append(rates[i], o.got), append(costs[i], o.cpu)
		}
	}
	return values{
		"without": median(rates[0]), "with": median(rates[1]), "cost": lost(rates[0], rates[1]), "cpu": -lost(costs[0], costs[1]),
	}, nil
}

// turn runs the load at full speed. Meanwhile a watched broker gets the requests of a page three
// times and is scraped once.
func (e *estate) turn(ctx context.Context, s settings) (outcome, error) {
	r, err := e.flow(0)
	if err != nil {
		return outcome{}, err
	}
	defer r.crew.stop()
	if e.m.api != "" {
		page, scrape := s.duration/3, s.duration
		defer askOn(ctx, r.crew, []*question{
			{url: e.m.api + "/api/overview" + pageQuery, every: page}, {url: e.m.api + "/api/nodes", every: page},
			{url: e.m.api + firstPage, every: page}, {url: e.m.metrics, every: scrape},
		})()
	}
	return r.measure(ctx, e.m.broker, s.duration)
}

// lost returns by how many percent after is less than before, as the median of the rounds.
func lost(before, after []float64) float64 {
	var shares []float64
	for i := range before {
		shares = append(shares, 100*(1-after[i]/before[i]))
	}
	return median(shares)
}

func managementCases() []benchCase { return append(watchedCases(), httpCases()...) }

func watchedCases() []benchCase {
	p99 := limit(50)
	asked := []metric{{name: "delivered", unit: "msg/s", more: true, bar: limit(0.99 * watchedRate)}}
	for _, q := range []struct {
		name string
		bar  bar
	}{{"overview", p99}, {"queues", p99}, {"queues by rate", bar{}}, {"connections", bar{}}, {"scrape", bar{}}} {
		asked = append(asked, metric{name: q.name + " p50", unit: "ms"}, metric{name: q.name + " p99", unit: "ms", bar: q.bar})
	}
	return []benchCase{
		{name: "management-answers", title: "10,000 queues, 1,000 connections, 50,000 msg/s persistent with confirms and acks", management: answers,
			metrics: append(asked, metric{name: "cpu", unit: "% of a core"}, metric{name: "rss", unit: "MB"})},
		{name: "management-cost", title: "the same queues and connections at full speed, watched or not", management: watching, oursOnly: true, metrics: []metric{
			{name: "without", unit: "msg/s", more: true}, {name: "with", unit: "msg/s", more: true}, {name: "cost", unit: "%", bar: limit(3)},
			{name: "cpu", unit: "% more"},
		}},
	}
}
