package amqp

import (
	"math"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// tick is the unit in which the age of deliveries is stored. 32 bits hold 497 days, longer than any
// delivery lasts.
const tick = 10 * time.Millisecond

// maxTimeout bounds the timeout that clients may ask for. It is well below what a tick count can
// hold.
const maxTimeout = 365 * 24 * time.Hour

// never is a time limit that is never reached, in ticks.
const never = math.MaxInt64 / 2

// ticks returns the age in ticks at which a delivery has been unsettled for at least d; the time of
// delivery was rounded down.
func ticks(d time.Duration) int64 {
	if d <= 0 {
		return never
	}
	return int64((min(d, maxTimeout)+tick-1)/tick) + 1
}

// ackTimer fires when a delivery of the connection may have been unsettled for too long. One timer
// serves all deliveries, set for the first that may be late; settling does not touch it.
type ackTimer struct {
	start time.Time
	due   int64         // guarded by output.mu: the tick at which it fires; never if stopped
	timer *time.Timer   // guarded by output.mu
	fired atomic.Bool   // asks the reader to check
	wake  chan struct{} // 1 slot: it fired
}

func (a *ackTimer) init() {
	a.start, a.due, a.wake = time.Now(), never, make(chan struct{}, 1)
}

// now returns the current tick.
func (a *ackTimer) now() int64 { return int64(time.Since(a.start) / tick) }

// arm makes the timer fire at due; the caller holds output.mu.
func (a *ackTimer) arm(c *conn, due int64) {
	a.due = due
	wait := time.Duration(due)*tick - time.Since(a.start)
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, func() {
			a.fired.Store(true)
			c.in.Kick()
			select {
			case a.wake <- struct{}{}:
			default:
			}
		})
		return
	}
	a.timer.Reset(wait)
}

// armNow makes the reader check all deliveries; the caller holds output.mu.
func (a *ackTimer) armNow(c *conn) {
	if now := a.now(); now < a.due {
		a.arm(c, now)
	}
}

// stop stops the timer for good.
func (a *ackTimer) stop(o *output) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.due = math.MinInt64 // no tick is earlier
	if a.timer != nil {
		a.timer.Stop()
	}
}

// timeoutOf returns how long a delivery of the queue may be unsettled; 0 means forever. asked is
// the consumer's own value, -1 if not given.
func (s *Server) timeoutOf(q *shard.Queue, asked time.Duration) time.Duration {
	switch {
	case asked >= 0:
		return asked
	case q.Policy().ConsumerTimeout >= 0:
		return millis(q.Policy().ConsumerTimeout)
	}
	return s.o.ConsumerTimeout
}

func millis(n int64) time.Duration {
	return time.Duration(min(n, maxTimeout.Milliseconds())) * time.Millisecond
}

// consumerTimeout reads x-consumer-timeout of basic.consume; 0 means forever, -1 not given.
func consumerTimeout(args message.Table, rs string) (time.Duration, error) {
	const arg = "x-consumer-timeout"
	v, ok := args.Get(arg)
	if !ok {
		return -1, nil
	}
	var n int64
	if reason := declareargs.Timer(v, &n); reason != "" {
		return -1, invalidArg(arg, rs, reason)
	}
	return millis(n), nil
}

// push adds a delivery that is late once it has been unsettled for limit ticks. The caller holds
// output.mu.
func (ch *channel) push(d delivery, now, limit int64) {
	d.at = uint32(now)
	u := &ch.unacked
	if u.live == 0 || limit < u.shortest {
		u.shortest = limit
	}
	u.push(d)
	if a := &ch.c.acks; now+limit < a.due {
		a.arm(ch.c, now+limit)
	}
}

// limitOf returns the age in ticks at which a delivery is late. A policy may change it while the
// delivery is out.
func (ch *channel) limitOf(d *delivery) int64 {
	if d.consumer != nil {
		return ch.c.srv.limitOf(d.queue, d.consumer.Data.(*consumer).timeout)
	}
	return ch.c.srv.limitOf(d.queue, -1)
}

// limitOf is timeoutOf in ticks.
func (s *Server) limitOf(q *shard.Queue, asked time.Duration) int64 {
	return ticks(s.timeoutOf(q, asked))
}

// endOverdue returns deliveries that have been unsettled for too long, and sets the timer for the
// rest.
func (c *conn) endOverdue() {
	if !c.acks.fired.Swap(false) || c.state != running {
		return
	}
	c.emitSettled()
	for _, ch := range c.channels {
		if !ch.closing {
			ch.endOverdue()
		}
	}
	c.session.Flush()
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	due := int64(never)
	now := c.acks.now()
	for _, ch := range c.channels {
		due = min(due, now+ch.unacked.untilLate(uint32(now), ch.limitOf))
	}
	c.acks.due = never
	if due < never {
		c.acks.arm(c, due)
	}
}

// endOverdue is conn.endOverdue for one channel: it cancels a consumer that was too slow, and
// returns its late deliveries. If the client does not understand basic.cancel, or the options say
// so, it closes the channel instead.
func (ch *channel) endOverdue() {
	c := ch.c
	c.out.mu.Lock()
	late := ch.unacked.takeLate(nil, uint32(c.acks.now()), ch.limitOf)
	c.out.mu.Unlock()
	for _, d := range late {
		if d.consumer == nil || c.peer.cancelNotify && !c.srv.o.ConsumerTimeoutCloses {
			continue
		}
		c.out.mu.Lock()
		ch.unacked.putBack(late)
		c.out.mu.Unlock()
		ch.fail(ch.timeoutFault(d))
		return
	}
	var cancelled []*consumer
	for _, d := range late {
		if d.consumer == nil {
			continue
		}
		if k := d.consumer.Data.(*consumer); ch.dropConsumer(k) {
			k.cancel()
			cancelled = append(cancelled, k)
		}
	}
	c.out.mu.Lock()
	for _, d := range late {
		ch.tookBack.add(d.tag)
	}
	c.out.mu.Unlock()
	for _, d := range late {
		c.gather(comeBack, d)
	}
	c.emitSettled()
	for _, k := range cancelled {
		c.srv.o.Log.Warn("amqp: a consumer is cancelled: a delivery was not settled in time",
			"conn", c.id, "channel", ch.id, "consumer", k.tag, "queue", k.c.Queue.Name)
		ch.reply(&amqpwire.BasicCancel{ConsumerTag: k.tag, NoWait: true})
	}
}

func (ch *channel) timeoutFault(d delivery) *fault {
	t := ch.c.srv.timeoutOf(d.queue, d.consumer.Data.(*consumer).timeout)
	return faultf(amqpcode.PreconditionFailed, "delivery acknowledgement on channel %d timed out. Timeout value used: %d ms. "+
		"This timeout value can be configured, see consumers doc guide to learn more", ch.id, t.Milliseconds())
}

// dropConsumer removes the consumer and reports whether it was there.
func (ch *channel) dropConsumer(k *consumer) bool {
	ch.c.out.mu.Lock()
	defer ch.c.out.mu.Unlock()
	if ch.consumers[k.tag] != k {
		return false
	}
	delete(ch.consumers, k.tag)
	return true
}
