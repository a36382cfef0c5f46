package grpcwire

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// ConnInfo is what an application is told of a new connection.
type ConnInfo struct {
	ID   uint64 // unique in this process
	Peer *peer.Peer
}

// Conn is what an application keeps of one connection.
type Conn interface {
	// Unary may take a call of a unary method. It runs on the connection's
	// reader and must not block. in, the bytes of the message, is valid until
	// it returns. true: the call is answered once, now or later, through
	// [Call.Reply] or [Call.Fail], from any goroutine. false: the registered
	// service handles it.
	Unary(c *Call, in []byte) bool
	// Admit is asked when a client has the server keep much, or opens many calls, until the answer
	// is nil once: the call shows a login, or needs none. An error is what the client gets when it
	// is too much. It runs on the connection's reader and must not block.
	Admit(c *Call) error
	// Flush ends a round: all frames of one read have been seen. Answers given
	// until it returns leave in one write.
	Flush()
	// Closed tells that the connection is gone and its handlers have returned.
	// Nothing is called after it.
	Closed()
}

// Gather calls f. What f sends on the stream of ctx leaves in one write, by the
// caller itself as far as the socket takes it: without Gather the connection's writer
// does that, on a goroutine that must be woken. On another transport it only calls f.
func Gather(ctx context.Context, f func() error) error {
	call, ok := grpc.ServerTransportStreamFromContext(ctx).(*Call)
	if !ok {
		return f()
	}
	c := call.c
	c.mu.Lock()
	c.out.gather()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.leaveRound()
		c.mu.Unlock()
	}()
	return f()
}
