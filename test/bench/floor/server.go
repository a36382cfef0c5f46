package floor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"fiveways.dev/fiveways/internal/protocol"
)

// edges has the constructors of the null servers, by protocol as the broker's settings name it.
var edges = map[string]func(*Disk) *protocol.Edge{
	"amqp":    newAMQP,
	"sql":     func(d *Disk) *protocol.Edge { return newEdge("sql", d, func() answerer { return &sqlAnswerer{} }) },
	"redis":   func(d *Disk) *protocol.Edge { return newEdge("redis", d, func() answerer { return &redisAnswerer{} }) },
	"etcd":    newEtcd,
	"http":    newHTTP,
	"metrics": newHTTP, // requested to see whether it is there
}

// ErrProtocol is wrapped by the error for a protocol that has no null server.
var ErrProtocol = errors.New("floor: no such protocol")

// Serve runs the null servers for addresses, by protocol, until ctx ends.
func Serve(ctx context.Context, d *Disk, addresses map[string]string) error {
	var open []*protocol.Edge
	ended := make(chan error, len(addresses))
	defer func() {
		for _, e := range open {
			e.Drain(ctx) //nolint:errcheck // ctx has ended: the rest is killed
		}
	}()
	for name, address := range addresses {
		newEdge := edges[name]
		if newEdge == nil {
			return fmt.Errorf("%w: %q", ErrProtocol, name)
		}
		ln, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		e := newEdge(d)
		open = append(open, e)
		go func() { ended <- e.Serve(ln) }()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// reply is the result of the requests of one read.
type reply struct {
	keep []byte // written to the disk before anything is answered
	out  []byte
}

// answerer is the protocol of one connection.
type answerer interface {
	// answer answers the complete requests at the start of b and returns their length.
	answer(b []byte, r *reply) (n int, err error)
}

// whole calls one, which returns the length of a request, as long as the rest of b has a complete
// request.
func whole(b []byte, r *reply, one func([]byte, *reply) (int, error)) (total int, err error) {
	for {
		n, err := one(b[total:], r)
		if n == 0 || err != nil {
			return total, err
		}
		total += n
	}
}

// session serves one connection. It answers all complete requests of a read with one write.
type session struct {
	protocol.Life
	nc    net.Conn
	disk  *Disk
	in    protocol.Input
	speak answerer
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

func newEdge(name string, d *Disk, speak func() answerer) *protocol.Edge {
	return protocol.NewEdge(name, logger(), func(nc net.Conn, id uint64) protocol.Session {
		return newSession(nc, id, d, speak())
	})
}

func newSession(nc net.Conn, id uint64, d *Disk, speak answerer) *session {
	s := &session{nc: nc, disk: d, speak: speak}
	s.Begin(nc, id)
	s.in.Init(nc)
	return s
}

// Serve implements protocol.Session.
func (s *session) Serve() {
	defer s.Kill()
	defer s.in.Release()
	var r reply
	for s.in.Fill(0) == nil {
		if err := s.round(&r); err != nil {
			return
		}
	}
}

// round answers what was read.
func (s *session) round(r *reply) error {
	r.keep, r.out = r.keep[:0], r.out[:0]
	n, err := s.speak.answer(s.in.Pending(), r)
	if err != nil {
		return err
	}
	s.in.Consume(n)
	if len(r.keep) > 0 {
		if err := s.disk.Keep(r.keep); err != nil {
			return err
		}
	}
	if len(r.out) == 0 {
		return nil
	}
	_, err = s.nc.Write(r.out)
	return err
}

// Drain implements protocol.Session. Nothing is outstanding between two reads.
func (s *session) Drain() { s.Kill() }
