package amqp

import (
	"io"
	"log/slog"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// bubble starts a broker in memory and returns a function that connects a client by a pipe. It is
// for tests with fake time; everything ends with the test.
func bubble(t *testing.T, o Options) (login func(capabilities ...string) *client) {
	connect := bubbleUp(t, o)
	return func(capabilities ...string) *client {
		c := connect()
		c.login(capabilities...)
		return c
	}
}

// bubbleUp is bubble without the login.
func bubbleUp(t *testing.T, o Options) (connect func() *client) {
	return bubbleOf(t, enginetest.Open(t, vfs.NewMem(), nil), o)
}

// bubbleOf is bubbleUp with a broker, which ends with the test.
func bubbleOf(t *testing.T, b *broker.Broker, o Options) (connect func() *client) {
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	s := New(b, o)
	var clients []*client
	t.Cleanup(func() {
		for _, c := range clients {
			c.nc.Close()
		}
		synctest.Wait()
		enginetest.Close(t, b)
	})
	return func() *client {
		ours, theirs := net.Pipe()
		go newConn(s, theirs, uint64(len(clients))).Serve()
		c := &client{t: t, nc: ours}
		clients = append(clients, c)
		return c
	}
}

const takesCancel = "consumer_cancel_notify"

func (c *client) consume(channel uint16, queue, tag string, args message.Table) {
	c.t.Helper()
	c.call(channel, &amqpwire.BasicConsume{Queue: queue, ConsumerTag: tag, Arguments: args}, &amqpwire.BasicConsumeOk{ConsumerTag: tag})
}

// at checks the time since start with a tolerance of a few ticks.
func at(t *testing.T, start time.Time, want time.Duration, what string) {
	t.Helper()
	if got := time.Since(start); got < want || got > want+3*tick {
		t.Errorf("%s after %v, want %v", what, got, want)
	}
}

// TestConsumerTimeout checks that a slow consumer is cancelled, that another one gets its late
// messages, that it keeps messages that are not late, and that late acks do no harm.
func TestConsumerTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		login := bubble(t, Options{ConsumerTimeout: time.Minute})
		start := time.Now()
		slow, other := login(takesCancel), login(takesCancel)
		slow.open(1)
		slow.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		slow.consume(1, "q", "slow", nil)
		for _, body := range []string{"1", "2", "3"} {
			slow.publish(1, "", "q", false, message.Properties{}, body)
			slow.delivery(1)
		}
		slow.send(1, &amqpwire.BasicAck{DeliveryTag: 2})
		time.Sleep(20 * time.Second)
		slow.publish(1, "", "q", false, message.Properties{}, "4")
		slow.delivery(1)
		other.open(7)
		other.consume(7, "q", "other", nil)

		for _, want := range []string{"1", "3"} {
			m, body := other.delivery(7)
			at(t, start, time.Minute, "redelivery")
			if body != want || !m.Redelivered {
				t.Errorf("got %+v %q, want %q", m, body, want)
			}
		}
		if m := expect[*amqpwire.BasicCancel](slow, 1); m.ConsumerTag != "slow" || !m.NoWait {
			t.Errorf("got %+v", m)
		}
		slow.send(1, &amqpwire.BasicAck{DeliveryTag: 1}) // too late: no effect
		if _, body := other.delivery(7); body != "4" {
			t.Errorf("got %q", body)
		}
		at(t, start, 80*time.Second, "the last redelivery")
		other.send(7, &amqpwire.BasicAck{DeliveryTag: 3, Multiple: true})
		slow.send(1, &amqpwire.BasicNack{DeliveryTag: 4, Multiple: true, Requeue: true}) // the same
		if info := slow.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}); info.MessageCount != 0 || info.ConsumerCount != 1 {
			t.Errorf("got %+v", info)
		}
		slow.send(1, &amqpwire.BasicAck{DeliveryTag: 3}) // covered by the nack
		if got, want := slow.channelClosed(1), "406 PRECONDITION_FAILED - unknown delivery tag 3"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestConsumerTimeoutInTime checks that deliveries settled in time are never late, and that an idle
// connection has no timer.
func TestConsumerTimeoutInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		login := bubble(t, Options{ConsumerTimeout: time.Minute})
		c := login(takesCancel)
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		c.consume(1, "q", "c", nil)
		for tag := range uint64(10) {
			c.publish(1, "", "q", false, message.Properties{}, "m")
			c.delivery(1)
			time.Sleep(59 * time.Second)
			c.send(1, &amqpwire.BasicAck{DeliveryTag: tag + 1})
		}
		if info := c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}); info.MessageCount != 0 || info.ConsumerCount != 1 {
			t.Errorf("got %+v", info)
		}
		time.Sleep(time.Hour)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true})
	})
}

const timedOut = "406 PRECONDITION_FAILED - delivery acknowledgement on channel 2 timed out. Timeout value used: 60000 ms. " +
	"This timeout value can be configured, see consumers doc guide to learn more"

// TestConsumerTimeoutClosesChannel checks that the channel is closed if the client does not
// understand basic.cancel or the server is configured to do so.
func TestConsumerTimeoutClosesChannel(t *testing.T) {
	for name, k := range map[string]struct {
		closes       bool
		capabilities []string
	}{
		"client without the capability": {false, nil},
		"server":                        {true, []string{takesCancel}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				login := bubble(t, Options{ConsumerTimeout: time.Minute, ConsumerTimeoutCloses: k.closes})
				start := time.Now()
				c := login(k.capabilities...)
				c.open(2)
				c.declare(2, amqpwire.QueueDeclare{Queue: "q"})
				c.consume(2, "q", "c", nil)
				c.publish(2, "", "q", false, message.Properties{}, "m")
				c.delivery(2)
				if got := c.channelClosed(2); got != timedOut {
					t.Errorf("got %q", got)
				}
				at(t, start, time.Minute, "the close")
				c.open(2)
				if info := c.declare(2, amqpwire.QueueDeclare{Queue: "q", Passive: true}); info.MessageCount != 1 {
					t.Errorf("got %+v", info)
				}
			})
		})
	}
}

// TestConsumerTimeoutPrecedence checks that the consumer's own timeout comes before that of the
// queue, and that before the server's.
func TestConsumerTimeoutPrecedence(t *testing.T) {
	arg := func(ms int) message.Table { return message.Table{{Name: "x-consumer-timeout", Value: int32(ms)}} }
	for name, k := range map[string]struct {
		server          time.Duration
		queue, consumer message.Table
		want            time.Duration // 0 never
	}{
		"none":                   {},
		"server":                 {server: time.Minute, want: time.Minute},
		"queue, shorter":         {server: time.Minute, queue: arg(100), want: 100 * time.Millisecond},
		"queue, longer":          {server: time.Minute, queue: arg(3_600_000), want: time.Hour},
		"queue alone":            {queue: arg(1), want: time.Millisecond},
		"consumer, longer":       {server: time.Minute, queue: arg(100), consumer: arg(90_000), want: 90 * time.Second},
		"consumer alone":         {consumer: arg(500), want: 500 * time.Millisecond},
		"consumer has all time":  {server: time.Minute, queue: arg(100), consumer: arg(0)},
		"longer than can be set": {consumer: message.Table{{Name: "x-consumer-timeout", Value: int64(1) << 60}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				login := bubble(t, Options{ConsumerTimeout: k.server})
				c := login(takesCancel)
				c.open(1)
				c.declare(1, amqpwire.QueueDeclare{Queue: "q", Arguments: k.queue})
				c.consume(1, "q", "c", k.consumer)
				c.publish(1, "", "q", false, message.Properties{}, "m")
				c.delivery(1)
				start := time.Now()
				if k.want == 0 {
					time.Sleep(48 * time.Hour)
					c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true})
					return
				}
				expect[*amqpwire.BasicCancel](c, 1)
				at(t, start, k.want, "the cancel")
			})
		})
	}
}

func TestConsumerTimeoutArgument(t *testing.T) {
	for v, want := range map[any]string{
		int32(-1): "{value_negative,-1}",
		"long":    `"expected integer, got longstr"`,
	} {
		_, err := consumerTimeout(message.Table{{Name: "x-consumer-timeout", Value: v}}, "queue 'q' in vhost '/'")
		if err == nil || err.Error() != "PRECONDITION_FAILED - invalid arg 'x-consumer-timeout' for queue 'q' in vhost '/': "+want {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// TestConsumerTimeoutByPolicy changes the timeout of a running consumer by a policy: a longer one
// applies to deliveries that are out, and a shorter one at the latest to later deliveries.
func TestConsumerTimeoutByPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Policies = policies.Engine{} })
		c := bubbleOf(t, b, Options{ConsumerTimeout: time.Minute})()
		c.login(takesCancel)
		policy := func(timeout string) {
			t.Helper()
			value := []byte(`{"pattern":"q","definition":{"consumer-timeout":` + timeout + `},"apply-to":"queues","priority":0}`)
			enginetest.Must(t, b.SetParameter(catalog.Parameter{VHost: "/", Component: "policy", Name: "p", Value: value}))
		}
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		c.consume(1, "q", "c", nil)
		c.publish(1, "", "q", false, message.Properties{}, "1")
		c.delivery(1)
		<-time.After(30 * time.Second)
		policy("120000")
		<-time.After(89 * time.Second)
		if info := c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}); info.MessageCount != 0 || info.ConsumerCount != 1 {
			t.Fatalf("the longer timeout does not apply: %+v", info)
		}
		c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
		policy("10000")
		c.publish(1, "", "q", false, message.Properties{}, "2")
		c.delivery(1)
		start := time.Now()
		expect[*amqpwire.BasicCancel](c, 1)
		at(t, start, 10*time.Second, "the cancel")

		policy("60000")
		c.consume(1, "q", "c", nil)
		c.delivery(1)
		c.open(2)
		c.declare(2, amqpwire.QueueDeclare{Queue: "other"})
		c.consume(2, "other", "c", message.Table{{Name: "x-consumer-timeout", Value: int64(20_000)}})
		c.publish(2, "", "other", false, message.Properties{}, "3")
		c.delivery(2)
		start = time.Now()
		policy("15000")
		expect[*amqpwire.BasicCancel](c, 2)
		expect[*amqpwire.BasicCancel](c, 1) // the broker looks at all deliveries when one is late
		at(t, start, 20*time.Second, "the cancels")
	})
}

// TestTimeoutOfGetAndTx checks that a message from basic.get is returned too, without notice, and
// that one settled in an open transaction is not, until a rollback.
func TestTimeoutOfGetAndTx(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		login := bubble(t, Options{ConsumerTimeout: time.Minute})
		c := login()
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		c.call(1, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
		c.open(2)
		for _, body := range []string{"kept", "left"} {
			c.publish(2, "", "q", false, message.Properties{}, body)
		}
		for range 2 {
			c.send(1, &amqpwire.BasicGet{Queue: "q"})
			expect[*amqpwire.BasicGetOk](c, 1)
			c.content()
		}
		c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
		ready := func(want uint32) {
			t.Helper()
			if info := c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}); info.MessageCount != want {
				t.Errorf("%d messages are ready, want %d", info.MessageCount, want)
			}
		}
		time.Sleep(59 * time.Second)
		ready(0)
		time.Sleep(2 * time.Second)
		ready(1)
		c.call(1, &amqpwire.TxRollback{}, &amqpwire.TxRollbackOk{})
		time.Sleep(time.Second)
		ready(2)
	})
}

// TestTimeoutAfterCancel checks that a cancelled consumer's deliveries are timed too, and that a
// new consumer of the same name is a different one.
func TestTimeoutAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		login := bubble(t, Options{ConsumerTimeout: time.Minute})
		c := login(takesCancel)
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		c.consume(1, "q", "c", nil)
		c.publish(1, "", "q", false, message.Properties{}, "m")
		c.delivery(1)
		c.call(1, &amqpwire.BasicCancel{ConsumerTag: "c"}, &amqpwire.BasicCancelOk{ConsumerTag: "c"})
		c.consume(1, "q", "c", nil)
		if m, _ := c.delivery(1); m.DeliveryTag != 2 {
			t.Errorf("got %+v", m)
		}
	})
}

// TestTookBackTwin compares with a set.
func TestTookBackTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b tookBack
		twin := map[uint64]bool{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			tag := rapid.Uint64Range(1, 60).Draw(t, "tag")
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0, 1, 2:
				if !twin[tag] {
					b.add(tag)
					twin[tag] = true
				}
			case 3, 4:
				if got := b.take(tag); got != twin[tag] {
					t.Fatalf("take %d: %v", tag, got)
				}
				delete(twin, tag)
			default:
				b.takeTo(tag)
				for i := range tag + 1 {
					delete(twin, i)
				}
			}
			n := uint64(0)
			for i, r := range b.runs {
				if r.from > r.to || i > 0 && b.runs[i-1].to+1 >= r.from {
					t.Fatalf("runs %v", b.runs)
				}
				n += r.to - r.from + 1
			}
			if n != uint64(len(twin)) {
				t.Fatalf("%v for %v", b.runs, twin)
			}
		}
	})
	var b tookBack
	for tag := range uint64(5 * maxTagRuns) {
		b.add(2 * tag)
	}
	if len(b.runs) != maxTagRuns || !b.take(2*(5*maxTagRuns-1)) || b.take(0) {
		t.Errorf("%d runs", len(b.runs))
	}
}

// TestLateTwin compares which deliveries are late, and when the next will be, with a check of all
// deliveries.
func TestLateTwin(t *testing.T) {
	q := &shard.Queue{}
	rapid.Check(t, func(t *rapid.T) {
		ch := &channel{c: &conn{}}
		ch.c.acks.due = -1 << 62 // no timer here
		limits := map[uint64]int64{}
		limit := func(d *delivery) int64 { return limits[d.tag] }
		var twin []delivery
		now, tag := int64(1)<<32-200, uint64(0) // the 32-bit tick overflows during the test
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			now += int64(rapid.IntRange(0, 3).Draw(t, "ticks"))
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			default:
				tag++
				limits[tag] = rapid.SampledFrom([]int64{5, 30, 100, never}).Draw(t, "limit")
				d := delivery{tag: tag, handle: queue.Handle(tag), queue: q}
				ch.push(d, now, limits[tag])
				d.at = uint32(now)
				twin = append(twin, d)
			case 0:
				if len(twin) > 0 {
					i := rapid.IntRange(0, len(twin)-1).Draw(t, "settled")
					ch.unacked.take(twin[i].tag)
					twin = slices.Delete(twin, i, i+1)
				}
			case 1:
				if n := len(twin) / 2; n > 0 { // a transaction that is rolled back
					taken, _ := ch.unacked.takeTo(nil, twin[n].tag)
					ch.unacked.putBack(taken)
				}
			case 2:
				var want []uint64
				twin = slices.DeleteFunc(twin, func(d delivery) bool {
					late := int64(uint32(now)-d.at) >= limits[d.tag]
					if late {
						want = append(want, d.tag)
					}
					return late
				})
				var got []uint64
				for _, d := range ch.unacked.takeLate(nil, uint32(now), limit) {
					got = append(got, d.tag)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("late %v, want %v", got, want)
				}
			}
			first := int64(never)
			for _, d := range twin {
				first = min(first, limits[d.tag]-int64(uint32(now)-d.at))
			}
			if got := ch.unacked.untilLate(uint32(now), limit); got != first {
				t.Fatalf("the next is late in %d ticks, want %d", got, first)
			}
		}
	})
}
