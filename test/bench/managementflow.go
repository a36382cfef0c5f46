package main

import (
	"context"
	"fmt"
	"time"
)

// The node that is watched. A tenth of the queues is busy, and most connections do nothing.
const (
	watchedQueues      = 10_000
	watchedConnections = 1_000
	watchedRate        = 50_000 // messages per second
	busyShare          = 10
	flowPairs          = 4 // publishers, and as many consumers
)

// estate is a broker with many queues and idle connections.
type estate struct {
	m     *management
	busy  int64 // queues per pair
	idle  *crew
	total int64 // connections while a flow is on
}

// settle declares the queues and opens the connections. The caller ends the idle ones.
func (m *management) settle(ctx context.Context, s settings) (*estate, error) {
	n := s.scaled(watchedQueues, askers*asksPerWrite)
	e := &estate{m: m, busy: max(1, n/busyShare/flowPairs), idle: newCrew(), total: s.scaled(watchedConnections, 1)}
	_, err := askAll(ctx, m.broker, n, queueDeclare, queueDeclareOK, func(i int64) []byte { return queueDeclareArgs(flowQueue(i), true, false) })
	for i := int64(2 * flowPairs); i < e.total && err == nil; i++ {
		_, err = e.idle.dial(m.addr)
	}
	if err != nil {
		e.idle.stop()
		return nil, err
	}
	return e, nil
}

func flowQueue(i int64) string { return fmt.Sprintf("queue-%05d", i) }

// flow starts publishers and consumers, with acks and confirms. perSecond is the rate of all
// publishers together; 0 means as fast as the broker takes messages. The caller stops the crew.
func (e *estate) flow(perSecond float64) (*running, error) {
	r := &running{crew: newCrew()}
	for pair := range int64(flowPairs) {
		if err := e.join(r, pair, perSecond/flowPairs); err != nil {
			r.crew.stop()
			return nil, err
		}
	}
	return r, nil
}

// join adds a consumer of its own queues, and a publisher to them in turn.
func (e *estate) join(r *running, pair int64, perSecond float64) error {
	in, err := r.crew.dial(e.m.addr)
	if err != nil {
		return err
	}
	c := &consumer{conn: in, prefetch: usualPrefetch, ackEvery: usualAckEvery}
	p := &publisher{perBurst: e.busy, window: max(usualWindow, 2*e.busy)}
	for i := range e.busy {
		name := flowQueue(pair*e.busy + i)
		c.queues = append(c.queues, name)
		p.burst = appendPublish(p.burst, "", name, 100, true)
	}
	if perSecond > 0 {
		p.vary = paced(perSecond, e.busy)
	}
	if err := c.start(r.crew); err != nil {
		return err
	}
	if p.conn, err = r.crew.dial(e.m.addr); err != nil {
		return err
	}
	r.cons, r.pubs = append(r.cons, c), append(r.pubs, p)
	return p.start(r.crew)
}

// paced returns a function that waits until the next burst is due. A broker that stalls gets the
// missed bursts as soon as it continues.
func paced(perSecond float64, burst int64) func() {
	begin, n := time.Now(), int64(0)
	return func() {
		pause(time.Until(begin.Add(time.Duration(float64(n*burst) / perSecond * float64(time.Second)))))
		n++
	}
}
