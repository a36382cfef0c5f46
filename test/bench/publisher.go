package main

import "sync/atomic"

// publisher writes the same burst of publishes over and over, as fast as the broker takes them.
type publisher struct {
	conn     *conn
	burst    []byte // encoded publishes
	vary     func() // changes the burst before each write; may be nil
	perBurst int64  // messages in burst
	window   int64  // limit of unconfirmed messages; 0 = no confirms
	limit    int64  // stop after this many messages; 0 = when the connection closes

	sent      atomic.Int64
	confirmed atomic.Int64
	wake      chan struct{} // a confirm came
	closed    chan struct{} // the confirm reader ended
}

// burstOf repeats one publish n times.
func burstOf(n int, exchange, key string, size int, persist bool) []byte {
	var b []byte
	for range n {
		b = appendPublish(b, exchange, key, size, persist)
	}
	return b
}

// start sets up confirms if the publisher has a window, and puts its goroutines into the crew.
func (p *publisher) start(c *crew) error {
	p.wake, p.closed = make(chan struct{}, 1), make(chan struct{})
	if p.window > 0 {
		if _, err := p.conn.call(1, confirmSelect, []byte{0}, confirmSelectOK); err != nil {
			return err
		}
	}
	c.work(func() error {
		defer close(p.closed)
		return readConfirms(p.conn, nil, func(total int64) { // also notices a close by the broker when there are no confirms
			p.confirmed.Store(total)
			select {
			case p.wake <- struct{}{}:
			default:
			}
		})
	})
	c.work(p.write)
	return nil
}

func (p *publisher) write() error {
	for p.limit == 0 || p.sent.Load() < p.limit {
		for p.window > 0 && p.sent.Load()-p.confirmed.Load() >= p.window {
			select {
			case <-p.wake:
			case <-p.closed:
				return nil // the reader has reported why
			}
		}
		if p.vary != nil {
			p.vary()
		}
		if _, err := p.conn.Write(p.burst); err != nil {
			return err
		}
		p.sent.Add(p.perBurst)
	}
	return nil
}
