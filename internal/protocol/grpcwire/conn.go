package grpcwire

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/time/rate"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"fiveways.dev/fiveways/internal/protocol"
)

// conn is one client connection. Its fields belong to the reader goroutine
// (Serve) unless they say otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64

	client  *protocol.Client
	in      protocol.Input
	headers headerReader
	pings   pingPolicy
	calm    *rate.Limiter // frames that cost the client nothing
	resets  *rate.Limiter // calls that the client gave up

	app    Conn               // nil: none
	base   context.Context    // of every call
	cancel context.CancelFunc // of base

	prefaced bool   // the client's preface is read
	settled  bool   // its first settings, too
	over     bool   // nothing more is read
	lastID   uint32 // highest call that the client opened; set with mu held
	frames   uint64 // read
	received uint32 // bytes of data not yet given back to the connection's window

	known    atomic.Bool    // the client has shown a login, or needs none; it stays so
	held     atomic.Int64   // bytes of requests
	greeted  atomic.Bool    // settled, for the timer of the handshake
	draining atomic.Bool    // set by Drain
	quit     atomic.Bool    // the reader leaves: nothing is left to do
	handlers sync.WaitGroup // goroutines that run handlers; the reader adds
	work     chan func()    // for those that wait; the reader sends and closes
	idle     atomic.Int32   // of them

	mu      sync.Mutex
	out     output           // guarded by mu
	enc     headerEncoder    // guarded by mu
	calls   map[uint32]*Call // guarded by mu: open calls
	busy    int              // guarded by mu: calls that are being handled, open or reset
	running int              // guarded by mu: unary calls whose handlers run on goroutines
	send    sendState        // guarded by mu
	sent    int              // guarded by mu: frames of data and headers for which the client has not pinged, at most mostSent
	sentAll uint64           // guarded by mu: frames of data and headers
	late    uint64           // guarded by mu: frames that came for calls that were over, at most sentAll
	closed  closedCalls      // guarded by mu
	slots   answerSlots      // guarded by mu
	stall   stall            // guarded by mu
	goaway  goawayStage      // guarded by mu
	keep    keepalive        // guarded by mu
	acks    ackTimer         // guarded by mu
}

func newConn(s *Server, nc net.Conn, id uint64, read []byte) *conn {
	c := &conn{srv: s, nc: nc, id: id, work: make(chan func()), calls: map[uint32]*Call{}}
	c.Begin(nc, id)
	c.in.Init(nc)
	c.in.Unread(read)
	c.client = protocol.ClientOf(nc)
	c.in.Count(&c.client.In)
	c.client.In.Add(uint64(len(read)))
	s.o.BytesIn.Add(uint64(len(read)))
	c.out.init(nc)
	c.send.init()
	c.headers.init(s.o.MaxHeaderBytes)
	c.calm, c.resets = rate.NewLimiter(calmRate, calmBurst), rate.NewLimiter(resetRate, resetBurst)
	return c
}

// Serve implements protocol.Session.
func (c *conn) Serve() {
	go c.writeLoop()
	handshake := time.AfterFunc(c.srv.o.HandshakeTimeout, func() {
		if !c.greeted.Load() {
			c.Kill()
		}
	})
	defer handshake.Stop()
	c.base, c.cancel = context.WithCancel(context.Background())
	c.Protect(c.srv.o.Log, "grpc: a connection failed", new(string), func() {
		c.hello()
		c.readLoop()
	}, func() { c.sayGoAway(http2.ErrCodeInternal, "") })
	c.finish()
}

// welcome makes what the application and the handlers know of the connection.
// The client has shown by then that it speaks HTTP/2, and over TLS the handshake
// is through.
func (c *conn) welcome() {
	p := &peer.Peer{Addr: c.nc.RemoteAddr(), LocalAddr: c.nc.LocalAddr()}
	if state, ok := protocol.StateOf(c.nc); ok {
		p.AuthInfo = credentials.TLSInfo{
			State:          state,
			CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		}
	}
	ctx := peer.NewContext(c.base, p)
	if c.srv.o.NewConn != nil {
		c.app = c.srv.o.NewConn(ConnInfo{ID: c.id, Peer: p})
	}
	c.known.Store(c.app == nil)
	c.base = ctx
}

// finish ends what runs for the client, lets the writer write what is left, and
// closes the socket. Handlers that do not look at their context hold up only the
// return.
func (c *conn) finish() {
	c.stopTimers()
	c.in.Release()
	c.mu.Lock()
	for _, call := range c.calls {
		c.remove(call)
	}
	c.letGo(c.headers.held)
	c.out.idle, c.out.ended = 0, true
	c.out.signal()
	c.mu.Unlock()
	c.cancel()
	last := time.AfterFunc(lastWriteWait, func() { c.nc.Close() })
	<-c.out.done
	last.Stop()
	half := protocol.CloseWrite(c.nc) == nil
	if !half {
		c.Kill()
	}
	close(c.work)
	c.handlers.Wait()
	if c.app != nil {
		c.app.Closed()
	}
	if half {
		c.Linger(lingerWait)
	}
	c.Kill()
}
