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

// state is the state of a connection in its life cycle.
type state uint8

const (
	wantHeader  state = iota // nothing received
	wantStartOk              // connection.start was sent
	wantTuneOk               // logged in, connection.tune was sent
	wantOpen                 // tuned
	running                  // open
	closing                  // connection.close was sent: only close and close-ok are handled
	garbled                  // like closing, and the byte stream can no longer be parsed
	closed                   // finished
)

// Limits on how long the end of a connection takes.
const (
	closeOkTimeout  = 10 * time.Second // for the client's close-ok
	garbledTimeout  = 3 * time.Second  // for the client to read connection.close after a framing error
	lastWriteWindow = 5 * time.Second  // for the last frames to be written
	lingerTimeout   = 5 * time.Second  // for the client to close the socket after close-ok was sent to it
)

// conn is one client connection. Its fields belong to the reader goroutine (Serve) unless they are
// marked otherwise.
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
	linger   bool // the client asked for the close, and closes the socket itself
	admitted bool // counts towards Options.Connections
	user     string
	operator bool // the broker's operator, without a user name
	peer     clientProperties
	client   *protocol.Client
	roster   roster // has its own lock
	session  *broker.Session

	frameMax   uint32
	channelMax int

	channels map[uint16]*channel
	last     *channel   // the channel of the last frame
	partial  []*channel // with a publish that began in this read
	run      settled    // collected acks, not yet handed to the session
	requests []*request // collected requests to semaphores
	pub      shard.Publish
	taken    []delivery // scratch of settle
	answers  bool       // flushRead will send replies, without the writer

	blocked   bool                  // connection.blocked was sent
	draining  atomic.Bool           // set by Drain and evict
	evicted   atomic.Pointer[fault] // set by evict: the reason
	idle      atomic.Bool           // set by the heartbeat: free the memory
	attention chan struct{}         // 1 slot: Drain was called

	confirmMu  sync.Mutex
	confirming []*confirms   // guarded by confirmMu: with news for the client
	confirmed  chan struct{} // guarded by confirmMu: nil, or notifies the draining reader that confirms were sent
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

// giveUpHandshake ends a connection that did not reach connection.open in time. It runs on a
// timer's goroutine; opening a connection stops the timer.
func (c *conn) giveUpHandshake() {
	if !c.beat.started() {
		c.Kill()
	}
}

// finish releases everything, lets the writer write what is left, and closes the socket.
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
		// After close-ok, the client closes the socket, as with RabbitMQ: publishes may follow the
		// client's close (amqplib), and closing a socket before they are read would discard
		// close-ok.
		c.Linger(lingerTimeout)
	}
	c.Kill()
}

// endSession removes the connection from the engine: it gets no more deliveries, unsettled ones are
// ready again, and its exclusive queues are deleted.
func (c *conn) endSession() {
	if c.session == nil {
		return
	}
	c.doRequests()
	for _, ch := range c.channels {
		ch.cancelAll() // all channels first, so that no consumer gets what another channel returns
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

// evict is called by the engine when the session must end, on any goroutine.
func (c *conn) evict(reason error) {
	c.evicted.Store(faultOf(reason))
	c.Drain()
}

// Abandon implements protocol.Abandoner: connection.close replaces all waiting frames.
func (c *conn) Abandon() {
	f := shutdownFault()
	if !c.out.endWith(closeOf(f)) {
		c.Kill() // it is not open yet, or is already ending
		return
	}
	c.evicted.Store(f)
	c.Drain()
}

// goodbye does what Drain asks for, on the reader's goroutine: outstanding confirms are sent first.
func (c *conn) goodbye() {
	switch {
	case c.state < running:
		c.state = closed
		return
	case c.state > running:
		return // already ending
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

// shutdownFault is sent to clients when the broker stops or loses leadership.
func shutdownFault() *fault {
	return &fault{code: amqpcode.ConnectionForced, text: amqperr.ShutdownText}
}

func closeOf(f *fault) *amqpwire.ConnectionClose {
	return &amqpwire.ConnectionClose{
		ReplyCode: f.code, ReplyText: f.Error(), ClassID: f.method.Class(), MethodID: f.method.Method(),
	}
}

// send appends a method of channel 0 to the output.
func (c *conn) send(m amqpwire.Method) { c.sendOn(0, m) }

// sendOn appends a method to the output.
func (c *conn) sendOn(channel uint16, m amqpwire.Method) {
	c.out.add(func(dst []byte) []byte { return amqpwire.AppendMethodFrame(dst, channel, m) })
	c.answered()
}

// answered makes sure that the answer to a frame is written.
func (c *conn) answered() {
	if !c.answers {
		c.out.signal()
	}
}

// fail closes the connection from the server's side: it leaves the engine, sends connection.close,
// and gives the client time for close-ok.
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
	time.AfterFunc(d, c.Kill) // harmless if the connection has ended by then
}
