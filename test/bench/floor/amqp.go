package floor

import (
	"net"
	"sync"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

const (
	frameMax    = 128 << 10
	consumerTag = "floor"
	ahead       = 8 // reads of publishers that may wait for a consumer
)

// consumers receive what is published, by queue.
type consumers struct {
	mu      sync.Mutex
	byQueue map[string]*consumer // guarded by mu
}

func (c *consumers) of(queue []byte) *consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byQueue[string(queue)]
}

// consumer has a goroutine that writes what publishers have encoded.
type consumer struct {
	frames chan []byte
	over   <-chan struct{} // closed when its connection has ended

	mu  sync.Mutex
	tag uint64 // guarded by mu: the last delivery tag
}

func newAMQP(d *Disk) *protocol.Edge {
	all := &consumers{byQueue: map[string]*consumer{}}
	return protocol.NewEdge("amqp", logger(), func(nc net.Conn, id uint64) protocol.Session {
		a := &amqpAnswerer{all: all, nc: nc}
		s := newSession(nc, id, d, a)
		a.over = s.Over()
		return s
	})
}

// amqpAnswerer has one channel, and ignores prefetch and acks.
type amqpAnswerer struct {
	all  *consumers
	nc   net.Conn
	over <-chan struct{} // closed when the connection has ended

	greeted bool
	confirm bool
	tag     uint64 // of the last publish
	told    uint64 // the last confirmed tag

	key  []byte           // of the publish whose content is expected
	env  message.Envelope // of the same publish; nil if no content is expected
	left uint64           // body bytes still to come

	to        *consumer // gets delivered
	delivered []byte
}

func (a *amqpAnswerer) answer(b []byte, r *reply) (int, error) {
	n, err := whole(b, r, a.frame)
	a.deliver()
	if a.confirm && a.tag > a.told {
		r.out = amqpwire.AppendAck(r.out, 1, a.tag, true)
		a.told = a.tag
	}
	return n, err
}

// frame answers one frame.
func (a *amqpAnswerer) frame(b []byte, r *reply) (int, error) {
	if !a.greeted {
		if len(b) < len(amqpwire.ProtocolHeader) {
			return 0, nil
		}
		a.greeted = true
		r.method(0, &amqpwire.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US"})
		return len(amqpwire.ProtocolHeader), nil
	}
	f, n, err := amqpwire.ParseFrame(b, frameMax)
	if err != nil || n == 0 {
		return n, err
	}
	switch f.Type {
	case amqpwire.FrameMethod:
		err = a.method(f, r)
	case amqpwire.FrameHeader:
		var props []byte
		if _, a.left, props, err = amqpwire.ParseContentHeader(f.Payload); err == nil {
			a.env = message.AppendEnvelopeHeader(a.env[:0], nil, a.key, props)
		}
	case amqpwire.FrameBody:
		a.env = append(a.env, f.Payload...)
		a.left -= min(a.left, uint64(len(f.Payload)))
	}
	if err == nil && len(a.env) > 0 && a.left == 0 {
		a.published(r)
	}
	return n, err
}

func (a *amqpAnswerer) method(f amqpwire.Frame, r *reply) error {
	id, args, err := amqpwire.SplitMethod(f.Payload)
	switch id {
	case amqpwire.IDBasicPublish:
		var m amqpwire.BasicPublish
		err = m.Decode(args)
		a.key = append(a.key[:0], m.RoutingKey...)
		return err
	case amqpwire.IDBasicConsume:
		m, err := amqpwire.DecodeMethod(f.Payload)
		if err != nil {
			return err
		}
		r.method(f.Channel, &amqpwire.BasicConsumeOk{ConsumerTag: consumerTag})
		a.consume(m.(*amqpwire.BasicConsume).Queue)
		return nil
	case amqpwire.IDConfirmSelect:
		a.confirm = true
	}
	if m := answers[id]; m != nil {
		r.method(f.Channel, m)
	}
	return err
}

// answers are the answers that are always the same.
var answers = map[amqpwire.MethodID]amqpwire.Method{
	amqpwire.IDConnectionStartOk: &amqpwire.ConnectionTune{ChannelMax: 1, FrameMax: frameMax},
	amqpwire.IDConnectionOpen:    &amqpwire.ConnectionOpenOk{},
	amqpwire.IDConnectionClose:   &amqpwire.ConnectionCloseOk{},
	amqpwire.IDChannelOpen:       &amqpwire.ChannelOpenOk{},
	amqpwire.IDChannelClose:      &amqpwire.ChannelCloseOk{},
	amqpwire.IDQueueDeclare:      &amqpwire.QueueDeclareOk{},
	amqpwire.IDBasicQos:          &amqpwire.BasicQosOk{},
	amqpwire.IDQueueDelete:       &amqpwire.QueueDeleteOk{},
	amqpwire.IDConfirmSelect:     &amqpwire.ConfirmSelectOk{},
}

func (r *reply) method(channel uint16, m amqpwire.Method) {
	r.out = amqpwire.AppendMethodFrame(r.out, channel, m)
}

// consume starts a goroutine that writes to the connection what is published to a queue.
func (a *amqpAnswerer) consume(queue string) {
	c := &consumer{frames: make(chan []byte, ahead), over: a.over}
	a.all.mu.Lock()
	a.all.byQueue[queue] = c
	a.all.mu.Unlock()
	go func() {
		for {
			select {
			case b := <-c.frames:
				if _, err := a.nc.Write(b); err != nil {
					return // the reader sees the error too
				}
			case <-c.over:
				return
			}
		}
	}()
}

// published passes the message to the disk, if it is to be confirmed, and to the consumer.
func (a *amqpAnswerer) published(r *reply) {
	a.tag++
	if a.confirm {
		r.keep = append(r.keep, a.env...)
	}
	to := a.all.of(a.key)
	if to != a.to {
		a.deliver()
		a.to = to
	}
	if to != nil {
		to.mu.Lock()
		to.tag++
		a.delivered = amqpwire.AppendDeliver(a.delivered, 1, consumerTag, to.tag, false, a.env, frameMax)
		to.mu.Unlock()
	}
	a.env = a.env[:0]
}

// deliver passes on what was encoded, and blocks on a slow consumer.
func (a *amqpAnswerer) deliver() {
	if len(a.delivered) == 0 {
		return
	}
	select {
	case a.to.frames <- a.delivered:
	case <-a.to.over:
	case <-a.over:
	}
	a.delivered = make([]byte, 0, len(a.delivered))
}
