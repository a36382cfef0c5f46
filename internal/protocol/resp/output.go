package resp

import (
	"net"
	"sync"
	"sync/atomic"
)

const (
	mostUnread = 32 << 20 // bytes that wait for a subscriber that does not read, before it is cut off; as Redis' default
	replyRoom  = 1 << 20  // bytes that wait for the client while its own replies may join them
)

// output writes to the client. At first the connection's goroutine writes directly. Once the client
// subscribes, a writer goroutine does, because publishers must not wait for the client.
type output struct {
	nc      net.Conn
	sent    *atomic.Uint64 // bytes written
	overrun func()         // the client does not read what it subscribed to; any goroutine, must not block

	mu     sync.Mutex
	wake   sync.Cond // something changed; its lock is mu
	shared bool      // set by the connection's goroutine, with mu held: there is a writer
	buf    []byte    // guarded by mu: waits for the writer
	holds  bool      // like shared: published messages are added to held, not to buf
	held   []byte    // guarded by mu
	taken  int       // guarded by mu: bytes that the writer is writing
	closed bool      // guarded by mu: nothing more may be added
	failed bool      // guarded by mu: writing has failed for good
	ended  chan struct{}
}

func (o *output) init(nc net.Conn, overrun func()) {
	o.nc, o.overrun = nc, overrun
	o.wake.L = &o.mu
}

// share starts the writer. The connection's goroutine calls it.
func (o *output) share() {
	if o.shared {
		return
	}
	o.mu.Lock()
	o.shared = true
	o.mu.Unlock()
	o.ended = make(chan struct{})
	go o.run()
}

// run is the writer goroutine.
func (o *output) run() {
	defer close(o.ended)
	var spare []byte
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.buf) == 0 && !o.closed && !o.failed {
			o.wake.Wait()
		}
		if len(o.buf) == 0 || o.failed {
			return
		}
		b := o.buf
		o.buf, o.taken = spare, len(b)
		o.mu.Unlock()
		n, err := o.nc.Write(b)
		o.sent.Add(uint64(n))
		o.mu.Lock()
		o.taken = 0
		o.failed = o.failed || err != nil
		if spare = b[:0]; cap(b) > keepOutBytes {
			spare = nil
		}
		o.wake.Broadcast()
	}
}

// write writes replies of the connection's goroutine, and blocks while the client does not read. It
// does not retain b.
func (o *output) write(b []byte) (ok bool) {
	if !o.shared {
		n, err := o.nc.Write(b)
		o.sent.Add(uint64(n))
		return err == nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.buf)+o.taken > replyRoom && !o.failed {
		o.wake.Wait()
	}
	if o.failed {
		return false
	}
	o.add(b)
	return true
}

// push adds a published message without waiting. Any goroutine may call it once share has been
// called. If more than mostUnread bytes would be pending, it disconnects the client.
func (o *output) push(b []byte) { o.put(b, true) }

// confirm is push for the confirmation of a subscription, which is an answer: no hold keeps it
// back.
func (o *output) confirm(b []byte) { o.put(b, false) }

func (o *output) put(b []byte, held bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed || o.failed:
	case len(o.buf)+o.taken+len(o.held)+len(b) > mostUnread:
		o.fail()
		o.overrun()
	case held && o.holds:
		o.held = append(o.held, b...)
	default:
		o.add(b)
	}
}

// hold keeps published messages back until release, so that they do not appear within an answer.
// The connection's goroutine calls both.
func (o *output) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds = true
}

func (o *output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held) > 0 && !o.failed {
		o.add(o.held)
	}
	o.holds, o.held = false, nil
}

func (o *output) add(b []byte) {
	if len(o.buf) == 0 {
		o.wake.Broadcast()
	}
	o.buf = append(o.buf, b...)
}

func (o *output) fail() {
	o.failed = true
	o.buf = nil
	o.wake.Broadcast()
}

// drain returns when everything has been written or writing has failed. Nothing may be added
// afterwards.
func (o *output) drain() {
	if !o.shared {
		return
	}
	o.mu.Lock()
	o.closed = true
	o.wake.Broadcast()
	o.mu.Unlock()
	<-o.ended
}
