package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const (
	delayedExchange = "bench-delayed"
	delayedQueue    = "bench-due"
	delayedPending  = 1_000_000
	delayedRate     = 10_000 // messages per second that become due
	delayedBurst    = 100    // of them in one write
	delayedSpread   = 5 * time.Second
	dueAfter        = 40 * time.Second
)

// delayed publishes a million messages with random delays of ten minutes to an hour. While they
// wait, other messages become due at a fixed rate, in an order other than that of publishing, and
// their lateness is measured. Then the process is killed, and the waiting messages on disk are
// counted.
func delayed(ctx context.Context, b *broker, s settings) (values, error) {
	n := s.scaled(delayedPending, burstMessages)
	rate, err := fillDelayed(ctx, b, n, func() (time.Duration, int64) { return 10*time.Minute + rand.N(50*time.Minute), 0 })
	if err != nil {
		return nil, err
	}
	out := values{"publish": rate}
	if out["rss"], err = b.residentMB(); err != nil {
		return nil, err
	}
	if err := lateness(ctx, b, s, out); err != nil {
		return nil, err
	}
	if out["rss after"], err = b.residentMB(); err != nil {
		return nil, err
	}
	b.kill()
	<-b.done
	kept, err := scheduledOnDisk(filepath.Join(b.dir, "data"))
	out["lost by kill -9"] = float64(n - kept)
	if kept < n {
		err = fmt.Errorf("bench: %d of %d delayed messages survived a kill", kept, n)
	}
	return out, err
}

// fillDelayed publishes n messages. next returns the delay of each, and the due time to write into
// its body.
func fillDelayed(ctx context.Context, b *broker, n int64, next func() (delay time.Duration, due int64)) (perSecond float64, err error) {
	c := newCrew()
	defer c.stop()
	k, err := c.dial(b.addr)
	if err != nil {
		return 0, err
	}
	if err := declareDelayed(k); err != nil {
		return 0, err
	}
	set, burst := delayedPublishes(burstMessages)
	p := &publisher{conn: k, burst: burst, perBurst: burstMessages, window: usualWindow, limit: n, vary: func() {
		for i := range burstMessages {
			delay, due := next()
			set(i, delay, due)
		}
	}}
	start := time.Now()
	if err := p.start(c); err != nil {
		return 0, err
	}
	err = c.until(ctx, func() bool { return p.confirmed.Load() >= n })
	return float64(n) / time.Since(start).Seconds(), err
}

func declareDelayed(k *conn) error {
	table := append(appendShort(nil, "x-delayed-type"), 'S')
	table = appendLong(table, "fanout")
	args := append(appendShort(appendShort([]byte{0, 0}, delayedExchange), "x-delayed-message"), 2) // durable
	if _, err := k.call(1, exchangeDeclare, appendLong(args, string(table)), exchangeDeclareOK); err != nil {
		return err
	}
	if err := k.declareQueue(delayedQueue, true); err != nil {
		return err
	}
	bind := appendShort(appendShort(appendShort([]byte{0, 0}, delayedQueue), delayedExchange), "")
	_, err := k.call(1, queueBind, append(bind, 0, 0, 0, 0, 0), queueBindOK)
	return err
}

// delayedPublishes encodes n persistent publishes of backlogSize bytes with an x-delay. set sets
// the delay of message i, and writes its due time (ns since 1970) into its body.
func delayedPublishes(n int) (set func(i int, delay time.Duration, due int64), burst []byte) {
	one := appendMethod(nil, 1, basicPublish, append(appendShort(appendShort([]byte{0, 0}, delayedExchange), ""), 0))
	table := append(appendShort(nil, "x-delay"), 'l', 0, 0, 0, 0, 0, 0, 0, 0)
	header := binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, backlogSize)
	header = append(appendLong(append(header, 0x30, 0), string(table)), 2) // headers and delivery mode
	one = appendFrame(one, frameHeader, 1, header)
	delayAt := len(one) - 1 - 1 - 8
	bodyAt := len(one) + 7
	one = appendFrame(one, frameBody, 1, make([]byte, backlogSize))
	burst = slices.Repeat(one, n)
	return func(i int, delay time.Duration, due int64) {
		p := burst[i*len(one):]
		binary.BigEndian.PutUint64(p[delayAt:], uint64(delay.Milliseconds()))
		binary.BigEndian.PutUint64(p[bodyAt:], uint64(due))
	}, burst
}

// lateness lets messages become due at delayedRate for the settings' duration, and stores how late
// they come in out.
func lateness(ctx context.Context, b *broker, s settings, out values) error {
	c := newCrew()
	defer c.stop()
	sink, err := readDue(c, b)
	if err != nil {
		return err
	}
	k, err := c.dial(b.addr)
	if err != nil {
		return err
	}
	c.work(func() error { return k.walk(func(byte, []byte) error { return nil }, func() error { return nil }) })
	total := int64(s.duration.Seconds()*delayedRate) / delayedBurst * delayedBurst
	cpu, err := cpuDuring(b.cpu, func() error {
		c.work(func() error {
			set, burst := delayedPublishes(delayedBurst)
			begin := time.Now()
			for sent := int64(0); sent < total; sent += delayedBurst {
				pause(time.Until(begin.Add(time.Duration(sent) * time.Second / delayedRate)))
				now := time.Now().UnixMilli() // whole milliseconds, like delays
				for i := range delayedBurst {
					delay := time.Second + rand.N(delayedSpread).Truncate(time.Millisecond)
					set(i, delay, now*1e6+int64(delay))
				}
				if _, err := k.Write(burst); err != nil {
					return err
				}
			}
			return nil
		})
		return c.until(ctx, func() bool { return sink.got.Load() >= total })
	})
	if err != nil {
		return err
	}
	late := sink.late
	slices.Sort(late)
	out["late p50"], out["late p99"] = float64(atMille(late, 500))/1e6, float64(atMille(late, 990))/1e6
	out["cpu"] = microsEach(cpu, total)
	return nil
}

// dueTogether publishes a million messages that all become due dueAfter the first of them was
// published, restarts the broker meanwhile, and measures how late the first and the last come.
func dueTogether(ctx context.Context, b *broker, s settings) (values, error) {
	n := s.scaled(delayedPending, burstMessages)
	due := time.Now().Add(dueAfter).Truncate(time.Millisecond)
	rate, err := fillDelayed(ctx, b, n, func() (time.Duration, int64) {
		return (time.Until(due) + time.Millisecond).Truncate(time.Millisecond), due.UnixNano()
	})
	if err != nil {
		return nil, err
	}
	v := values{"publish": rate}
	if err := v.restart(ctx, b); err != nil {
		return nil, err
	}
	if time.Now().After(due) {
		return nil, fmt.Errorf("bench: %d messages were due before they were all there", n)
	}
	c := newCrew()
	defer c.stop()
	sink, err := readDue(c, b)
	if err != nil {
		return nil, err
	}
	if err := c.until(ctx, func() bool { return sink.got.Load() >= n }); err != nil {
		return nil, err
	}
	slices.Sort(sink.late)
	early, _ := slices.BinarySearch(sink.late, 0)
	v["early"], v["first"], v["last"] = float64(early), float64(sink.late[0])/1e6, float64(sink.late[n-1])/1e6
	return v, nil
}

// readDue consumes messages as they become due.
func readDue(c *crew, b *broker) (*dueReader, error) {
	in, err := c.dial(b.addr)
	if err != nil {
		return nil, err
	}
	sink := &dueReader{}
	if err := (&consumer{conn: in, queues: []string{delayedQueue}, noAck: true}).subscribe(); err != nil {
		return nil, err
	}
	c.work(func() error {
		return in.walk(sink.visit, func() error { sink.got.Store(int64(len(sink.late))); return nil })
	})
	return sink, nil
}

// dueReader records how late each message comes, in ns.
type dueReader struct {
	late []int64
	got  atomic.Int64
}

func (r *dueReader) visit(typ byte, payload []byte) error {
	switch typ {
	case frameMethod:
		return refusal(payload)
	case frameBody:
		if len(payload) < 8 {
			return io.ErrUnexpectedEOF
		}
		r.late = append(r.late, time.Now().UnixNano()-int64(binary.BigEndian.Uint64(payload)))
	}
	return nil
}

// scheduledOnDisk counts the waiting messages that a start on the data folder would find.
func scheduledOnDisk(dir string) (n int64, err error) {
	d, err := inspect.Describe(vfs.OS{}, dir, nil)
	if err != nil {
		return 0, err
	}
	for _, vh := range d.VHosts {
		for _, q := range vh.Queues {
			n += int64(q.Scheduled - q.Lost)
		}
	}
	return n, nil
}
