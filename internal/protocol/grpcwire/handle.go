package grpcwire

import (
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// start starts the handler of a streaming call. If last is set, the call has no data.
func (c *conn) start(call *Call, last bool) {
	if call.req.comp != nil {
		call.sendAs = call.req.encoded // set before other goroutines see the call
	}
	if call.req.method.stream != nil {
		call.arrived = make(chan struct{}, 1)
		c.handle(call, func() {
			err := errPanicked
			defer func() { call.Fail(err) }()
			err = c.stream(call)
		})
	}
	if last {
		c.take(call, nil, true)
	}
}

// unary handles the message of a unary call.
func (c *conn) unary(call *Call, m message) {
	c.mu.Lock()
	gone := call.ended
	if !gone {
		call.begin()
	}
	c.mu.Unlock()
	if gone {
		return
	}
	if c.app != nil && c.offer(call, m) {
		return
	}
	size := weighty(len(m.b))
	if !c.holdFor(call, size) {
		call.Fail(c.tooMuch(call))
		return
	}
	m.b = append([]byte(nil), m.b...)
	c.mu.Lock()
	c.running++
	c.mu.Unlock()
	c.handle(call, func() {
		defer c.letGo(size)
		var answer outgoing
		err := errPanicked
		defer func() { c.answerHandled(call, answer, err) }()
		answer, err = c.callUnary(call, m)
	})
}

// offer offers the call to the application and reports whether the call is taken care of.
func (c *conn) offer(call *Call, m message) bool {
	b, err := call.open(m)
	if err != nil {
		call.Fail(err)
		return true
	}
	return c.app.Unary(call, b)
}

// errPanicked is the status of a call whose handler panicked.
var errPanicked = status.Error(codes.Internal, "internal error")

// handle runs a handler on a goroutine. f must answer the call even if it panics. A panic ends only
// this call.
func (c *conn) handle(call *Call, f func()) {
	c.mu.Lock()
	if !call.handled {
		call.begin()
	}
	c.mu.Unlock()
	c.run(func() {
		defer func() {
			if p := recover(); p != nil {
				c.srv.o.Log.Error("grpc: a handler failed", "conn", c.id, "method", call.req.path, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f()
	})
}

// mostIdle is how many idle goroutines a connection keeps for the next handlers, since their stacks
// have already grown.
const mostIdle = 4

// run runs f on an idle goroutine, or on a new one.
func (c *conn) run(f func()) {
	select {
	case c.work <- f:
		return
	default:
	}
	c.handlers.Add(1)
	go func() {
		defer c.handlers.Done()
		for ok := true; ok; {
			f()
			ok = false
			if c.idle.Add(1) <= mostIdle {
				f, ok = <-c.work
			}
			c.idle.Add(-1)
		}
	}()
}

// callUnary runs the handler of a unary method and returns its answer.
func (c *conn) callUnary(call *Call, m message) (answer outgoing, err error) {
	b, err := call.open(m)
	if err != nil {
		return outgoing{}, err
	}
	method := call.req.method
	decode := func(v any) error {
		if err := call.decode(b, v); err != nil {
			return status.Errorf(codes.Internal, "grpc: error unmarshalling request: %v", err)
		}
		return nil
	}
	reply, err := method.unary.Handler(method.impl, call.Context(), decode, c.srv.o.Unary)
	if err != nil {
		return outgoing{}, err
	}
	return call.outgoing(reply), nil
}

// stream runs the handler of a streaming method.
func (c *conn) stream(call *Call) error {
	method := call.req.method
	s := &serverStream{Call: call, ctx: call.Context(), desc: method.stream}
	if c.srv.o.Stream == nil {
		return method.stream.Handler(method.impl, s)
	}
	return c.srv.o.Stream(method.impl, s, &grpc.StreamServerInfo{
		FullMethod: method.path, IsClientStream: method.stream.ClientStreams, IsServerStream: method.stream.ServerStreams,
	}, method.stream.Handler)
}

// checkMetadata returns an error, with grpc-go's text, if HTTP/2 cannot carry the metadata.
func checkMetadata(md metadata.MD) error {
	for name, values := range md {
		if err := checkName(name); err != nil {
			return err
		}
		for _, v := range values {
			for i := 0; i < len(v) && !isBinary(name); i++ {
				if v[i] < ' ' || v[i] > '~' {
					return status.Errorf(codes.Internal, "header key %q contains value with non-printable ASCII characters", name)
				}
			}
		}
	}
	return nil
}

func checkName(name string) error {
	if name == "" {
		return status.Error(codes.Internal, "there is an empty key in the header")
	}
	for i := 0; i < len(name) && name[0] != ':'; i++ {
		x := name[i]
		if !(x >= 'a' && x <= 'z' || x >= '0' && x <= '9' || x == '.' || x == '-' || x == '_') {
			return status.Error(codes.Internal, fmt.Sprintf("header key %q contains illegal characters not in [0-9a-z-_.]", name))
		}
	}
	return nil
}
