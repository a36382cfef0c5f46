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

// conn is one client connection. Its fields belong to the reader goroutine (Serve) unless stated
// otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64

	client  *protocol.Client
	in      protocol.Input
	headers headerReader
	pings   pingPolicy
	calm    *rate.Limiter // limits frames that cost the client nothing
	resets  *rate.Limiter // limits calls that the client resets

	app    Conn               // nil if there is none
	base   context.Context    // parent of the contexts of all calls
	cancel context.CancelFunc // cancels base

	prefaced bool   // the client's preface was read
	settled  bool   // so were its first settings
	over     bool   // nothing more is read
	lastID   uint32 // highest stream ID that the client opened; set with mu held
	frames   uint64 // frames read
	received uint32 // bytes of data not yet returned to the connection's window

	known    atomic.Bool    // the client has logged in or need not; never reset
	held     atomic.Int64   // bytes of requests
	greeted  atomic.Bool    // like settled, for the timer of the handshake
	draining atomic.Bool    // set by Drain
	quit     atomic.Bool    // the reader must exit
	handlers sync.WaitGroup // goroutines that run handlers; only the reader adds
	work     chan func()    // for idle goroutines; the reader sends and closes
	idle     atomic.Int32   // number of idle goroutines

	mu      sync.Mutex
	out     output           // guarded by mu
	enc     headerEncoder    // guarded by mu
	calls   map[uint32]*Call // guarded by mu: open calls
	busy    int              // guarded by mu: calls being handled, open or reset
	running int              // guarded by mu: unary calls whose handlers run on goroutines
	send    sendState        // guarded by mu
	sent    int              // guarded by mu: frames that allow the client a ping, at most mostSent
	sentAll uint64           // guarded by mu: data and header frames sent
	late    uint64           // guarded by mu: frames for calls that were over, at most sentAll
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

// welcome creates the application's and the handlers' view of the connection. By then the client
// has sent the HTTP/2 preface, and a TLS handshake is complete.
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

// finish ends the client's calls, lets the writer write what is left, and closes the socket.
// Handlers that ignore their context delay only the return of finish.
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
