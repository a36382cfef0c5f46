package grpcwire

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// ConnInfo describes a new connection to the application.
type ConnInfo struct {
	ID   uint64 // unique in this process
	Peer *peer.Peer
}

// Conn is the application's state of one connection.
type Conn interface {
	// Unary offers a call of a unary method to the application. It runs on the connection's reader
	// and must not block. in holds the bytes of the message and is valid until Unary returns. If
	// Unary returns true, the application answers the call once, now or later, through [Call.Reply]
	// or [Call.Fail], from any goroutine. If it returns false, the registered service handles the
	// call.
	Unary(c *Call, in []byte) bool
	// Admit is called when a client makes the server hold much memory or opens many calls, until it
	// returns nil once: the call carries a login, or none is needed. If the limit is exceeded, the
	// client receives the error. Admit runs on the connection's reader and must not block.
	Admit(c *Call) error
	// Flush is called at the end of a round, when all frames of one read are handled. Answers that
	// are given before it returns leave in one write.
	Flush()
	// Closed is called last, when the connection is closed and its handlers have returned.
	Closed()
}

// Gather calls f. What f sends on the stream of ctx leaves in one write, by the calling goroutine
// as far as the socket accepts it. Without Gather, the connection's writer goroutine must be woken
// for that. On another transport Gather only calls f.
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
