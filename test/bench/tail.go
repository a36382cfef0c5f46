package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"
)

// tail measures the latency of confirms while the broker has n messages of size bytes in a queue, a
// load of half of what it can do, and one backup after the other. The load also brings checkpoints,
// and the removal of log files.
func tail(n int64, size int) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		n := s.scaled(n, burstMessages)
		if _, err := fillQueue(ctx, b, n, size); err != nil {
			return nil, err
		}
		full := load{size: 100, pubs: 1, cons: 1, queues: 1, persist: true, window: usualWindow, prefetch: usualPrefetch, ackEvery: usualAckEvery}
		r, err := full.begin(b.addr, "full")
		if err != nil {
			return nil, err
		}
		most, err := r.measure(ctx, b, s.duration)
		r.crew.stop()
		if err != nil {
			return nil, err
		}

		half, err := halfLoad(b.addr, most.got/2)
		if err != nil {
			return nil, err
		}
		defer half.crew.stop()
		var copies atomic.Int64
		copying, stop := context.WithCancel(ctx)
		defer stop()
		half.crew.work(func() error {
			for copying.Err() == nil {
				if err := discardBackup(copying, b); err == nil {
					copies.Add(1)
				} else if copying.Err() == nil {
					return err
				}
			}
			return nil
		})
		_, before := half.totals()
		start := time.Now()
		v, err := latencies(ctx, b, s)
		if err != nil {
			return nil, err
		}
		_, after := half.totals()
		v["load"], v["backups"] = float64(after-before)/time.Since(start).Seconds(), float64(copies.Load())
		select {
		case err := <-half.crew.failed:
			return nil, err
		default:
		}
		if v["backups"] < 1 || v["load"] < 0.9*most.got/2 {
			return nil, fmt.Errorf("bench: %g backups, and %.0f messages a second instead of %.0f", v["backups"], v["load"], most.got/2)
		}
		v["tail"] = v["confirm p99.9"] / v["confirm p50"]
		return v, nil
	}
}

// halfLoad publishes and consumes perSecond messages in bursts at an even pace.
func halfLoad(addr string, perSecond float64) (*running, error) {
	r := &running{crew: newCrew()}
	l := load{size: 100, cons: 1, queues: 1, persist: true, prefetch: usualPrefetch, ackEvery: usualAckEvery}
	err := r.open(addr, "half", l)
	var k *conn
	if err == nil {
		k, err = r.crew.dial(addr)
	}
	if err == nil {
		begin, sent := time.Now(), 0.0
		p := &publisher{conn: k, burst: burstOf(burstMessages, "", "half-0", l.size, true), perBurst: burstMessages, window: usualWindow, vary: func() {
			// Not pause: another goroutine waits in it, and with two of them other work would stand
			// still on a machine with two cores.
			time.Sleep(time.Until(begin.Add(time.Duration(sent / perSecond * float64(time.Second)))))
			sent += burstMessages
		}}
		err = p.start(r.crew)
	}
	if err != nil {
		r.crew.stop()
	}
	return r, err
}

// discardBackup makes a backup of the running broker and throws it away.
func discardBackup(ctx context.Context, b *broker) error {
	b.mu.Lock()
	binary := b.cmd.Path
	b.mu.Unlock()
	cmd := exec.CommandContext(ctx, binary, "backup", "--data", filepath.Join(b.dir, "data"), "-")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint // and the archive goes to the null device
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("bench: backup: %w: %s", err, &complaint)
	}
	return nil
}
