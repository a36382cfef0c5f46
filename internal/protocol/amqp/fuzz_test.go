package amqp

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// FuzzConnection sends arbitrary bytes after a login. The server may close the connection, but must
// neither panic nor hang. A panic of a connection is recovered and answered with a bare
// INTERNAL_ERROR, which the test looks for.
func FuzzConnection(f *testing.F) {
	publish := amqpwire.AppendPublish(nil, 1, "", "q", true, []byte{0x20, 0, 0, 0, 0, 3, 1, 'k', 'V'}, []byte("body"), 4096)
	f.Add(publish)
	f.Add(append(publish[:30:30], publish...))
	f.Add(amqpwire.AppendPublish(nil, 1, "", semaphoreQueue, true, []byte{0, 0}, []byte(`{"op":"enqueue","semaphore":"k","task":1,"priority":1}`), 4096))
	for _, m := range []amqpwire.Method{
		&amqpwire.QueueDeclare{Queue: "q", Arguments: message.Table{{Name: "x-max-length", Value: int32(1)}}},
		&amqpwire.BasicConsume{Queue: "q"}, &amqpwire.BasicGet{Queue: "q"}, &amqpwire.BasicNack{Multiple: true, Requeue: true},
		&amqpwire.ConfirmSelect{}, &amqpwire.TxSelect{}, &amqpwire.TxCommit{}, &amqpwire.BasicRecover{Requeue: true},
		&amqpwire.ExchangeDeclare{Exchange: "e", Type: "headers"}, &amqpwire.QueueBind{Queue: "q", Exchange: "e"}, &amqpwire.ChannelClose{},
		&amqpwire.BasicConsume{Queue: replyQueue, NoAck: true}, &amqpwire.BasicQos{Global: true},
	} {
		f.Add(amqpwire.AppendMethodFrame(nil, 1, m))
	}
	n := startSemaphores(f)
	internal := []byte("INTERNAL_ERROR")
	f.Fuzz(func(t *testing.T, data []byte) {
		n.t = t
		c := n.login()
		c.t = t
		c.open(1)
		if _, err := c.nc.Write(data); err == nil {
			c.nc.(*net.TCPConn).CloseWrite() //nolint:errcheck // the server may have closed
		}
		c.nc.SetReadDeadline(time.Now().Add(answerTimeout)) //nolint:errcheck // a socket of ours
		answer, err := io.ReadAll(c.nc)
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Fatal("the server hangs")
		}
		if at := bytes.Index(answer, internal); at >= 0 {
			t.Fatalf("internal error: %q", answer[at:])
		}
	})
}
