package etcd

import (
	"bytes"
	"net"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// preface starts a connection of HTTP/2.
var preface = []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

// connection is one client connection. Its first bytes determine its protocol, and a session of
// that protocol serves it from then on.
type connection struct {
	srv *Server
	nc  *clientConn
	id  uint64

	mu       sync.Mutex
	draining bool
	session  protocol.Session // serves the connection; nil until the protocol is known
}

func (s *Server) open(nc net.Conn, id uint64) protocol.Session {
	c := &connection{srv: s, id: id}
	c.nc = &clientConn{Conn: nc, agent: &agent{srv: s, id: id, nc: nc, certUser: s.o.Logins.TLS().UserOf(nc)}}
	return c
}

// Serve reads the first bytes and passes the connection to the server of HTTP/2 or HTTP/1.
func (c *connection) Serve() {
	s := c.srv
	defer c.nc.Close()
	defer c.nc.agent.close()
	agent := c.nc.agent
	agent.client = s.o.Clients.Enter(agent.nc, c.id, "etcd", c)
	defer agent.client.Leave()
	head, err := c.firstBytes()
	if err != nil {
		s.log.Debug("etcd: connection closed before it said anything", "conn", c.id, "peer", c.nc.RemoteAddr(), "err", err)
		return
	}
	var session protocol.Session
	if bytes.Equal(head, preface) {
		session = s.transport.Session(c.nc, c.id, head)
	} else {
		agent.client.In.Add(uint64(len(head)))
		session = s.web.Session(&headed{c.nc, head})
	}
	if c.hand(session) {
		session.Serve()
	}
}

// hand makes session serve the connection, unless the server drains. It reports whether it did.
func (c *connection) hand(session protocol.Session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining {
		return false
	}
	c.session = session
	return true
}

// firstBytes reads the first bytes within Options.FirstBytes.
func (c *connection) firstBytes() ([]byte, error) {
	if err := c.nc.SetReadDeadline(time.Now().Add(c.srv.o.FirstBytes)); err != nil {
		return nil, err
	}
	head, err := firstBytes(c.nc)
	if err != nil {
		return nil, err
	}
	return head, c.nc.SetReadDeadline(time.Time{})
}

// firstBytes reads until the bytes are the whole preface of HTTP/2 or differ from it.
func firstBytes(nc net.Conn) ([]byte, error) {
	head := make([]byte, len(preface))
	n := 0
	for n < len(head) && bytes.Equal(head[:n], preface[:n]) {
		m, err := nc.Read(head[n:])
		if err != nil {
			return nil, err
		}
		n += m
	}
	return head[:n], nil
}

// Drain closes a connection that has sent nothing. Sessions drain the others.
func (c *connection) Drain() {
	if s := c.leave(); s != nil {
		s.Drain()
	} else {
		c.nc.Close()
	}
}

// Abandon implements protocol.Abandoner. HTTP/1 cannot express it.
func (c *connection) Abandon() {
	if a, ok := c.leave().(protocol.Abandoner); ok {
		a.Abandon()
	} else {
		protocol.Socket(c.nc.Conn).Close()
		c.nc.Close()
	}
}

// leave prevents new sessions, and returns the one that serves the connection, or nil.
func (c *connection) leave() protocol.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	return c.session
}

// End implements protocol.Part. Neither protocol can transmit the reason.
func (c *connection) End(reason string) {
	c.srv.log.Info("etcd: closing a connection", "conn", c.id, "peer", c.nc.RemoteAddr(), "reason", protocol.Clipped(reason))
	c.nc.Close()
}

// Kill closes the socket.
func (c *connection) Kill() { c.nc.Close() }
