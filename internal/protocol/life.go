package protocol

import (
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// Life is the end of a client's connection; it is signalled to all goroutines that work for the
// client or wait for it. Any goroutine may call its methods.
type Life struct {
	id            uint64
	nc            net.Conn
	leaving, over chan struct{}
	leave, kill   sync.Once
}

// Begin is called before all others.
func (l *Life) Begin(nc net.Conn, id uint64) {
	l.nc, l.id = nc, id
	l.leaving, l.over = make(chan struct{}), make(chan struct{})
}

// Leaving is closed when the connection is to end: nothing is worth waiting for any more.
func (l *Life) Leaving() <-chan struct{} { return l.leaving }

// Leave closes Leaving. It may be called again.
func (l *Life) Leave() { l.leave.Do(func() { close(l.leaving) }) }

// Over is closed when the socket is.
func (l *Life) Over() <-chan struct{} { return l.over }

// Kill closes the socket. It may be called again.
func (l *Life) Kill() {
	l.kill.Do(func() { close(l.over) })
	l.Leave()
	l.nc.Close()
}

// Protect keeps a panic in fn from ending more than this connection: it is logged as what failed,
// with the user as it is then, and failed is called.
func (l *Life) Protect(log *slog.Logger, what string, user *string, fn, failed func()) {
	defer func() {
		if p := recover(); p != nil {
			log.Error(what, "conn", l.id, "peer", l.nc.RemoteAddr(), "user", *user, "panic", p, "stack", string(debug.Stack()))
			failed()
		}
	}()
	fn()
}

// Pause waits for d, not at all when that is negative, or until the socket is closed: a login that
// failed is answered late, so that guessing is slow.
func (l *Life) Pause(d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-l.over:
	}
}

// Linger leaves the client so much time to read why the connection ends, and to close it: a
// socket that is closed while something is unread takes back what was sent.
func (l *Life) Linger(d time.Duration) {
	l.nc.SetReadDeadline(time.Now().Add(d)) //nolint:errcheck // a socket that is closed is at its end
	io.Copy(io.Discard, l.nc)               //nolint:errcheck // as above
}
