package amqp

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestIsolatedLeader checks that a leader that is cut off from the others confirms nothing. When it
// steps down, its clients get connection.close, but no nack, no answer and no delivery. Each client
// has a second to close its socket.
func TestIsolatedLeader(t *testing.T) {
	const ends = "320 CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"
	synctest.Test(t, func(t *testing.T) {
		var log *faultlog.Log
		o := Options{}
		o.Log = slog.New(slog.DiscardHandler)
		b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) {
			o.WrapLog = func(st *store.Store) shardlog.Log { log = faultlog.New(st); return log }
		})
		s, pipes := New(b, o), protocoltest.NewPipes()
		served := make(chan error, 1)
		go func() { served <- s.Serve(pipes) }()
		b.WhenLost(s.Abandon)
		dial := func() *client {
			nc, err := pipes.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { nc.Close() })
			return &client{t: t, nc: nc}
		}
		login := func() *client {
			c := dial()
			c.login()
			c.open(1)
			return c
		}
		producer, declarer, consumer, other, deaf, stranger := login(), login(), login(), login(), login(), dial()
		producer.declare(1, amqpwire.QueueDeclare{Queue: "q", Durable: true})
		consumer.declare(1, amqpwire.QueueDeclare{Queue: "held", Durable: true})
		consumer.publish(1, "", "held", false, message.Properties{}, "a")
		consumer.consume(1, "held", "c", nil)
		consumer.delivery(1)
		other.consume(1, "held", "o", nil)
		deaf.declare(1, amqpwire.QueueDeclare{Queue: "unread"})
		deaf.consume(1, "unread", "d", nil)
		deaf.publish(1, "", "unread", false, message.Properties{}, "a message that nobody reads")
		synctest.Wait()

		begun := time.Now()
		log.Hold()
		producer.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
		producer.publish(1, "", "q", false, message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}, "x")
		declarer.send(1, &amqpwire.QueueDeclare{Queue: "new", Durable: true})
		for _, c := range []*client{producer, declarer} {
			silent(c, time.Second)
		}
		log.Lose(0, store.ErrLost)
		log.Release()
		for _, c := range []*client{producer, declarer, consumer} {
			if got := c.connectionClosed(); got != ends {
				t.Errorf("got %q", got)
			}
		}
		stranger.gone()
		dial().gone()
		if d := time.Since(begun); d != 2*time.Second {
			t.Errorf("that took %v", d)
		}
		if m := expect[*amqpwire.ConnectionClose](other, 0); closeText(m.ReplyCode, m.ReplyText) != ends {
			t.Errorf("got %+v", m)
		}
		other.gone() // without close-ok
		synctest.Wait()
		if n, d := s.Connections(), time.Since(begun); n != 0 || d != 3*time.Second {
			t.Errorf("after %v %d connections are open", d, n)
		}
		if _, err := deaf.nc.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a client that does not read: %v", err)
		}
		if err := s.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		enginetest.Close(t, b)
	})
}

// silent checks that nothing is received for d.
func silent(c *client, d time.Duration) {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(d)) //nolint:errcheck // a pipe of ours
	if f, err := c.next(); err == nil {
		c.t.Fatalf("got %+v", f)
	}
	c.nc.SetReadDeadline(time.Time{}) //nolint:errcheck // as above
}
