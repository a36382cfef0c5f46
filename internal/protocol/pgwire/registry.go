package pgwire

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// keyBytes is the size of a secret key in protocol 3.0.
const keyBytes = 4

// registry finds connections by the process ID in cancel requests, which a secret key
// authenticates.
type registry struct {
	mu    sync.Mutex
	last  uint32
	byPID map[uint32]*conn
}

// enter assigns a process ID and a key to a connection. There is no such process, but clients
// display the number.
func (r *registry) enter(c *conn) {
	rand.Read(c.key[:]) //nolint:errcheck // never fails
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		r.last = r.last%(1<<31-1) + 1
		if r.byPID[r.last] == nil {
			break
		}
	}
	c.pid = r.last
	r.byPID[c.pid] = c
}

func (r *registry) leave(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byPID[c.pid] == c {
		delete(r.byPID, c.pid)
	}
}

// cancel interrupts the running statement of a connection. A wrong key is silently ignored.
func (r *registry) cancel(pid uint32, key []byte) {
	r.mu.Lock()
	c := r.byPID[pid]
	r.mu.Unlock()
	if c != nil && subtle.ConstantTimeCompare(c.key[:], key) == 1 {
		c.running.interrupt()
	}
}

// signal implements pg_cancel_backend and pg_terminate_backend, which the session by calls. A user
// may signal its own sessions, a superuser any session.
func (r *registry) signal(by *conn, superuser bool, pid uint32, terminate bool) (bool, error) {
	r.mu.Lock()
	c := r.byPID[pid]
	r.mu.Unlock()
	switch {
	case c == nil:
		return false, nil
	case c.user != by.user && !superuser && terminate:
		return false, pgerror.New(pgerror.InsufficientPrivilege,
			"must be a member of the role whose process is being terminated or member of pg_signal_backend")
	case c.user != by.user && !superuser:
		return false, pgerror.New(pgerror.InsufficientPrivilege, "must be a member of the role whose query is being canceled or member of pg_signal_backend")
	case terminate:
		c.end(errShutdown)
	default:
		c.running.interrupt()
	}
	return true, nil
}

// endAll ends every connection.
func (r *registry) endAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.byPID {
		c.end(errShutdown)
	}
}
