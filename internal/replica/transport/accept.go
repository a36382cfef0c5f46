package transport

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/timely"
)

const readBuffer = 128 << 10

// Serve accepts connections of peers until Close, or until ln fails.
func (t *Transport) Serve(ln net.Listener) error {
	t.mu.Lock()
	t.listeners = append(t.listeners, ln)
	closed := t.ctx.Err() != nil
	t.mu.Unlock()
	if closed {
		ln.Close()
		return ErrClosed
	}
	config := accepting(t.o.TLS, t.o.Join != nil)
	for {
		nc, err := ln.Accept()
		if err != nil {
			if t.ctx.Err() != nil {
				return ErrClosed
			}
			return fmt.Errorf("transport: %w", err)
		}
		if tcp, ok := nc.(*net.TCPConn); ok {
			tcp.SetKeepAliveConfig(keepAlive) //nolint:errcheck // without it, watch closes the connection
		}
		conn := tls.Server(nc, config)
		if !t.enter(conn) {
			nc.Close()
			continue
		}
		go func() {
			defer t.leave(conn)
			t.accept(conn)
		}()
	}
}

// enter adds a connection of an unknown node. It returns false if there are too many.
func (t *Transport) enter(nc net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil || t.strangers >= mostStrangers {
		return false
	}
	t.accepted[nc] = 0
	t.strangers++
	t.running.Add(1)
	return true
}

func (t *Transport) leave(nc net.Conn) {
	defer t.running.Done()
	nc.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.accepted[nc] == 0 {
		t.strangers--
	}
	delete(t.accepted, nc)
}

// recognize returns the peer of a connection and records its address, or nil if the node is no
// peer. A node with an id above all known ones becomes a peer.
func (t *Transport) recognize(nc net.Conn, h *hello) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	node := h.from
	p := t.peers[node]
	if p == nil && node > t.highest && node != t.o.Self && h.address != "" && t.ctx.Err() == nil {
		p = t.add(node, h.address)
	}
	if p != nil {
		if address := h.address; address != "" {
			p.address.Store(&address)
		}
		t.accepted[nc] = node
		t.strangers--
	}
	return p
}

// accept serves a connection according to its handshake: of a peer, or of a joining node.
func (t *Transport) accept(nc *tls.Conn) {
	nc.SetDeadline(time.Now().Add(dialPatience)) //nolint:errcheck // the next read fails, too
	if err := nc.Handshake(); err != nil {
		t.complain(0, "cluster: refused a connection", "from", nc.RemoteAddr(), "reason", err)
		return
	}
	if nc.ConnectionState().NegotiatedProtocol != JoinProtocol {
		t.acceptPeer(nc)
	} else if err := t.o.Join(nc); err != nil {
		t.complain(0, "cluster: did not admit a node", "from", nc.RemoteAddr(), "reason", err)
	}
}

// acceptPeer reads the hello of a connection and serves its purpose.
func (t *Transport) acceptPeer(nc *tls.Conn) {
	h, err := readHello(nc)
	if err == nil {
		err = t.refusal(nc, &h)
	}
	var p *peer
	if err == nil {
		if p = t.recognize(nc, &h); p == nil {
			err = fmt.Errorf("node %d is no member", h.from)
		}
	}
	if err != nil {
		t.complain(0, "cluster: refused a connection", "from", nc.RemoteAddr(), "reason", err)
		answer(nc, err.Error()) //nolint:errcheck // the connection is closed anyway
		return
	}
	if err := answer(nc, ""); err != nil {
		return
	}
	nc.SetDeadline(time.Time{}) //nolint:errcheck // the next read fails, too
	if h.purpose == streamLink {
		t.o.Stream(h.from, h.stream, nc)
		return
	}
	if h.purpose == controlLink {
		p.levels.Store(&h.levels)
		defer p.levels.CompareAndSwap(&h.levels, nil)
	}
	err = t.receive(nc, p)
	if t.ctx.Err() == nil {
		t.complain(p.id, "cluster: a connection of a node has ended", "node", p.id, "from", nc.RemoteAddr(), "err", err)
	}
}

// refusal returns why a connection must be refused, or nil.
func (t *Transport) refusal(nc *tls.Conn, h *hello) error {
	switch {
	case h.cluster != t.o.Cluster:
		return fmt.Errorf("it is of cluster %016x, this one is %016x", h.cluster, t.o.Cluster)
	case !is(nc, h.cluster, h.from):
		return fmt.Errorf("its certificate is not that of node %d", h.from)
	case h.to != t.o.Self:
		return fmt.Errorf("it is for node %d, this is node %d", h.to, t.o.Self)
	case h.purpose == streamLink && t.o.Stream == nil:
		return errors.New("this node takes no streams")
	}
	if err := h.levels.Check(t.level.Load()); err != nil {
		return fmt.Errorf("node %d: %w", h.from, err)
	}
	if err := t.o.Levels.Check(h.level); err != nil {
		return fmt.Errorf("node %d: %w", h.to, err)
	}
	if err := CheckClock(time.Unix(0, h.clock), t.o.Now()); err != nil {
		return fmt.Errorf("node %d: %w", h.from, err)
	}
	return nil
}

// receive reads the messages of a link until it ends.
func (t *Transport) receive(nc net.Conn, p *peer) error {
	r := bufio.NewReaderSize(nc, readBuffer)
	for {
		payload, err := readFrame(r, maxFrame)
		if err != nil {
			return err
		}
		if len(payload) == 0 {
			return ErrMalformed
		}
		switch kind := payload[0]; kind {
		case recordMessage, recordProto, recordTimely:
			var m *pb.Message
			age := time.Duration(0)
			if kind == recordTimely {
				m, age, err = t.decodeTimely(payload[1:])
			} else {
				m, err = decodeMessage(kind, payload[1:])
			}
			if err != nil {
				return err
			}
			if age > timely.Within {
				t.complain(p.id, "cluster: dropped a message that came too late", "node", p.id, "type", m.GetType(), "age", age)
				continue
			}
			if m.GetFrom() != p.id || m.GetTo() != t.o.Self {
				return fmt.Errorf("%w: from node %d to node %d", ErrMalformed, m.GetFrom(), m.GetTo())
			}
			t.o.Receive(m)
		case recordPing, recordPong:
			if err := t.time(p, kind, payload[1:]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: record %d", ErrMalformed, kind)
		}
	}
}

// time answers a ping, and records the peer's clock and round trip from a pong.
func (t *Transport) time(p *peer, kind byte, record []byte) error {
	r := codec.NewReader(record)
	sent := r.Uvarint()
	if kind == recordPing {
		if err := r.End(); err != nil {
			return ErrMalformed
		}
		p.pinged.Store(&pinged{sent: sent, at: t.elapsed()})
		p.control.answerPing(sent)
		return nil
	}
	theirs := int64(r.Uvarint())
	if err := r.End(); err != nil {
		return ErrMalformed
	}
	rtt := t.elapsed() - time.Duration(sent)
	if rtt < 0 {
		return ErrMalformed
	}
	p.figures.rtt.Store(int64(rtt))
	p.figures.pongs.Add(1)
	if err := t.noteSkew(p, time.Duration(theirs-t.o.Now().UnixNano())+rtt/2, rtt); err != nil {
		t.cut(p, err)
		return err
	}
	return nil
}
