package slow

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// stallAfter is how long the broker takes no byte before a write counts as stalled.
const stallAfter = 2 * time.Second

// valve is the socket of a real client, whose flow the test can stop.
type valve struct {
	net.Conn
	stalled chan struct{} // closed once the broker takes no more bytes
	closed  chan struct{}

	mu     sync.Mutex
	read   chan struct{} // while open, reads wait for it to be closed; nil: reads go on
	budget int           // bytes that may still be written, the rest is discarded; negative: no limit
	once   sync.Once
}

// dialValve opens a connection of the client library over a valve.
func dialValve(t *testing.T, url string) (*amqp.Connection, *valve) {
	t.Helper()
	var v *valve
	conn, err := amqp.DialConfig(url, amqp.Config{
		Dial: func(network, addr string) (net.Conn, error) {
			socket, err := net.Dial(network, addr)
			if err != nil {
				return nil, err
			}
			v = &valve{Conn: socket, budget: -1, stalled: make(chan struct{}), closed: make(chan struct{})}
			return v, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return conn, v
}

// stopReading stops reads, so that the broker's data piles up. A read in progress may still return.
// resume ends the stop.
func (v *valve) stopReading() (resume func()) {
	gate := make(chan struct{})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read = gate
	return func() { close(gate) }
}

// cutAfter lets n more bytes pass and discards everything that the client writes after them.
func (v *valve) cutAfter(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.budget = n
}

func (v *valve) Read(p []byte) (int, error) {
	v.mu.Lock()
	gate := v.read
	v.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-v.closed:
			return 0, net.ErrClosed
		}
	}
	return v.Conn.Read(p)
}

// Write writes all of p, however long it takes. It closes stalled if the broker takes nothing for
// stallAfter.
func (v *valve) Write(p []byte) (int, error) {
	v.mu.Lock()
	pass := p
	if v.budget >= 0 {
		pass = p[:min(v.budget, len(p))]
		v.budget -= len(pass)
	}
	v.mu.Unlock()
	for len(pass) > 0 {
		v.Conn.SetWriteDeadline(time.Now().Add(stallAfter))
		n, err := v.Conn.Write(pass)
		pass = pass[n:]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if n == 0 {
				v.once.Do(func() { close(v.stalled) })
			}
			continue
		}
		if err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close closes the socket without a closing handshake.
func (v *valve) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.closed:
		return nil
	default:
	}
	close(v.closed)
	return v.Conn.Close()
}

// SetDeadline and its variants are for the client library and do nothing: the valve sets its own
// write deadlines.
func (v *valve) SetDeadline(time.Time) error      { return nil }
func (v *valve) SetReadDeadline(time.Time) error  { return nil }
func (v *valve) SetWriteDeadline(time.Time) error { return nil }
