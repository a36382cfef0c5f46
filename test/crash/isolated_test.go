package crash

import (
	"errors"
	"net"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/clustertest"
	"fiveways.dev/fiveways/test/crash/history"
)

const (
	looked    = "looked" // a queue with one message
	lookEvery = 10 * time.Millisecond
)

// looker is a client of a node that is about to be isolated. It gets a message and returns it, in a
// loop. The other clients soon have nothing left to get, whether the node delivers or not.
type looker struct {
	wire  net.Conn
	begun time.Time
	last  time.Time     // when the message last arrived; valid once ended is closed
	ended chan struct{} // closed when the loop has ended
}

// look starts a looker at the node that the fault hits, which was the leader a moment ago.
func (f *faulty) look() error {
	l := &looker{ended: make(chan struct{})}
	conn, err := amqp.DialConfig(f.Nodes[f.hit].URL(), amqp.Config{Dial: func(network, addr string) (nc net.Conn, err error) {
		l.wire, err = amqp.DefaultDial(clustertest.Patience)(network, addr)
		return l.wire, err
	}})
	if err != nil {
		return err
	}
	ch, err := conn.Channel()
	if err == nil {
		_, err = ch.QueueDeclare(looked, true, false, false, false, amqp.Table{"x-max-length": 1})
	}
	if err == nil {
		err = ch.Publish("", looked, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent})
	}
	if err == nil {
		err = l.get(ch)
	}
	if err != nil {
		l.wire.Close()
		return err
	}
	l.begun, f.looks = time.Now(), l
	go l.run(ch)
	return nil
}

func (l *looker) run(ch *amqp.Channel) {
	defer close(l.ended)
	for l.get(ch) == nil {
		<-time.After(lookEvery)
	}
}

// get gets the message and returns it to the queue.
func (l *looker) get(ch *amqp.Channel) error {
	d, ok, err := ch.Get(looked, false)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the message that was given back is not there")
	}
	l.last = time.Now()
	return d.Nack(false, true)
}

// end ends the looker once the node is a follower. It fails the test if the message was delivered
// too long after the isolation.
func (l *looker) end(t *testing.T) {
	t.Helper()
	l.wire.Close()
	<-l.ended
	if late := l.last.Sub(l.begun); late > history.StaleAfter {
		t.Fatalf("delivered by a node %d ms after it was cut off: a message that was given back", late.Milliseconds())
	}
}
