package amqp

import (
	"net"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// toyBroker implements just enough AMQP for a run: it delivers each message to the first consumer
// of its queue and confirms it.
type toyBroker struct {
	addr      string
	refuse    bool // nack instead of ack
	breakTags bool // confirm tags that were never sent

	mu        sync.Mutex
	ready     map[string][]message.Envelope // messages of queues without a consumer
	consumers map[string]*toyConn
	declared  map[string]bool
	deleted   []string
	published int
	acked     uint64 // deliveries acknowledged by consumers
}

type toyConn struct {
	net.Conn
	mu        sync.Mutex // deliveries come from other connections' goroutines
	delivered uint64
	confirms  bool
	seq       uint64
}

func startToyBroker(t *testing.T, b *toyBroker) *toyBroker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = l.Addr().String()
	b.ready, b.consumers, b.declared = map[string][]message.Envelope{}, map[string]*toyConn{}, map[string]bool{}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { b.serve(t, &toyConn{Conn: c}) })
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return b
}

func (c *toyConn) send(ch uint16, m amqpwire.Method) { c.write(amqpwire.AppendMethodFrame(nil, ch, m)) }

// write ignores errors: the next read notices that the client is gone.
func (c *toyConn) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.Conn.Write(b)
}

func (b *toyBroker) serve(t *testing.T, c *toyConn) {
	defer c.Close()
	in := &conn{Conn: c.Conn, buf: make([]byte, 2*maxFrameBytes), at: 8} // skips the protocol header
	for in.end < 8 {
		n, err := c.Read(in.buf[in.end:8])
		if err != nil {
			return
		}
		in.end += n
	}
	c.send(0, &amqpwire.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US"})
	var queue string
	var env message.Envelope
	left := uint64(0)
	for {
		f, ok, err := in.frame()
		if err == nil && !ok {
			if in.fill() != nil {
				return
			}
			continue
		}
		if err != nil {
			t.Errorf("client sent: %v", err)
			return
		}
		switch f.Type {
		case amqpwire.FrameMethod:
			m, err := amqpwire.DecodeMethod(f.Payload)
			if err != nil {
				t.Errorf("client sent: %v", err)
				return
			}
			if p, ok := m.(*amqpwire.BasicPublish); ok {
				queue = string(p.RoutingKey)
			} else if !b.method(c, m) {
				return
			}
			continue
		case amqpwire.FrameHeader:
			_, size, props, err := amqpwire.ParseContentHeader(f.Payload)
			if err != nil {
				t.Errorf("client sent: %v", err)
				return
			}
			env, left = message.AppendEnvelopeHeader(nil, "", queue, props), size
		case amqpwire.FrameBody:
			env, left = append(env, f.Payload...), left-uint64(len(f.Payload))
		}
		if left == 0 {
			b.publish(c, queue, env)
		}
	}
}

// method handles m. It returns false to end the connection.
func (b *toyBroker) method(c *toyConn, m amqpwire.Method) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch m := m.(type) {
	case *amqpwire.ConnectionStartOk:
		if string(m.Response) != "\x00guest\x00guest" {
			c.send(0, &amqpwire.ConnectionClose{ReplyCode: amqpcode.AccessRefused, ReplyText: "ACCESS_REFUSED - wrong password"})
			return true
		}
		c.send(0, &amqpwire.ConnectionTune{ChannelMax: 10, FrameMax: 4096})
	case *amqpwire.ConnectionOpen:
		c.send(0, &amqpwire.ConnectionOpenOk{})
	case *amqpwire.ChannelOpen:
		c.send(channel, &amqpwire.ChannelOpenOk{})
	case *amqpwire.QueueDeclare:
		b.declared[m.Queue] = m.Durable
		c.send(channel, &amqpwire.QueueDeclareOk{Queue: m.Queue})
	case *amqpwire.QueueDelete:
		b.deleted = append(b.deleted, m.Queue)
		c.send(channel, &amqpwire.QueueDeleteOk{})
	case *amqpwire.ConfirmSelect:
		c.confirms = true
		c.send(channel, &amqpwire.ConfirmSelectOk{})
	case *amqpwire.BasicQos:
		c.send(channel, &amqpwire.BasicQosOk{})
	case *amqpwire.BasicConsume:
		c.send(channel, &amqpwire.BasicConsumeOk{ConsumerTag: "toy"})
		b.consumers[m.Queue] = c
		for _, env := range b.ready[m.Queue] {
			c.deliver(env)
		}
		delete(b.ready, m.Queue)
	case *amqpwire.BasicAck:
		b.acked = m.DeliveryTag
	case *amqpwire.ConnectionClose:
		c.send(0, &amqpwire.ConnectionCloseOk{})
		return false
	}
	return true
}

func (c *toyConn) deliver(env message.Envelope) {
	c.delivered++
	c.write(amqpwire.AppendDeliver(nil, channel, "toy", c.delivered, false, env, 4096))
}

func (b *toyBroker) publish(c *toyConn, queue string, env message.Envelope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.published++
	if k := b.consumers[queue]; k != nil {
		k.deliver(env)
	} else {
		b.ready[queue] = append(b.ready[queue], env)
	}
	if !c.confirms {
		return
	}
	c.seq++
	tag := c.seq
	if b.breakTags {
		tag += 1 << 40
	}
	if b.refuse {
		c.send(channel, &amqpwire.BasicNack{DeliveryTag: tag})
	} else {
		c.send(channel, &amqpwire.BasicAck{DeliveryTag: tag})
	}
}
