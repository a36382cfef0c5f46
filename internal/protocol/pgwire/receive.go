package pgwire

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// receive waits for the next message. It returns false if the connection is over.
func (c *conn) receive() (incoming, bool) {
	if m := c.ahead; m.kind != 0 {
		c.ahead = incoming{}
		return m, true
	}
	for {
		if c.mustEnd() {
			return incoming{}, false
		}
		limit := c.patience()
		m, err := c.in.next()
		if err == nil {
			if limit > 0 {
				c.setDeadline(time.Time{})
			}
			return m, true
		}
		if !c.readAgain(err, limit) {
			return incoming{}, false
		}
	}
}

// mustEnd ends the connection if it was told to end, or if it is draining and has no open
// transaction. It reports whether the connection is over.
func (c *conn) mustEnd() bool {
	switch e := c.fatal.Load(); {
	case c.over: // the client has been told why
	case e != nil:
		c.giveUp(e)
	case c.draining.Load() && c.resting && c.session.Status() == 'I':
		c.giveUp(errShutdown)
	}
	return c.over || c.out.err != nil
}

// patience sets the read deadline from the idle timeout that applies to the session, inside or
// outside of a transaction, and returns that timeout, or 0 if there is none.
func (c *conn) patience() (limit time.Duration) {
	if !c.resting {
		return 0
	}
	if limit = c.idleLimit(); limit > 0 {
		c.setDeadline(time.Now().Add(limit))
	}
	return limit
}

func (c *conn) idleLimit() time.Duration {
	if c.session.Status() == 'I' {
		return c.session.IdleTimeout()
	}
	return c.session.IdleInTransactionTimeout()
}

// setDeadline sets the read deadline but does not cancel a kick.
func (c *conn) setDeadline(t time.Time) {
	c.nc.SetReadDeadline(t) //nolint:errcheck // the read of a closed socket reports the error
	if c.kicked.Load() {
		c.nc.SetReadDeadline(past) //nolint:errcheck // as above
	}
}

// readAgain handles a read error. It returns true if the read was only woken and must be repeated.
func (c *conn) readAgain(err error, limit time.Duration) bool {
	var senseless *pgerror.Error
	var broken net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && c.kicked.Swap(false):
		c.setDeadline(time.Time{})
		return true
	case errors.Is(err, os.ErrDeadlineExceeded) && limit > 0:
		c.giveUp(idleError(c.session.Status()))
	case errors.As(err, &senseless): // the start of the next message is unknown
		c.linger = true
		c.giveUp(senseless)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &broken):
		c.over = true
	default:
		c.linger = true
		c.giveUp(fatal(pgerror.ProtocolViolation, "%v", err))
	}
	return false
}

func idleError(status byte) *pgerror.Error {
	if status == 'I' {
		return fatal("57P05", "terminating connection due to idle-session timeout")
	}
	return fatal(pgerror.IdleInTransaction, "terminating connection due to idle-in-transaction timeout")
}
