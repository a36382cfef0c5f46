package protocol

import (
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// Life signals the end of a client's connection to all goroutines that work for the client or wait
// for it. Any goroutine may call its methods.
type Life struct {
	id            uint64
	nc            net.Conn
	leaving, over chan struct{}
	leave, kill   sync.Once
}

// Begin must be called before all other methods.
func (l *Life) Begin(nc net.Conn, id uint64) {
	l.nc, l.id = nc, id
	l.leaving, l.over = make(chan struct{}), make(chan struct{})
}

// Leaving returns a channel that is closed when the connection should end, so that waits for the
// client end too.
func (l *Life) Leaving() <-chan struct{} { return l.leaving }

// Leave closes Leaving. It may be called again.
func (l *Life) Leave() { l.leave.Do(func() { close(l.leaving) }) }

// Over returns a channel that is closed with the socket.
func (l *Life) Over() <-chan struct{} { return l.over }

// Kill closes the socket. It may be called again.
func (l *Life) Kill() {
	l.kill.Do(func() { close(l.over) })
	l.Leave()
	l.nc.Close()
}

// Protect runs fn. If fn panics, only this connection ends: Protect logs that what failed, with the
// user at that time, and calls failed.
func (l *Life) Protect(log *slog.Logger, what string, user *string, fn, failed func()) {
	defer func() {
		if p := recover(); p != nil {
			log.Error(what, "conn", l.id, "peer", l.nc.RemoteAddr(), "user", *user, "panic", p, "stack", string(debug.Stack()))
			failed()
		}
	}()
	fn()
}

// Pause waits for d or until the socket is closed; a negative d means no wait. A failed login is
// answered late to make guessing slow.
func (l *Life) Pause(d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-l.over:
	}
}

// Linger gives the client up to d to read why the connection ends, and to close it. Closing a
// socket with unread input may discard what was sent.
func (l *Life) Linger(d time.Duration) {
	l.nc.SetReadDeadline(time.Now().Add(d)) //nolint:errcheck // fails only if the socket is closed
	io.Copy(io.Discard, l.nc)               //nolint:errcheck // as above
}
