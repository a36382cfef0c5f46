package grpcwire

import (
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"sync/atomic"

	"google.golang.org/grpc"

	"fiveways.dev/fiveways/internal/protocol"
)

// Server serves gRPC. It is a grpc.ServiceRegistrar.
type Server struct {
	*protocol.Edge // Drain lets connections finish their calls

	o        Options
	methods  map[string]*method // by path; not changed after the first connection
	services map[string]grpc.ServiceInfo
	began    atomic.Bool  // a connection was accepted
	held     atomic.Int64 // held bytes of requests, of all connections
	queued   atomic.Int64 // bytes of answers queued because of flow control, of all connections
	quiet    *slog.Logger // for events that clients can cause without a login
}

// method is a registered method. Either unary or stream is set.
type method struct {
	path   string
	impl   any
	unary  *grpc.MethodDesc
	stream *grpc.StreamDesc
}

// New returns a server without services.
func New(o Options) *Server {
	s := &Server{o: o.withDefaults(), methods: map[string]*method{}, services: map[string]grpc.ServiceInfo{}}
	s.quiet = protocol.Sparse(s.o.Log)
	s.Edge = protocol.NewEdge("grpc", s.o.Log, func(nc net.Conn, id uint64) protocol.Session { return s.Session(nc, id, nil) })
	return s
}

// RegisterService implements grpc.ServiceRegistrar. It panics after the first connection, if the
// service is registered already, and if impl does not implement it. All of these are programming
// errors.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if s.began.Load() {
		panic(fmt.Sprintf("grpcwire: service %q registered after the first connection", desc.ServiceName))
	}
	if _, ok := s.services[desc.ServiceName]; ok {
		panic(fmt.Sprintf("grpcwire: service %q registered twice", desc.ServiceName))
	}
	if impl != nil && !reflect.TypeOf(impl).Implements(reflect.TypeOf(desc.HandlerType).Elem()) {
		panic(fmt.Sprintf("grpcwire: %T does not implement service %q", impl, desc.ServiceName))
	}
	info := grpc.ServiceInfo{Metadata: desc.Metadata}
	add := func(name string, m *method) {
		m.path, m.impl = "/"+desc.ServiceName+"/"+name, impl
		s.methods[m.path] = m
		kind := grpc.MethodInfo{Name: name}
		if m.stream != nil {
			kind.IsClientStream, kind.IsServerStream = m.stream.ClientStreams, m.stream.ServerStreams
		}
		info.Methods = append(info.Methods, kind)
	}
	for i := range desc.Methods {
		add(desc.Methods[i].MethodName, &method{unary: &desc.Methods[i]})
	}
	for i := range desc.Streams {
		add(desc.Streams[i].StreamName, &method{stream: &desc.Streams[i]})
	}
	s.services[desc.ServiceName] = info
}

// GetServiceInfo returns the registered services.
func (s *Server) GetServiceInfo() map[string]grpc.ServiceInfo { return s.services }

// Session returns the session of a connection. read holds the bytes that were already read from it,
// if any.
func (s *Server) Session(nc net.Conn, id uint64, read []byte) protocol.Session {
	s.began.Store(true)
	return newConn(s, nc, id, read)
}
