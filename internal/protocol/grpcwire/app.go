package grpcwire

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
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
	// Flush ends a round: all frames of one read have been seen. Answers given
	// until it returns leave in one write.
	Flush()
	// Closed tells that the connection is gone and its handlers have returned.
	// Nothing is called after it.
	Closed()
}

// Pusher is what the stream of a handler can do besides grpc.ServerStream.
type Pusher interface {
	// Push is SendMsg without waiting, from any goroutine, though not beside
	// another Push or SendMsg of the same stream. It returns how many bytes the
	// client has not taken yet. Above [PushFull] the caller should stop until
	// the function given to OnRoom is called.
	Push(m proto.Message) (waiting int, err error)
	// PushBytes is Push for a message that encode appends. encode runs with a lock
	// of the connection held: it must not block, nor use the stream.
	PushBytes(encode func(dst []byte) ([]byte, error)) (waiting int, err error)
	// OnRoom has f called once, soon after less than half of PushFull waits, or
	// the call has ended. f runs on a goroutine of its own.
	OnRoom(f func())
}

type connKey struct{}

// ConnFrom returns the application's Conn of the connection on which the call of
// ctx came, nil where there is none.
func ConnFrom(ctx context.Context) Conn {
	app, _ := ctx.Value(connKey{}).(Conn)
	return app
}

// PusherFrom returns the Pusher of a stream's context, nil on another transport.
func PusherFrom(ctx context.Context) Pusher {
	if call, ok := grpc.ServerTransportStreamFromContext(ctx).(*Call); ok {
		return call
	}
	return nil
}
