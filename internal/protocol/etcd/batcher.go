package etcd

import (
	"net"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/etcd/queues"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// batcher handles the most frequent calls on the reader of a connection: puts of messages, deletes
// of single deliveries, and puts and deletes of single ordinary keys. All calls of one read go to
// the engine together. Other calls, and calls that must wait, are left to the services.
type batcher struct {
	srv    *Server
	addr   net.Addr
	queues map[*broker.Session]*queues.Batcher
	used   []*queues.Batcher // since the last Flush
	keys   *keyspace.Batch
	mixed  int // changes of ordinary keys until the connection counts as one that does nothing else
}

// keptBatchers is how many batchers of queues a connection keeps, including those of departed
// users.
const keptBatchers = 8

// unmixed is the number of consecutive changes of ordinary keys after which a connection counts as
// one that does nothing else. Its reader then waits for the disk itself. On other connections that
// would delay the calls behind it.
const unmixed = 64

func (s *Server) newBatcher(info grpcwire.ConnInfo) grpcwire.Conn {
	return &batcher{srv: s, addr: info.Peer.Addr, queues: map[*broker.Session]*queues.Batcher{}, keys: s.keys.NewBatch(), mixed: unmixed}
}

// Unary implements grpcwire.Conn.
func (d *batcher) Unary(c *grpcwire.Call, in []byte) bool {
	if len(in) <= d.srv.o.MaxRequestBytes {
		switch c.Method() {
		case pb.KV_Put_FullMethodName:
			if key, value, ok := parsePut(in); ok && len(key) > 0 {
				return d.put(c, key, value)
			}
		case pb.KV_DeleteRange_FullMethodName:
			if key, ok := parseDelete(in); ok && len(key) > 0 {
				return d.delete(c, key)
			}
		}
	}
	d.mixed = unmixed
	return false
}

// put handles the put of a key, and reports whether it did.
func (d *batcher) put(c *grpcwire.Call, key, value []byte) bool {
	q := &quickPut{quickCall{d.srv, c}}
	if !d.srv.virtual.holds(key) {
		r := &pb.PutRequest{Key: key, Value: value}
		return d.change(c, &pb.InternalRaftRequest{Put: r}, func(who *identity) error { return d.srv.mayPut(who, r) }, q.applied)
	}
	b := d.enterQueue(c, key)
	return b != nil && b.StartPut(key, value, q)
}

// delete handles the delete of a key, and reports whether it did.
func (d *batcher) delete(c *grpcwire.Call, key []byte) bool {
	q := &quickDelete{quickCall{d.srv, c}}
	if !d.srv.virtual.holds(key) {
		r := &pb.DeleteRangeRequest{Key: key}
		return d.change(c, &pb.InternalRaftRequest{DeleteRange: r}, func(who *identity) error { return d.srv.mayDelete(who, r) }, q.applied)
	}
	b := d.enterQueue(c, key)
	return b != nil && b.StartDelete(key, q)
}

// change handles a change of ordinary keys if it need not wait and the caller may make it, and
// reports whether it did.
func (d *batcher) change(c *grpcwire.Call, r *pb.InternalRaftRequest, may func(*identity) error, done func(*keyspace.Result, error)) bool {
	if d.srv.broker.Behind() || d.srv.broker.Alarm() != nil {
		return false
	}
	who := d.caller(c)
	if who == nil || may(who) != nil || !d.keys.Add(who.info, r, done) {
		return false
	}
	d.mixed = max(d.mixed-1, 0)
	return true
}

// caller returns the user of a call, or nil if the service must produce the error.
func (d *batcher) caller(c *grpcwire.Call) *identity {
	md := c.Metadata()
	if !sound(md) {
		return nil
	}
	who, err := d.srv.identifyToken(tokenIn(md), d.addr)
	if err != nil || who.user == "" {
		return nil
	}
	return who
}

// enterQueue returns the caller's batcher for the queue of a virtual key. It returns nil if the key
// is not one of a queue, or if the service must produce the error.
func (d *batcher) enterQueue(c *grpcwire.Call, key []byte) *queues.Batcher {
	d.mixed = unmixed
	if !queues.Holds(key) {
		return nil
	}
	who := d.caller(c)
	if who == nil {
		return nil
	}
	caller, err := who.caller()
	if err != nil {
		return nil
	}
	b := d.queues[caller.Session]
	if b == nil {
		if b, err = d.srv.virtual.queues.NewBatcher(caller); err != nil {
			return nil
		}
		d.queues[caller.Session] = b
	}
	for _, have := range d.used {
		if have == b {
			return b
		}
	}
	d.used = append(d.used, b)
	return b
}

// Admit implements grpcwire.Conn. For a caller without permissions little is buffered as well.
func (d *batcher) Admit(c *grpcwire.Call) error {
	who, err := d.srv.identifyToken(tokenIn(c.Metadata()), d.addr)
	if err == nil && who.user == "" {
		err = rpctypes.ErrGRPCUserEmpty
	}
	if err != nil && openMethods[c.Method()] {
		return errStranger
	}
	return err
}

// errStranger refuses a client without a login that makes the server buffer too much with calls
// that need no login.
var errStranger = status.Error(codes.ResourceExhausted, "etcdserver: request is too large without a login")

// Flush implements grpcwire.Conn. The keys come first: no Exclusive can begin before them.
func (d *batcher) Flush() {
	d.keys.Flush(d.mixed == 0)
	for _, b := range d.used {
		b.Flush()
	}
	clear(d.used)
	d.used = d.used[:0]
	if len(d.queues) > keptBatchers {
		clear(d.queues)
	}
}

// Closed implements grpcwire.Conn. After a panic Flush may not have been called. The sessions
// belong to the agent.
func (d *batcher) Closed() { d.keys.Flush(false) }

// quickCall is a call that is answered when the engine is done.
type quickCall struct {
	srv  *Server
	call *grpcwire.Call
}

// answer answers the call with the header and what encode appends, or with an error.
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

// applied is called with the result of the put of an ordinary key.
func (q *quickPut) applied(x *keyspace.Result, err error) {
	r, err := answerOf[*pb.PutResponse](x, err)
	q.PutDone(r.GetHeader().GetRevision(), err)
}

// answerOf returns the answer of an applied change, or the zero value with an error.
func answerOf[T any](x *keyspace.Result, err error) (answer T, _ error) {
	if err == nil {
		err = x.Err
	}
	if err == nil {
		answer = x.Resp.(T)
	}
	return answer, err
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

// applied is called with the result of the delete of an ordinary key.
func (q *quickDelete) applied(x *keyspace.Result, err error) {
	r, err := answerOf[*pb.DeleteRangeResponse](x, err)
	q.DeleteDone(r.GetDeleted() > 0, r.GetHeader().GetRevision(), err)
}
