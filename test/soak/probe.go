package soak

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// probeEvery is the interval between messages of the probe. The probe does not wait for answers, so
// a broker that stalls delays all messages that wait meanwhile.
const probeEvery = 10 * time.Millisecond

const probeQueue = "soak.probe"

// probe measures how long persistent messages take from their publish to their confirm and to their
// delivery. Its methods are safe for concurrent use.
type probe struct {
	mu                   sync.Mutex
	confirmed, delivered []time.Duration // since the last take; guarded by mu
}

// take adds the percentiles since the last call to values, if there are any.
func (p *probe) take(values map[string]float64) {
	p.mu.Lock()
	confirmed, delivered := p.confirmed, p.delivered
	p.confirmed, p.delivered = nil, nil
	p.mu.Unlock()
	percentiles(values, confirmed, confirmP50, confirmP99, confirmP999)
	percentiles(values, delivered, deliveryP50, deliveryP99, deliveryP999)
}

// percentiles adds the percentiles of times to values, in milliseconds.
func percentiles(values map[string]float64, times []time.Duration, p50, p99, p999 string) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	for name, permille := range map[string]int{p50: 500, p99: 990, p999: 999} {
		values[name] = float64(times[(len(times)-1)*permille/1000]) / float64(time.Millisecond)
	}
}

func (p *probe) note(to *[]time.Duration, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, took)
}

// run measures until ctx ends.
func (p *probe) run(ctx context.Context, url string) error {
	conn, ch, err := dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := ch.QueueDeclare(probeQueue, true, false, false, false, nil); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	deliveries, err := ch.Consume(probeQueue, "", true, false, false, false, nil)
	if err != nil {
		return err
	}
	began := time.Now()
	go func() {
		for d := range deliveries {
			if len(d.Body) == 8 && !d.Redelivered { // otherwise it was published before a kill
				p.note(&p.delivered, time.Since(began)-time.Duration(binary.BigEndian.Uint64(d.Body)))
			}
		}
	}()
	sent := make(chan time.Duration, 10_000) // of unconfirmed messages
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, cap(sent)))
	go func() {
		for range confirms {
			p.note(&p.confirmed, time.Since(began)-<-sent)
		}
	}()
	return p.publish(ctx, ch, began, sent)
}

// publish publishes at the probe's interval, and sends the time of each publish to sent.
func (p *probe) publish(ctx context.Context, ch *amqp.Channel, began time.Time, sent chan<- time.Duration) error {
	for due := time.Duration(0); ; due += probeEvery {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(began.Add(due))):
		}
		select {
		case sent <- due:
		case <-ctx.Done():
			return nil
		}
		m := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: binary.BigEndian.AppendUint64(nil, uint64(due))}
		if err := ch.PublishWithContext(ctx, "", probeQueue, false, false, m); err != nil {
			return err
		}
	}
}
