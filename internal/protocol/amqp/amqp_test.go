package amqp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

var persistent = message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}

func TestPublishConsumeAck(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q", Durable: true})
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	for i := range 3 {
		c.publish(1, "", "q", false, persistent, fmt.Sprint("m", i))
		for last := uint64(0); last < uint64(i+1); {
			last = expect[*amqpwire.BasicAck](c, 1).DeliveryTag
		}
	}
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	for i := range 3 {
		d, body := c.delivery(1)
		if d.DeliveryTag != uint64(i+1) || body != fmt.Sprint("m", i) || d.Redelivered || string(d.ConsumerTag) != "k" {
			t.Fatalf("delivery %d: %+v %q", i, d, body)
		}
	}
	c.send(1, &amqpwire.BasicAck{DeliveryTag: 2, Multiple: true})
	c.call(1, &amqpwire.ChannelClose{}, &amqpwire.ChannelCloseOk{})

	c.open(1)
	c.send(1, &amqpwire.BasicGet{Queue: "q"})
	g := expect[*amqpwire.BasicGetOk](c, 1)
	if _, body := c.content(); body != "m2" || !g.Redelivered || g.MessageCount != 0 || g.DeliveryTag != 1 {
		t.Fatalf("got %q %+v, want what was not acked", body, g)
	}
	c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
	c.call(1, &amqpwire.BasicGet{Queue: "q"}, &amqpwire.BasicGetEmpty{})
	c.call(0, &amqpwire.ConnectionClose{}, &amqpwire.ConnectionCloseOk{})
	c.gone()
}

// TestBodies sends bodies of many sizes, cut into frames and writes at
// different places, and compares what comes back.
func TestBodies(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	p := message.Properties{Flags: message.HasContentType | message.HasHeaders, ContentType: "text/plain", Headers: message.Table{{Name: "n", Value: int32(7)}}}
	for i, size := range []int{0, 1, 4088, 4089, 65_000, 70_000, 1_000_000} {
		body := strings.Repeat(string(rune('a'+i)), size)
		frames := amqpwire.AppendPublish(nil, 1, "", "q", false, p.Append(nil), []byte(body), uint32(4096<<(i%4)))
		for cut := 1; len(frames) > 0; cut = cut*5 + i {
			cut := min(cut, len(frames))
			c.write(frames[:cut])
			frames = frames[cut:]
		}
		expect[*amqpwire.BasicDeliver](c, 1)
		props, got := c.content()
		if got != body || props.ContentType != "text/plain" {
			t.Fatalf("size %d: got %d bytes, %+v", size, len(got), props)
		}
	}
	if left := n.s.assembling.Load(); left != 0 {
		t.Errorf("%d bytes of unfinished bodies are still counted", left)
	}
}

func TestMandatoryReturnComesBeforeConfirm(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	c.publish(1, "", "nowhere", true, message.Properties{}, "lost")
	r := expect[*amqpwire.BasicReturn](c, 1)
	if _, body := c.content(); r.ReplyCode != 312 || r.ReplyText != "NO_ROUTE" || r.RoutingKey != "nowhere" || body != "lost" {
		t.Fatalf("%+v %q", r, body)
	}
	if a := expect[*amqpwire.BasicAck](c, 1); a.DeliveryTag != 1 {
		t.Fatalf("%+v", a)
	}
}

// TestSoftFaults makes one channel fail after the other on one connection.
func TestSoftFaults(t *testing.T) {
	n := startNode(t, Options{MaxMessageSize: 100}, broker.Options{})
	other := n.login()
	other.open(1)
	other.declare(1, amqpwire.QueueDeclare{Queue: "mine", Exclusive: true})
	c := n.login()
	publish := func(exchange string, p message.Properties, body string) func() {
		return func() { c.publish(1, exchange, "k", false, p, body) }
	}
	send := func(m amqpwire.Method) func() { return func() { c.send(1, m) } }
	for want, do := range map[string]func(){
		"404 NOT_FOUND - no queue 'x' in vhost '/'":              send(&amqpwire.QueueDeclare{Queue: "x", Passive: true}),
		"404 NOT_FOUND - no queue 'y' in vhost '/'":              send(&amqpwire.BasicConsume{Queue: "y"}),
		"404 NOT_FOUND - no queue 'z' in vhost '/'":              send(&amqpwire.BasicGet{Queue: "z"}),
		"404 NOT_FOUND - no previously declared queue":           send(&amqpwire.BasicGet{}),
		"404 NOT_FOUND - no exchange 'none' in vhost '/'":        publish("none", message.Properties{}, "b"),
		"406 PRECONDITION_FAILED - unknown delivery tag 7":       send(&amqpwire.BasicAck{DeliveryTag: 7}),
		"406 PRECONDITION_FAILED - unknown delivery tag 8":       send(&amqpwire.BasicNack{DeliveryTag: 8, Multiple: true}),
		"406 PRECONDITION_FAILED - unknown delivery tag 9":       send(&amqpwire.BasicReject{DeliveryTag: 9}),
		"406 PRECONDITION_FAILED - channel is not transactional": send(&amqpwire.TxCommit{}),
		"406 PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'amq.topic' in vhost '/': received 'direct' but current is 'topic'": send(
			&amqpwire.ExchangeDeclare{Exchange: "amq.topic", Type: "direct", Durable: true}),
		"403 ACCESS_REFUSED - queue name 'amq.q' contains reserved prefix 'amq.*'":               send(&amqpwire.QueueDeclare{Queue: "amq.q"}),
		"403 ACCESS_REFUSED - exchange name 'amq.e' contains reserved prefix 'amq.*'":            send(&amqpwire.ExchangeDeclare{Exchange: "amq.e", Type: "direct"}),
		"403 ACCESS_REFUSED - operation not permitted on the default exchange":                   send(&amqpwire.ExchangeDelete{}),
		"403 ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed": send(&amqpwire.ExchangeDelete{Exchange: "amq.direct"}),
		"403 ACCESS_REFUSED - cannot bind or unbind to a volatile (direct reply-to) queue":       send(&amqpwire.QueueBind{Queue: replyQueue, Exchange: "amq.direct"}),
		"406 PRECONDITION_FAILED - reply consumer cannot acknowledge":                            send(&amqpwire.BasicConsume{Queue: replyQueue}),
		"405 RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine' in vhost '/'. It could be originally declared on another " +
			"connection or the exclusive property value does not match that of the original declaration.": send(&amqpwire.QueueDeclare{Queue: "mine", Exclusive: true}),
		"406 PRECONDITION_FAILED - message size 101 is larger than configured max size 100": publish("", message.Properties{}, strings.Repeat("x", 101)),
		"406 PRECONDITION_FAILED - invalid expiration 'soon': no_integer":                   publish("", message.Properties{Flags: message.HasExpiration, Expiration: "soon"}, ""),
		"406 PRECONDITION_FAILED - user_id property set to 'eve' but authenticated user was 'guest'": publish(
			"", message.Properties{Flags: message.HasUserID, UserID: "eve"}, "b"),
		"406 PRECONDITION_FAILED - fast reply consumer does not exist": publish("", message.Properties{Flags: message.HasReplyTo, ReplyTo: replyQueue}, "b"),
		`406 PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr}`: publish(
			"", message.Properties{Flags: message.HasHeaders, Headers: message.Table{{Name: "CC", Value: "k"}}}, "b"),
		"406 PRECONDITION_FAILED - invalid arg 'x-max-length' for queue 'bad' in vhost '/': {value_negative,-1}": send(
			&amqpwire.QueueDeclare{Queue: "bad", Arguments: message.Table{{Name: "x-max-length", Value: int32(-1)}}}),
		"406 PRECONDITION_FAILED - invalid arg 'x-selector' for binding: selector: at 12: expected a value, got ')'": send(&amqpwire.ExchangeBind{
			Destination: "amq.fanout", Source: "amq.direct", Arguments: message.Table{{Name: "x-selector", Value: "(a = 1) OR )"}}}),
	} {
		c.open(1)
		do()
		c.publish(1, "", "none", false, message.Properties{}, "discarded") // after the fault: must be ignored
		if got := c.channelClosed(1); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestHardFaults makes one connection fail after the other.
func TestHardFaults(t *testing.T) {
	n := startNode(t, Options{ChannelMax: 3, ChannelConsumers: 2}, broker.Options{})
	for want, do := range map[string]func(c *client){
		"540 NOT_IMPLEMENTED - active=false":            func(c *client) { c.send(1, &amqpwire.ChannelFlow{}) },
		"540 NOT_IMPLEMENTED - requeue=false":           func(c *client) { c.send(1, &amqpwire.BasicRecover{}) },
		"540 NOT_IMPLEMENTED - prefetch_size!=0 (1024)": func(c *client) { c.send(1, &amqpwire.BasicQos{PrefetchSize: 1024}) },
		"540 NOT_IMPLEMENTED - immediate=true":          func(c *client) { c.send(1, &amqpwire.BasicPublish{Immediate: true}) },
		"540 NOT_IMPLEMENTED - unknown method 77 of class 60": func(c *client) {
			c.write([]byte{1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 77, 206})
		},
		"503 COMMAND_INVALID - unknown exchange type 'odd'": func(c *client) {
			c.send(1, &amqpwire.ExchangeDeclare{Exchange: "e", Type: "odd"})
		},
		"503 COMMAND_INVALID - unimplemented method":     func(c *client) { c.send(1, &amqpwire.QueueDeclareOk{}) },
		"504 CHANNEL_ERROR - second 'channel.open' seen": func(c *client) { c.send(1, &amqpwire.ChannelOpen{}) },
		"504 CHANNEL_ERROR - expected 'channel.open'":    func(c *client) { c.send(2, &amqpwire.TxSelect{}) },
		"504 CHANNEL_ERROR - unexpected method in connection state running": func(c *client) {
			c.send(0, &amqpwire.ConnectionOpen{VirtualHost: "/"})
		},
		"505 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead": func(c *client) {
			c.send(1, &amqpwire.BasicPublish{})
			c.send(1, &amqpwire.TxSelect{})
		},
		"505 UNEXPECTED_FRAME - expected method frame, got non method frame instead": func(c *client) {
			c.write([]byte{3, 0, 1, 0, 0, 0, 1, 'x', 206})
		},
		"505 UNEXPECTED_FRAME - type 8, all octets = <<>>": func(c *client) { c.write([]byte{8, 0, 1, 0, 0, 0, 0, 206}) },
		"505 UNEXPECTED_FRAME - type 2, all octets = <<0,60>>": func(c *client) {
			c.write([]byte{2, 0, 0, 0, 0, 0, 2, 0, 60, 206})
		},
		"501 FRAME_ERROR - content body frame exceeds remaining content size": func(c *client) {
			c.write(append(amqpwire.AppendPublish(nil, 1, "", "q", false, []byte{0, 0}, []byte("ab"), 4096)[:40], 3, 0, 1, 0, 0, 0, 3, 'a', 'b', 'c', 206))
		},
		`501 FRAME_ERROR - type 3, all octets = <<"x">>: {invalid_frame_end_marker,65}`: func(c *client) {
			c.write([]byte{3, 0, 1, 0, 0, 0, 1, 'x', 'A'})
		},
		"501 FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,131080,131064}": func(c *client) {
			c.write([]byte{3, 0, 1, 0, 2, 0, 8})
		},
		"530 NOT_ALLOWED - number of channels opened (3) has reached the negotiated channel_max (3)": func(c *client) {
			c.open(2)
			c.open(3)
			c.send(4, &amqpwire.ChannelOpen{})
		},
		"530 NOT_ALLOWED - reached maximum (2) of consumers per channel": func(c *client) {
			c.declare(1, amqpwire.QueueDeclare{Exclusive: true})
			for _, tag := range []string{"a", "b"} {
				c.call(1, &amqpwire.BasicConsume{ConsumerTag: tag}, &amqpwire.BasicConsumeOk{ConsumerTag: tag})
			}
			c.send(1, &amqpwire.BasicConsume{ConsumerTag: "c"})
		},
		"530 NOT_ALLOWED - attempt to reuse consumer tag 'k'": func(c *client) {
			c.declare(1, amqpwire.QueueDeclare{Exclusive: true})
			c.call(1, &amqpwire.BasicConsume{ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
			c.send(1, &amqpwire.BasicConsume{ConsumerTag: "k"})
		},
	} {
		c := n.login()
		c.open(1)
		do(c)
		if got := c.connectionClosed(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestHandshake(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{LoginDelay: -1}}, broker.Options{})
	start := func(t *testing.T) *client {
		c := n.dial()
		c.t = t
		c.write([]byte(amqpwire.ProtocolHeader))
		s := expect[*amqpwire.ConnectionStart](c, 0)
		if s.Mechanisms != "PLAIN AMQPLAIN" {
			t.Errorf("mechanisms %q", s.Mechanisms)
		}
		return c
	}
	plain := func(response string, capable bool) *amqpwire.ConnectionStartOk {
		return &amqpwire.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte(response), Locale: "en_US", ClientProperties: message.Table{
			{Name: "capabilities", Value: message.Table{{Name: "authentication_failure_close", Value: capable}}},
		}}
	}
	t.Run("other protocol", func(t *testing.T) {
		c := n.dial()
		c.write([]byte("GET / HTTP/1.1\r\n\r\n"))
		got := make([]byte, 8)
		if _, err := c.nc.Read(got); err != nil || string(got) != amqpwire.ProtocolHeader {
			t.Errorf("%q %v", got, err)
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		c := start(t)
		c.send(0, plain("\x00guest\x00nope", true))
		const want = "403 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
		if got := c.connectionClosed(); got != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("wrong password, old client", func(t *testing.T) {
		c := start(t)
		c.send(0, plain("\x00guest\x00nope", false))
		c.gone()
	})
	t.Run("mechanism", func(t *testing.T) {
		c := start(t)
		c.send(0, &amqpwire.ConnectionStartOk{Mechanism: "X"})
		if got := c.connectionClosed(); got != "503 COMMAND_INVALID - unknown authentication mechanism 'X'" {
			t.Error(got)
		}
	})
	t.Run("malformed response", func(t *testing.T) {
		c := start(t)
		c.send(0, plain("guest", true))
		if got := c.connectionClosed(); got != `502 SYNTAX_ERROR - response <<"guest">> invalid` {
			t.Error(got)
		}
	})
	t.Run("AMQPLAIN and limits of the client", func(t *testing.T) {
		c := start(t)
		response := message.AppendTable(nil, message.Table{{Name: "LOGIN", Value: "guest"}, {Name: "PASSWORD", Value: "guest"}})[4:]
		c.send(0, &amqpwire.ConnectionStartOk{Mechanism: "AMQPLAIN", Response: response})
		expect[*amqpwire.ConnectionTune](c, 0)
		c.send(0, &amqpwire.ConnectionTuneOk{FrameMax: 4096, ChannelMax: 1})
		c.call(0, &amqpwire.ConnectionOpen{VirtualHost: "/"}, &amqpwire.ConnectionOpenOk{})
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{})
		c.call(1, &amqpwire.BasicConsume{ConsumerTag: "k", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
		c.send(1, &amqpwire.ConfirmSelect{})
		expect[*amqpwire.ConfirmSelectOk](c, 1)
		c.send(2, &amqpwire.ChannelOpen{})
		if got := c.connectionClosed(); got != "530 NOT_ALLOWED - number of channels opened (1) has reached the negotiated channel_max (1)" {
			t.Error(got)
		}
	})
	for want, m := range map[string]amqpwire.ConnectionTuneOk{
		"530 NOT_ALLOWED - negotiated frame_max = 4095 is lower than the minimum allowed value (4096)":      {FrameMax: 4095},
		"530 NOT_ALLOWED - negotiated frame_max = 200000 is higher than the maximum allowed value (131072)": {FrameMax: 200000},
		"530 NOT_ALLOWED - negotiated channel_max = 4096 is higher than the maximum allowed value (2047)":   {ChannelMax: 4096},
	} {
		c := start(t)
		c.send(0, plain("\x00guest\x00guest", true))
		expect[*amqpwire.ConnectionTune](c, 0)
		c.send(0, &m)
		if got := c.connectionClosed(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	t.Run("vhost", func(t *testing.T) {
		c := start(t)
		c.send(0, plain("\x00guest\x00guest", true))
		expect[*amqpwire.ConnectionTune](c, 0)
		c.send(0, &amqpwire.ConnectionTuneOk{})
		c.send(0, &amqpwire.ConnectionOpen{VirtualHost: "foo"})
		if got := c.connectionClosed(); got != "530 NOT_ALLOWED - vhost foo not found" {
			t.Error(got)
		}
	})
}

// TestRaisedGlobalPrefetch checks that a raised limit of the channel lets waiting consumers
// continue without any other event.
func TestRaisedGlobalPrefetch(t *testing.T) {
	c := startNode(t, Options{}, broker.Options{}).login()
	c.open(1)
	q := c.declare(1, amqpwire.QueueDeclare{Exclusive: true}).Queue
	c.call(1, &amqpwire.BasicQos{PrefetchCount: 1, Global: true}, &amqpwire.BasicQosOk{})
	for _, body := range []string{"a", "b", "c"} {
		c.publish(1, "", q, false, message.Properties{}, body)
	}
	c.call(1, &amqpwire.BasicConsume{Queue: q, ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	for i, raised := range []uint16{2, 0} {
		if _, body := c.delivery(1); body != string("abc"[i]) {
			t.Errorf("got %q as message %d", body, i)
		}
		c.call(1, &amqpwire.BasicQos{PrefetchCount: raised, Global: true}, &amqpwire.BasicQosOk{})
	}
	if _, body := c.delivery(1); body != "c" {
		t.Errorf("got %q at last", body)
	}
}

func TestHandshakeTimeout(t *testing.T) {
	n := startNode(t, Options{HandshakeTimeout: 50 * time.Millisecond}, broker.Options{})
	n.dial().gone()
}

func TestHeartbeat(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.dial()
	c.write([]byte(amqpwire.ProtocolHeader))
	expect[*amqpwire.ConnectionStart](c, 0)
	c.send(0, &amqpwire.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest")})
	expect[*amqpwire.ConnectionTune](c, 0)
	c.send(0, &amqpwire.ConnectionTuneOk{Heartbeat: 1})
	began := time.Now()
	c.call(0, &amqpwire.ConnectionOpen{VirtualHost: "/"}, &amqpwire.ConnectionOpenOk{}) // then the client is silent
	got := make([]byte, 8)
	if _, err := c.nc.Read(got); err != nil || string(got) != string(amqpwire.AppendHeartbeat(nil)) {
		t.Fatalf("%x %v", got, err)
	}
	c.gone()
	if took := time.Since(began); took < 1500*time.Millisecond || took > 10*time.Second {
		t.Errorf("closed after %v, want about two intervals of a second", took)
	}
}

func TestTx(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "in"})
	c.declare(1, amqpwire.QueueDeclare{Queue: "out"})
	c.publish(1, "", "in", false, message.Properties{}, "job")
	c.call(1, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	c.send(1, &amqpwire.BasicGet{Queue: "in"})
	expect[*amqpwire.BasicGetOk](c, 1)
	c.content()

	work := func() {
		c.publish(1, "", "out", false, persistent, "done")
		c.publish(1, "", "nowhere", true, persistent, "lost")
		c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
	}
	work()
	c.call(1, &amqpwire.QueueDeclare{Queue: "out", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "out"})
	c.call(1, &amqpwire.TxRollback{}, &amqpwire.TxRollbackOk{})
	work() // the rollback made the ack valid again
	c.send(1, &amqpwire.TxCommit{})
	expect[*amqpwire.BasicReturn](c, 1)
	c.content()
	expect[*amqpwire.TxCommitOk](c, 1)
	c.call(1, &amqpwire.QueueDeclare{Queue: "out", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "out", MessageCount: 1})
	c.call(1, &amqpwire.ChannelClose{}, &amqpwire.ChannelCloseOk{})
	c.open(1)
	c.call(1, &amqpwire.BasicGet{Queue: "in"}, &amqpwire.BasicGetEmpty{})

	c.send(1, &amqpwire.ConfirmSelect{NoWait: true})
	c.send(1, &amqpwire.TxSelect{})
	if got := c.channelClosed(1); got != "406 PRECONDITION_FAILED - cannot switch from confirm to tx mode" {
		t.Error(got)
	}
}

// TestTxOfReturns checks that messages which the commit will return count towards the size of the
// transaction.
func TestTxOfReturns(t *testing.T) {
	n := startNode(t, Options{MaxMessageSize: 100}, broker.Options{})
	c := n.login()
	c.open(1)
	c.call(1, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	for range maxTxMessages {
		c.publish(1, "amq.direct", "nowhere", true, message.Properties{}, strings.Repeat("m", 100))
	}
	if got := c.channelClosed(1); got != "406 PRECONDITION_FAILED - the transaction holds more than 400 bytes" {
		t.Error(got)
	}
}

// TestTxOfMany checks that the number of messages in a transaction is limited, because each takes
// memory even if it is empty.
func TestTxOfMany(t *testing.T) {
	s := &Server{o: Options{MaxMessageSize: 1 << 20}}
	tx := &transaction{posts: make([]txPost, s.maxTxPosts()-1)}
	if err := tx.add(s, txPost{}); err != nil {
		t.Error(err)
	}
	if err := tx.add(s, txPost{}); err == nil || !strings.Contains(err.Error(), "the transaction holds more than 262144 messages") {
		t.Error(err)
	}
	if size := unsafe.Sizeof(txPost{}) * 2; size > postOverhead {
		t.Errorf("a publish takes %d bytes, more than is counted", size)
	}
}

// TestTxLeftOpen closes the channel of an open transaction, which discards its acks.
func TestTxLeftOpen(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	c.publish(1, "", "q", false, message.Properties{}, "m")
	c.call(1, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	c.send(1, &amqpwire.BasicGet{Queue: "q"})
	expect[*amqpwire.BasicGetOk](c, 1)
	c.content()
	c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
	c.call(1, &amqpwire.ChannelClose{}, &amqpwire.ChannelCloseOk{})
	c.open(1)
	c.send(1, &amqpwire.BasicGet{Queue: "q"})
	if g := expect[*amqpwire.BasicGetOk](c, 1); !g.Redelivered {
		t.Error("not marked as redelivered")
	}
}

func TestDirectReplyTo(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	asker, worker := n.login(), n.login()
	asker.open(1)
	worker.open(1)
	worker.declare(1, amqpwire.QueueDeclare{Queue: "rpc"})
	worker.call(1, &amqpwire.BasicConsume{Queue: "rpc", ConsumerTag: "w", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "w"})
	asker.call(1, &amqpwire.BasicConsume{Queue: replyQueue, ConsumerTag: "r", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "r"})
	asker.publish(1, "", "rpc", false, message.Properties{Flags: message.HasReplyTo | message.HasCorrelationID, ReplyTo: replyQueue, CorrelationID: "7"}, "ask")
	expect[*amqpwire.BasicDeliver](worker, 1)
	p, _ := worker.content()
	if !strings.HasPrefix(p.ReplyTo, replyPrefix) || p.CorrelationID != "7" {
		t.Fatalf("properties %+v", p)
	}
	worker.call(1, &amqpwire.QueueDeclare{Queue: p.ReplyTo, Passive: true}, &amqpwire.QueueDeclareOk{Queue: p.ReplyTo, ConsumerCount: 1})
	worker.publish(1, "", p.ReplyTo, true, message.Properties{}, "answer")
	d, body := asker.delivery(1)
	if body != "answer" || string(d.ConsumerTag) != "r" || string(d.RoutingKey) != p.ReplyTo {
		t.Errorf("%+v %q", d, body)
	}
	asker.call(1, &amqpwire.BasicCancel{ConsumerTag: "r"}, &amqpwire.BasicCancelOk{ConsumerTag: "r"})
	worker.send(1, &amqpwire.QueueDeclare{Queue: p.ReplyTo, Passive: true})
	if got := worker.channelClosed(1); !strings.HasPrefix(got, "404 ") {
		t.Error(got)
	}
}

func TestSenderSelectedKeys(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	for _, q := range []string{"a", "b", "c"} {
		c.declare(1, amqpwire.QueueDeclare{Queue: q})
	}
	c.publish(1, "", "a", false, message.Properties{Flags: message.HasHeaders, Headers: message.Table{
		{Name: "CC", Value: message.Array{"b", "a"}}, {Name: "BCC", Value: message.Array{"c"}},
	}}, "copy")
	for _, q := range []string{"a", "b", "c"} {
		c.send(1, &amqpwire.BasicGet{Queue: q, NoAck: true})
		g := expect[*amqpwire.BasicGetOk](c, 1)
		p, _ := c.content()
		if _, ok := p.Headers.Get("BCC"); ok || g.MessageCount != 0 {
			t.Errorf("%s: %+v %+v", q, g, p.Headers)
		}
	}
}

func TestCancelNotify(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c, other := n.login("consumer_cancel_notify"), n.login()
	c.open(1)
	other.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	other.call(1, &amqpwire.QueueDelete{Queue: "q"}, &amqpwire.QueueDeleteOk{})
	if m := expect[*amqpwire.BasicCancel](c, 1); m.ConsumerTag != "k" || !m.NoWait {
		t.Errorf("%+v", m)
	}
}

// TestCancelFollowsDeleteOk is for clients that delete the queue they consume from and wait for the
// answer.
func TestCancelFollowsDeleteOk(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login("consumer_cancel_notify")
	c.open(1)
	for _, noWait := range []bool{false, true} {
		c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
		c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
		c.send(1, &amqpwire.QueueDelete{Queue: "q", NoWait: noWait})
		if !noWait {
			expect[*amqpwire.QueueDeleteOk](c, 1)
		}
		expect[*amqpwire.BasicCancel](c, 1)
	}
}

// TestCloseDeliversNothing checks that deliveries that one channel returns when its connection
// closes do not go to another channel of the same connection.
func TestCloseDeliversNothing(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	for range 20 { // the order in which channels end is random
		c := n.login()
		c.open(1)
		c.declare(1, amqpwire.QueueDeclare{Queue: "q", Exclusive: true})
		c.publish(1, "", "q", false, message.Properties{}, "body")
		for id := uint16(1); id <= 2; id++ {
			if id > 1 {
				c.open(id)
			}
			c.call(id, &amqpwire.BasicQos{PrefetchCount: 1}, &amqpwire.BasicQosOk{})
			c.call(id, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
			if id == 1 {
				c.delivery(1)
			}
		}
		c.call(0, &amqpwire.ConnectionClose{ReplyCode: 200}, &amqpwire.ConnectionCloseOk{})
	}
}

// TestClientClosesTheSocket is for clients whose connection.close overtakes frames that they have
// not written yet (amqplib).
func TestClientClosesTheSocket(t *testing.T) {
	c := startNode(t, Options{}, broker.Options{}).login()
	c.open(1)
	c.call(0, &amqpwire.ConnectionClose{ReplyCode: 200}, &amqpwire.ConnectionCloseOk{})
	c.publish(1, "", "late", false, message.Properties{}, "body")
	c.nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) //nolint:errcheck // a socket of ours
	if _, err := c.nc.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after close-ok: %v", err)
	}
	c.nc.Close()
}

// TestUpdateSecret checks that a login by password accepts any new secret.
func TestUpdateSecret(t *testing.T) {
	c := startNode(t, Options{}, broker.Options{}).login()
	c.call(0, &amqpwire.ConnectionUpdateSecret{NewSecret: []byte("new"), Reason: "renewal"}, &amqpwire.ConnectionUpdateSecretOk{})
}

// TestPrefetch checks that qos holds per consumer and per channel, and that recover redelivers
// everything.
func TestPrefetch(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	for i := range 5 {
		c.publish(1, "", "q", false, message.Properties{}, fmt.Sprint(i))
	}
	c.call(1, &amqpwire.BasicQos{PrefetchCount: 2}, &amqpwire.BasicQosOk{})
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k"}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	c.delivery(1)
	c.delivery(1)
	c.call(1, &amqpwire.QueueDeclare{Queue: "q", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "q", MessageCount: 3, ConsumerCount: 1})
	c.send(1, &amqpwire.BasicAck{DeliveryTag: 1})
	if d, body := c.delivery(1); d.DeliveryTag != 3 || body != "2" {
		t.Fatalf("%+v %s", d, body)
	}
	c.call(1, &amqpwire.BasicCancel{ConsumerTag: "k"}, &amqpwire.BasicCancelOk{ConsumerTag: "k"})
	c.call(1, &amqpwire.BasicRecover{Requeue: true}, &amqpwire.BasicRecoverOk{})
	c.call(1, &amqpwire.QueueDeclare{Queue: "q", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "q", MessageCount: 4})

	c.call(1, &amqpwire.BasicQos{PrefetchCount: 3, Global: true}, &amqpwire.BasicQosOk{})
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "a"}, &amqpwire.BasicConsumeOk{ConsumerTag: "a"})
	for i := range 2 {
		if d, body := c.delivery(1); body != fmt.Sprint(i+1) || !d.Redelivered {
			t.Fatalf("%+v %s", d, body)
		}
	}
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "b"}, &amqpwire.BasicConsumeOk{ConsumerTag: "b"})
	if d, body := c.delivery(1); body != "3" || string(d.ConsumerTag) != "b" {
		t.Fatalf("%+v %s", d, body)
	}
	c.call(1, &amqpwire.QueueDeclare{Queue: "q", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "q", MessageCount: 1, ConsumerCount: 2})
	c.call(1, &amqpwire.BasicGet{Queue: "none", NoAck: true}, &amqpwire.ChannelClose{
		ReplyCode: 404, ReplyText: "NOT_FOUND - no queue 'none' in vhost '/'", ClassID: 60, MethodID: 70,
	})
}

// TestBlocked raises the memory alarm: publishers wait, consumers continue.
func TestBlocked(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login("connection.blocked")
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q", Durable: true})
	n.disk.SetFull(true)
	c.publish(1, "", "q", false, persistent, "first")
	for n.b.Alarm() == nil {
		select { // the watchdog looks four times a second
		case <-t.Context().Done():
			t.Fatal("no alarm")
		case <-time.After(10 * time.Millisecond):
		}
	}
	c.publish(1, "", "q", false, persistent, "second")
	if m := expect[*amqpwire.ConnectionBlocked](c, 0); m.Reason != "low on disk" {
		t.Errorf("%+v", m)
	}
	consumer := n.login()
	consumer.open(1)
	consumer.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "k", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "k"})
	consumer.delivery(1)
	n.disk.SetFull(false)
	expect[*amqpwire.ConnectionUnblocked](c, 0)
	c.publish(1, "", "q", false, persistent, "third")
	for _, want := range []string{"second", "third"} {
		if _, body := consumer.delivery(1); body != want {
			t.Errorf("got %s, want %s", body, want)
		}
	}
}

// TestDrain checks that outstanding confirms are sent before the close.
func TestDrain(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c, idle := n.login(), n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q", Durable: true})
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	const count = 500
	for range count {
		c.publish(1, "", "q", false, persistent, "m")
	}
	// The answer on another channel shows that all publishes were read.
	c.send(2, &amqpwire.ChannelOpen{})
	drained := make(chan error, 1)
	last := uint64(0)
	for closed := false; !closed; {
		switch _, m := c.method(); m := m.(type) {
		case *amqpwire.BasicAck:
			last = m.DeliveryTag
		case *amqpwire.ChannelOpenOk:
			ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
			defer cancel()
			go func() { drained <- n.s.Drain(ctx) }()
		case *amqpwire.ConnectionClose:
			const want = "320 CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"
			if got := closeText(m.ReplyCode, m.ReplyText); got != want {
				t.Error(got)
			}
			closed = true
		default:
			t.Fatalf("unexpected %T", m)
		}
	}
	if last != count {
		t.Errorf("confirmed up to %d before the close, want %d", last, count)
	}
	c.send(0, &amqpwire.ConnectionCloseOk{})
	c.gone()
	idle.connectionClosed()
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if n.s.Connections() != 0 || n.s.Channels() != 0 {
		t.Errorf("%d connections, %d channels left", n.s.Connections(), n.s.Channels())
	}
}
