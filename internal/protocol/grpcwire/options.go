package grpcwire

import (
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Options are the settings of a server. The zero value of each field means its default.
type Options struct {
	Log *slog.Logger

	// NewConn creates the application's state of a connection. If NewConn is nil or returns nil,
	// the registered services handle all calls.
	NewConn func(ConnInfo) Conn

	Abandoned *status.Status // status of calls when the server is abandoned; default UNAVAILABLE

	Unary  grpc.UnaryServerInterceptor  // wraps the handlers of unary methods
	Stream grpc.StreamServerInterceptor // wraps the handlers of streaming methods

	// Encode is an application's own encoder. It returns a function that appends m, and the number
	// of bytes that it appends. If Encode is nil or returns a nil function, protobuf encodes the
	// message.
	Encode func(m proto.Message) (size int, encode func(dst []byte) ([]byte, error))

	BytesIn, BytesOut *atomic.Uint64 // count the bytes of all connections; nil: not counted

	MaxRecvBytes   int    // of one message, decompressed; default 4 MiB
	MaxSendBytes   int    // of one message; default: no limit
	MaxStreams     uint32 // open calls of one connection; default 1,000
	MaxHeaderBytes uint32 // of the headers of one call; default 64 KiB
	StreamWindow   uint32 // bytes of one call that may wait for its handler; default 256 KiB
	ConnWindow     uint32 // bytes of one connection that may be in flight; default 4 MiB
	MaxHeldBytes   int64  // held bytes of all requests; default 256 MiB, at least 16 messages
	// MaxConnHeldBytes is the same for one connection; default a quarter of MaxHeldBytes. A
	// connection that has not logged in has a lower limit, and all such connections together have
	// half of MaxHeldBytes.
	MaxConnHeldBytes int64
	MaxQueuedBytes   int64 // unreceived bytes of answers; default 256 MiB. See AwaitAnswerSlot.

	PingEvery   time.Duration // silence before a client gets a ping; default 2 h, negative: never
	PingTimeout time.Duration // to answer the ping; default 20 s
	MaxIdle     time.Duration // after which a connection without calls ends; default: never

	MinPing             time.Duration // least interval between a client's pings; default 5 min
	PingsWithoutStreams bool          // clients may ping while they have no call open

	// MessageTimeout is how long a message may take to arrive. A message that makes no progress for
	// this long ends its call, within twice that time. The timeout also applies to frames, to
	// header blocks, and to unsent answers of finished calls. Default 1 min.
	MessageTimeout   time.Duration
	HandshakeTimeout time.Duration // until the client's first settings; default 10 s
	WriteTimeout     time.Duration // for a write without progress; default 2 min
}

// Limits and timeouts that are not options.
const (
	maxFrame       = 16 << 10 // of received frames, and the smallest limit that a client may set
	mostFrame      = 64 << 10 // of sent frames, even if the client accepts larger ones
	firstWindow    = 65535    // initial window of HTTP/2
	mostWindow     = math.MaxInt32
	mostQueued     = 64 << 20 // bytes held back by a client's windows; above it calls are refused
	drainPingWait  = 5 * time.Second
	lastWriteWait  = 5 * time.Second // to write the last frames
	lingerWait     = time.Second     // for the client to close the connection after the last frame
	maxPingStrikes = 2
	// minHeld is the least that a waiting message counts, so that the number of empty messages is
	// bounded as well.
	minHeld = 64
)

// PushFull is how many bytes may wait for the client of one call before SendMsg blocks.
const PushFull = 64 << 10

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Abandoned == nil {
		o.Abandoned = status.New(codes.Unavailable, "the server does not serve any more")
	}
	orDefault(&o.BytesIn, new(atomic.Uint64))
	orDefault(&o.BytesOut, new(atomic.Uint64))
	orDefault(&o.MaxRecvBytes, 4<<20)
	orDefault(&o.MaxSendBytes, math.MaxInt32)
	orDefault(&o.MaxStreams, 1000)
	orDefault(&o.MaxHeaderBytes, 64<<10)
	orDefault(&o.StreamWindow, 256<<10)
	orDefault(&o.ConnWindow, 4<<20)
	o.StreamWindow = min(o.StreamWindow, mostWindow)
	o.ConnWindow = min(max(o.ConnWindow, firstWindow), mostWindow)
	orDefault(&o.MaxHeldBytes, 256<<20)
	o.MaxHeldBytes = max(o.MaxHeldBytes, 16*int64(o.MaxRecvBytes))
	orDefault(&o.MaxConnHeldBytes, o.MaxHeldBytes/4)
	orDefault(&o.MaxQueuedBytes, 256<<20)
	orDefault(&o.MessageTimeout, time.Minute)
	orDefault(&o.PingEvery, 2*time.Hour)
	orDefault(&o.PingTimeout, 20*time.Second)
	orDefault(&o.MinPing, 5*time.Minute)
	orDefault(&o.HandshakeTimeout, 10*time.Second)
	orDefault(&o.WriteTimeout, 2*time.Minute)
	return o
}

func orDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
