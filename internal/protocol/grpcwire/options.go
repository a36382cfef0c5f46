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

// Options are the settings of a server. The zero value of each means its default.
type Options struct {
	Log *slog.Logger

	// NewConn makes what an application keeps of a connection. nil, or a nil
	// answer: every call is handled by its registered service.
	NewConn func(ConnInfo) Conn

	Abandoned *status.Status // how calls end when the server is abandoned; default UNAVAILABLE

	Unary  grpc.UnaryServerInterceptor  // around the handlers of unary methods
	Stream grpc.StreamServerInterceptor // around the handlers of streams

	// Encode is an application's own encoder for messages that are worth one: it returns what
	// appends m, and how many bytes that will be. nil, or a nil answer: protobuf encodes.
	Encode func(m proto.Message) (size int, encode func(dst []byte) ([]byte, error))

	BytesIn, BytesOut *atomic.Uint64 // count the bytes of the connections; nil: not counted

	MaxRecvBytes   int    // of one message, decompressed; default 4 MiB
	MaxSendBytes   int    // of one message; default: no limit
	MaxStreams     uint32 // open calls of one connection; default 1,000
	MaxHeaderBytes uint32 // of the headers of a call; default 64 KiB
	StreamWindow   uint32 // bytes of one call that may wait for its handler; default 256 KiB
	ConnWindow     uint32 // bytes of one connection on their way to us; default 4 MiB
	MaxHeldBytes   int64  // of requests that all clients have us keep at a time; default 256 MiB, at least 16 messages
	// MaxConnHeldBytes is the same for one connection; default a quarter of MaxHeldBytes. One that
	// has not shown a login has less, and all of those together have half of MaxHeldBytes.
	MaxConnHeldBytes int64
	MaxQueuedBytes   int64 // of answers that all clients have not taken; default 256 MiB. See AwaitAnswerSlot.

	PingEvery   time.Duration // a client silent for this long is asked whether it is there; default 2 h, negative: never
	PingTimeout time.Duration // for its answer; default 20 s
	MaxIdle     time.Duration // a connection without calls ends after it; default: never

	MinPing             time.Duration // between the pings of a client; default 5 min
	PingsWithoutStreams bool          // clients may ping while they have no call open

	// MessageTimeout is how long a message may take to come in: one that stalls for this long ends
	// its call, within twice that time. It is also for frames, header blocks, and answers of calls
	// that are over. Default 1 min.
	MessageTimeout   time.Duration
	HandshakeTimeout time.Duration // until the client's first settings; default 10 s
	WriteTimeout     time.Duration // that a write may take without progress; default 2 min
}

// What is not an option.
const (
	maxFrame       = 16 << 10 // of the frames that we take, and the least of what clients take
	mostFrame      = 64 << 10 // of the frames that we send, whatever the client takes
	firstWindow    = 65535    // HTTP/2's initial window
	mostWindow     = math.MaxInt32
	mostQueued     = 64 << 20 // bytes behind the client's windows, above which it opens no further calls
	drainPingWait  = 5 * time.Second
	lastWriteWait  = 5 * time.Second // for the last frames to be written
	lingerWait     = time.Second     // for the client to close after our last frame
	maxPingStrikes = 2
	// minHeld is what a message that waits for its handler counts at least, so
	// that many empty ones are bounded, too.
	minHeld = 64
)

// PushFull is how many bytes may wait for the client of one call before SendMsg
// waits.
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
