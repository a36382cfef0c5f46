package amqp

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// state is where a connection is in its life.
type state uint8

const (
	wantHeader  state = iota // nothing received
	wantStartOk              // connection.start is out
	wantTuneOk               // logged in, connection.tune is out
	wantOpen                 // tuned
	running                  // open
	closing                  // we sent connection.close: only close and close-ok count
	garbled                  // as closing, and the byte stream makes no sense any more
	closed                   // over
)

// The limits of how long a connection takes to end.
const (
	closeOkTimeout  = 10 * time.Second // for the client's close-ok
	garbledTimeout  = 3 * time.Second  // for the client to read our close after a framing error
	lastWriteWindow = 5 * time.Second  // for the last frames to be written
	lingerTimeout   = 5 * time.Second  // for the client to close the socket after our close-ok
)

// conn is one client connection. Its fields belong to the reader goroutine
// (Serve) unless they say otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64

	in    protocol.Input
	arena arena
	out   output // has its own lock
	beat  heartbeat
	acks  ackTimer

	state    state
	linger   bool // the client has asked for the end, and closes the socket itself
	admitted bool // holds a place of Options.Connections
	user     string
	operator bool // the operator of the broker, without a user name
	peer     clientProperties
	client   *protocol.Client
	roster   roster // has its own lock
	session  *broker.Session

	frameMax   uint32
	channelMax int

	channels map[uint16]*channel
	last     *channel   // that the last frame was for
	partial  []*channel // with content that began in this read
	run      settled    // gathered acks, not handed to the session yet
	requests []*request // gathered requests to semaphores
	pub      shard.Publish
	taken    []delivery // scratch of settle
	answers  bool       // to the last frame of a read need not wake the writer: flushRead sends them

	blocked   bool                  // connection.blocked is out
	draining  atomic.Bool           // set by Drain and evict
	evicted   atomic.Pointer[fault] // set by evict: why
	idle      atomic.Bool           // set by the heartbeat: give back memory
	attention chan struct{}         // 1 slot: Drain was called

	confirmMu  sync.Mutex
	confirming []*confirms   // guarded by confirmMu: with news for the client
	confirmed  chan struct{} // guarded by confirmMu: nil, or tells the draining reader that confirms went out
}

func newConn(s *Server, nc net.Conn, id uint64) *conn {
	c := &conn{
		srv: s, nc: nc, id: id, attention: make(chan struct{}, 1),
		frameMax: max(handshakeFrameMax, amqpwire.MinFrameMax), channelMax: int(s.o.ChannelMax),
	}
	c.Begin(nc, id)
	c.client = s.o.Clients.Enter(nc, id, "amqp", c)
	c.in.Init(nc)
	c.in.Count(&c.client.In)
	c.out.init(nc)
	c.out.sent = &c.client.Out
	c.acks.init()
	return c
}

// Serve implements protocol.Session.
func (c *conn) Serve() {
	go c.writeLoop()
	handshake := time.AfterFunc(c.srv.o.HandshakeTimeout, c.giveUpHandshake)
	defer handshake.Stop()
	c.Protect(c.srv.o.Log, "amqp: a connection failed", &c.user, c.readLoop, func() {
		c.send(&amqpwire.ConnectionClose{ReplyCode: amqpcode.InternalError, ReplyText: "INTERNAL_ERROR"})
		c.state = closed
	})
	c.finish()
}

// giveUpHandshake ends a connection that did not get to connection.open in time.
// It runs on a timer's goroutine; a connection that is open stopped the timer.
func (c *conn) giveUpHandshake() {
	if !c.beat.started() {
		c.Kill()
	}
}

// finish gives back everything, lets the writer write what is left, and closes
// the socket.
func (c *conn) finish() {
	defer c.client.Leave()
	c.beat.stop()
	c.acks.stop(&c.out)
	c.endSession()
	c.in.Release()
	c.out.end()
	last := time.AfterFunc(lastWriteWindow, func() { c.nc.Close() })
	<-c.out.done
	last.Stop()
	if c.admitted {
		c.srv.o.Connections.Release()
	}
	if c.linger && !c.draining.Load() {
		// The end is left to a client that has close-ok, as RabbitMQ does: publishes may follow its
		// close (amqplib), and a socket closed before they are read would take close-ok from it.
		c.Linger(lingerTimeout)
	}
	c.Kill()
}

// endSession takes the connection out of the engine: no delivery comes after
// it, what was delivered and not settled is ready again, exclusive queues are
// gone.
func (c *conn) endSession() {
	if c.session == nil {
		return
	}
	c.doRequests()
	for _, ch := range c.channels {
		ch.cancelAll() // of all channels first: none is sent what another gives back
	}
	for _, ch := range c.channels {
		c.endChannel(ch)
	}
	c.channels, c.last = nil, nil
	c.session.Close()
	c.session = nil
}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.Leave()
	select {
	case c.attention <- struct{}{}:
	default:
	}
	c.in.Kick()
}

// evict is what the engine calls when the session must end. Any goroutine may
// call it.
func (c *conn) evict(reason error) {
	c.evicted.Store(faultOf(reason))
	c.Drain()
}

// Abandon implements protocol.Abandoner: connection.close takes the place of all frames.
func (c *conn) Abandon() {
	f := shutdownFault()
	if !c.out.endWith(closeOf(f)) {
		c.Kill() // it is not open yet, or ends already
		return
	}
	c.evicted.Store(f)
	c.Drain()
}

// goodbye is what Drain asks for, on the reader's goroutine: outstanding
// confirms leave first.
func (c *conn) goodbye() {
	switch {
	case c.state < running:
		c.state = closed
		return
	case c.state > running:
		return // on its way out already
	}
	if f := c.evicted.Load(); f != nil {
		c.fail(f)
		return
	}
	c.flush()
	c.confirmMu.Lock()
	c.confirmed = make(chan struct{}, 1)
	signal := c.confirmed
	c.confirmMu.Unlock()
	for c.unconfirmed() {
		select {
		case <-signal:
		case <-c.Over():
			return
		}
	}
	c.fail(shutdownFault())
}

// shutdownFault is what clients hear when the broker stops, or does not lead any more.
func shutdownFault() *fault {
	return &fault{code: amqpcode.ConnectionForced, text: amqperr.ShutdownText}
}

func closeOf(f *fault) *amqpwire.ConnectionClose {
	return &amqpwire.ConnectionClose{
		ReplyCode: f.code, ReplyText: f.Error(), ClassID: f.method.Class(), MethodID: f.method.Method(),
	}
}

// send appends a method of channel 0 to what is written next.
func (c *conn) send(m amqpwire.Method) { c.sendOn(0, m) }

// sendOn appends a method to what is written next.
func (c *conn) sendOn(channel uint16, m amqpwire.Method) {
	c.out.add(func(dst []byte) []byte { return amqpwire.AppendMethodFrame(dst, channel, m) })
	c.answered()
}

// answered has the answer to a frame written.
func (c *conn) answered() {
	if !c.answers {
		c.out.signal()
	}
}

// fail closes the connection from our side: the engine lets go of it, the
// client is told, and has some time to say close-ok.
func (c *conn) fail(f *fault) {
	log := c.srv.o.Log
	if c.session == nil {
		log = c.srv.quiet
	}
	log.Warn("amqp: closing a connection", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "reason", f.Error(), "method", f.method)
	c.endSession()
	c.send(closeOf(f))
	c.state = closing
	c.client.SetState(protocol.StateClosing)
	c.killAfter(closeOkTimeout)
}

// killAfter bounds how long the end of the connection may take.
func (c *conn) killAfter(d time.Duration) {
	time.AfterFunc(d, c.Kill) // harmless when all is over by then
}
