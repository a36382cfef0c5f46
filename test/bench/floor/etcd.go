package floor

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// etcdServer answers puts and deletes, and sends puts to watches.
type etcdServer struct {
	pb.UnimplementedWatchServer
	disk     *Disk
	revision atomic.Int64

	mu      sync.Mutex
	watches []*etcdWatch // guarded by mu
}

// etcdWatch is one watch of a range of keys.
type etcdWatch struct {
	key, end []byte
	events   chan *mvccpb.Event
}

func newEtcd(d *Disk) *protocol.Edge {
	s := &etcdServer{disk: d}
	wire := grpcwire.New(grpcwire.Options{Log: logger(), NewConn: func(grpcwire.ConnInfo) grpcwire.Conn { return &etcdConn{srv: s} }})
	pb.RegisterWatchServer(wire, s)
	pb.RegisterKVServer(wire, &pb.UnimplementedKVServer{}) // its calls, and those of the next, are handled before it
	pb.RegisterMaintenanceServer(wire, &pb.UnimplementedMaintenanceServer{})
	return protocol.NewEdge("etcd", logger(), func(nc net.Conn, id uint64) protocol.Session { return wire.Session(nc, id, nil) })
}

func (s *etcdServer) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 1, Revision: s.revision.Load()}
}

// etcdConn collects the calls of one read.
type etcdConn struct {
	srv   *etcdServer
	keep  []byte
	calls []etcdCall
}

// etcdCall is a call that is answered once its data is on disk.
type etcdCall struct {
	*grpcwire.Call
	answer proto.Message
	put    *mvccpb.KeyValue // sent to watches; nil if there is nothing to send
}

// Unary implements grpcwire.Conn.
func (c *etcdConn) Unary(call *grpcwire.Call, in []byte) bool {
	e := etcdCall{Call: call}
	switch call.Method() {
	case pb.KV_Put_FullMethodName:
		var m pb.PutRequest
		if err := proto.Unmarshal(in, &m); err != nil {
			call.Fail(err)
			return true
		}
		revision := c.srv.revision.Add(1)
		e.put = &mvccpb.KeyValue{Key: m.Key, Value: m.Value, CreateRevision: revision, ModRevision: revision, Version: 1}
		e.answer = &pb.PutResponse{Header: c.srv.header()}
		c.keep = append(c.keep, in...)
	case pb.KV_DeleteRange_FullMethodName:
		e.answer = &pb.DeleteRangeResponse{Header: c.srv.header(), Deleted: 1}
		c.keep = append(c.keep, in...)
	case pb.KV_Range_FullMethodName:
		e.answer = &pb.RangeResponse{Header: c.srv.header()}
	case pb.Maintenance_Status_FullMethodName:
		e.answer = &pb.StatusResponse{Header: c.srv.header(), Version: "3.5.0"}
	default:
		call.Fail(status.Error(codes.Unimplemented, "floor: no such call"))
		return true
	}
	c.calls = append(c.calls, e)
	return true
}

// Admit implements grpcwire.Conn. There are no logins.
func (c *etcdConn) Admit(*grpcwire.Call) error { return nil }

// Flush implements grpcwire.Conn.
func (c *etcdConn) Flush() {
	if len(c.calls) == 0 {
		return
	}
	var err error
	if len(c.keep) > 0 {
		err = c.srv.disk.Keep(c.keep)
	}
	for _, e := range c.calls {
		if err != nil {
			e.Fail(err)
			continue
		}
		e.Reply(e.answer)
		if e.put != nil {
			c.srv.tell(e.put)
		}
	}
	clear(c.calls)
	c.keep, c.calls = c.keep[:0], c.calls[:0]
}

// Closed implements grpcwire.Conn.
func (c *etcdConn) Closed() {}

// tell sends a put to the watches of its key.
func (s *etcdServer) tell(kv *mvccpb.KeyValue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if bytes.Compare(kv.Key, w.key) >= 0 && bytes.Compare(kv.Key, w.end) < 0 {
			w.events <- &mvccpb.Event{Kv: kv}
		}
	}
}

// eventsAhead limits the events that wait for one watch. No load has as many requests in flight.
const eventsAhead = 1 << 16

// Watch implements pb.WatchServer with one watch per stream.
func (s *etcdServer) Watch(stream pb.Watch_WatchServer) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	create := m.GetCreateRequest()
	if create == nil {
		return status.Error(codes.InvalidArgument, "floor: no watch to create")
	}
	w := &etcdWatch{key: create.Key, end: create.RangeEnd, events: make(chan *mvccpb.Event, eventsAhead)}
	s.mu.Lock()
	s.watches = append(s.watches, w)
	s.mu.Unlock()
	if err := stream.Send(&pb.WatchResponse{Header: s.header(), Created: true}); err != nil {
		return err
	}
	for {
		select {
		case e := <-w.events:
			events := []*mvccpb.Event{e}
			for more := len(w.events); more > 0; more-- {
				events = append(events, <-w.events)
			}
			if err := stream.Send(&pb.WatchResponse{Header: s.header(), Events: events}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}
