package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// TLSMode is how a protocol uses TLS on a port that also takes plain connections.
type TLSMode struct {
	Protocol string   // for the log
	ALPN     []string // offered to clients that ask, preferred first; nil: ALPN is not used
	// Refusal is sent to a client that connects without TLS where TLS is required.
	Refusal []byte
	// Ask is for protocols in which clients ask for TLS before they use it; nil: clients begin with
	// TLS. It reads the first bytes and reports whether TLS follows; if not, it returns a
	// connection on which they are unread. The protocol itself refuses plain clients
	// (TLS.MayBePlain).
	Ask func(nc net.Conn) (rest net.Conn, secure bool, err error)
}

// handshakeRecord is the first byte of TLS. No other protocol begins with it.
const handshakeRecord = 22

// Listen returns a listener whose connections have completed their handshake or are plain. Plain
// connections are returned unwrapped, so that reading them is as fast as without TLS. If t is nil,
// Listen returns ln.
func (t *TLS) Listen(ln net.Listener, d TLSMode) net.Listener {
	if t == nil {
		return ln
	}
	l := &tlsListener{Listener: ln, tls: t, mode: d, ready: make(chan net.Conn), failed: make(chan error), waiting: map[net.Conn]*pendingConn{}}
	l.open, l.close = context.WithCancel(context.Background())
	go l.accept()
	return l
}

// MayBePlain reports whether a client at this address may connect without TLS.
func (t *TLS) MayBePlain(peer net.Addr) bool { return t == nil || t.o.Plain(peer) }

// tlsListener returns a connection from Accept once it is known whether it uses TLS.
type tlsListener struct {
	net.Listener
	tls    *TLS
	mode   TLSMode
	ready  chan net.Conn
	failed chan error
	open   context.Context // ends with Close
	close  context.CancelFunc

	mu      sync.Mutex
	waiting map[net.Conn]*pendingConn // guarded by mu: connections during their handshake
	config  *tls.Config               // guarded by mu: made of from, with the protocol's ALPN
	from    *generation               // guarded by mu
}

// Accept implements net.Listener.
func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case nc := <-l.ready:
		return nc, nil
	case err := <-l.failed:
		return nil, err
	case <-l.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It closes the connections whose handshake is not complete.
func (l *tlsListener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
	for nc := range l.waiting {
		nc.Close()
	}
	return err
}

// accept runs on its own goroutine. It continues after reporting an error, because the caller of
// Accept decides what to do.
func (l *tlsListener) accept() {
	for l.open.Err() == nil {
		nc, err := l.Listener.Accept()
		if err == nil {
			if l.enter(nc) {
				go l.receive(nc)
			}
			continue
		}
		select {
		case l.failed <- err:
		case <-l.open.Done():
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// enter adds a connection whose handshake begins, which may close another one.
func (l *tlsListener) enter(nc net.Conn) bool {
	v := l.tls.handshaking.enter(nc)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.Err() != nil {
		v.leave()
		nc.Close()
		return false
	}
	l.waiting[nc] = v
	return true
}

// receive finds out whether a client uses TLS, and hands over its connection.
func (l *tlsListener) receive(nc net.Conn) {
	through, err := l.admit(nc)
	l.mu.Lock()
	l.waiting[nc].leave()
	delete(l.waiting, nc)
	l.mu.Unlock()
	if err != nil {
		if l.open.Err() == nil && !errors.Is(err, io.EOF) { // a port scan ends without data
			l.tls.quiet.Warn("tls: connection refused", "protocol", l.mode.Protocol, "peer", nc.RemoteAddr(), "err", Clipped(err.Error()))
		}
		nc.Close()
		return
	}
	select {
	case l.ready <- through:
	case <-l.open.Done():
		through.Close()
	}
}

var errPlain = errors.New("it connected without TLS, which is required (tls_plain)")

// admit performs a client's handshake within its time limit.
func (l *tlsListener) admit(nc net.Conn) (net.Conn, error) {
	t := l.tls
	if err := nc.SetDeadline(time.Now().Add(t.o.Handshake)); err != nil {
		return nil, err
	}
	first, through, err := firstByte(nc)
	secure := err == nil && first == handshakeRecord
	if err == nil && !secure && l.mode.Ask != nil {
		through, secure, err = l.mode.Ask(through)
	}
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout() && l.mode.Ask == nil && t.MayBePlain(nc.RemoteAddr()):
		// A client that is silent at first does not use TLS, which sends at once. The protocol
		// decides how long the client may stay silent.
	case err != nil:
		return nil, err
	case secure:
		return l.handshake(through)
	case l.mode.Ask == nil && !t.MayBePlain(nc.RemoteAddr()):
		through.Write(l.mode.Refusal) //nolint:errcheck // the connection is refused anyway
		return nil, errPlain
	}
	return through, nc.SetDeadline(time.Time{})
}

// handshake performs the server's side of the handshake.
func (l *tlsListener) handshake(nc net.Conn) (net.Conn, error) {
	secure := tls.Server(nc, l.current())
	if err := secure.Handshake(); err != nil {
		return nil, err
	}
	return secure, secure.SetDeadline(time.Time{})
}

// current returns the configuration for the next handshake.
func (l *tlsListener) current() *tls.Config {
	g := l.tls.current.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from != g {
		l.from, l.config = g, g.config.Clone()
		l.config.NextProtos = l.mode.ALPN
	}
	return l.config
}

// Ahead is a connection whose first bytes were read and put back.
type Ahead struct {
	net.Conn
	head []byte
}

// Unread returns nc with head, which was read from it, put back.
func Unread(nc net.Conn, head []byte) net.Conn { return &Ahead{nc, head} }

// Read implements net.Conn.
func (c *Ahead) Read(b []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(b, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// CloseWrite closes the sending side if the connection supports that.
func (c *Ahead) CloseWrite() error { return CloseWrite(c.Conn) }

// CloseWrite closes the sending side of a connection, if it supports that, so that the client reads
// everything: closing a socket with unread input may discard what was sent.
func CloseWrite(nc net.Conn) error {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Socket returns the connection below all wrappers.
func Socket(nc net.Conn) net.Conn {
	for {
		switch c := nc.(type) {
		case *tls.Conn:
			nc = c.NetConn()
		case *Ahead:
			nc = c.Conn
		case *leased:
			nc = c.Conn
		default:
			return nc
		}
	}
}

// readFirst reads the first byte and returns a connection on which it is unread.
func readFirst(nc net.Conn) (byte, net.Conn, error) {
	var b [1]byte
	if _, err := io.ReadFull(nc, b[:]); err != nil {
		return 0, nc, err
	}
	return b[0], Unread(nc, b[:]), nil
}
