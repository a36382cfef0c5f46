package etcd

import (
	"net"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/etcd/queues"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// queueBatcher handles the most frequent calls about queues on the reader of a connection: puts of
// messages and deletes of single deliveries. All calls of one read go to the engine together. Other
// calls, and those that have to wait, are left to the services.
type queueBatcher struct {
	srv      *Server
	addr     net.Addr
	batchers map[*broker.Session]*queues.Batcher
	used     []*queues.Batcher // since the last Flush
}

// keptBatchers is how many batchers a connection keeps, including those of users that are gone.
const keptBatchers = 8

func (s *Server) newQueueBatcher(info grpcwire.ConnInfo) grpcwire.Conn {
	return &queueBatcher{srv: s, addr: info.Peer.Addr, batchers: map[*broker.Session]*queues.Batcher{}}
}

// Unary implements grpcwire.Conn.
func (d *queueBatcher) Unary(c *grpcwire.Call, in []byte) bool {
	if len(in) > d.srv.o.MaxRequestBytes {
		return false
	}
	switch c.Method() {
	case pb.KV_Put_FullMethodName:
		key, value, ok := parsePut(in)
		if !ok || !queues.Holds(key) {
			return false
		}
		batcher := d.enter(c)
		if batcher == nil {
			return false
		}
		return batcher.StartPut(key, value, &quickPut{quickCall{d.srv, c}})
	case pb.KV_DeleteRange_FullMethodName:
		key, ok := parseDelete(in)
		if !ok || !queues.Holds(key) {
			return false
		}
		batcher := d.enter(c)
		if batcher == nil {
			return false
		}
		return batcher.StartDelete(key, &quickDelete{quickCall{d.srv, c}})
	}
	return false
}

// enter is the batcher of the caller, nil when the service is to find out what is wrong.
func (d *queueBatcher) enter(c *grpcwire.Call) *queues.Batcher {
	md := c.Metadata()
	if !sound(md) {
		return nil
	}
	who, err := d.srv.identifyToken(tokenIn(md), d.addr)
	if err != nil || who.user == "" {
		return nil
	}
	caller, err := who.caller()
	if err != nil {
		return nil
	}
	batcher := d.batchers[caller.Session]
	if batcher == nil {
		if batcher, err = d.srv.virtual.queues.NewBatcher(caller); err != nil {
			return nil
		}
		d.batchers[caller.Session] = batcher
	}
	for _, have := range d.used {
		if have == batcher {
			return batcher
		}
	}
	d.used = append(d.used, batcher)
	return batcher
}

// Admit implements grpcwire.Conn: a caller without permissions gets little buffered, too.
func (d *queueBatcher) Admit(c *grpcwire.Call) error {
	who, err := d.srv.identifyToken(tokenIn(c.Metadata()), d.addr)
	if err == nil && who.user == "" {
		err = rpctypes.ErrGRPCUserEmpty
	}
	if err != nil && openMethods[c.Method()] {
		return errStranger
	}
	return err
}

// errStranger is what a client without a login hears that has too much kept of calls that need
// none.
var errStranger = status.Error(codes.ResourceExhausted, "etcdserver: request is too large without a login")

// Flush implements grpcwire.Conn.
func (d *queueBatcher) Flush() {
	for _, batcher := range d.used {
		batcher.Flush()
	}
	clear(d.used)
	d.used = d.used[:0]
	if len(d.batchers) > keptBatchers {
		clear(d.batchers)
	}
}

// Closed implements grpcwire.Conn. The sessions belong to the agent.
func (d *queueBatcher) Closed() {}

// quickCall is a call that is answered when the engine has done it.
type quickCall struct {
	srv  *Server
	call *grpcwire.Call
}

// answer answers with what encode appends behind the header, or with an error.
func (q *quickCall) answer(revision int64, err error, encode func(dst []byte) []byte) {
	count := q.srv.metrics.begin(q.call.Method(), kindUnary)
	if err = reply(err); err != nil {
		q.call.Fail(err)
	} else {
		q.call.ReplyBytes(func(dst []byte) ([]byte, error) { return encode(q.srv.appendHeader(dst, revision)), nil })
	}
	count(err)
}

type quickPut struct{ quickCall }

// PutDone implements queues.PutCall.
func (q *quickPut) PutDone(revision int64, err error) {
	q.answer(revision, err, func(dst []byte) []byte { return dst })
}

type quickDelete struct{ quickCall }

// DeleteDone implements queues.DeleteCall.
func (q *quickDelete) DeleteDone(deleted bool, revision int64, err error) {
	q.answer(revision, err, func(dst []byte) []byte {
		if deleted {
			dst = append(dst, fieldDeleted, 1)
		}
		return dst
	})
}
