package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// patience is a timeout that only a failing test uses up.
const patience = 60 * time.Second

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestDiskFull checks that when the disk is full a publisher receives connection.blocked, its
// confirms wait, and a consumer continues. When there is room again, the confirms come and
// publishing continues without intervention. A later SIGKILL loses nothing that was confirmed.
func TestDiskFull(t *testing.T) {
	disk, err := brokertest.SmallDisk(t, "256m")
	if errors.Is(err, brokertest.ErrNoMount) {
		t.Skip(err)
	}
	check(t, err)
	data, filler := filepath.Join(disk, "data"), filepath.Join(disk, "filler")
	b, err := brokertest.Start(t.Context(), data, "--disk-free-limit", "1MiB")
	check(t, err)
	defer func() { b.Kill() }()

	pubConn, pub := dial(t, b.URL())
	blocked := pubConn.NotifyBlocked(make(chan amqp.Blocking, 16))
	check(t, pub.Confirm(false))
	q, err := pub.QueueDeclare("full", true, false, false, false, nil)
	check(t, err)
	for range 100 {
		if !publish(t, pub, q.Name).Wait() {
			t.Fatal("nacked before the disk was full")
		}
	}
	brokertest.Fill(t, filler)

	var late []*amqp.DeferredConfirmation
	for deadline := time.After(patience); ; {
		late = append(late, publish(t, pub, q.Name))
		select {
		case n := <-blocked:
			if !n.Active || n.Reason != "low on disk" {
				t.Fatalf("notification %+v", n)
			}
		case <-deadline:
			t.Fatal("never told connection.blocked")
		case <-late[len(late)-1].Done():
			continue
		case <-time.After(10 * time.Millisecond): // the confirm waits for room; publish once more to receive connection.blocked
			continue
		}
		break
	}

	_, con := dial(t, b.URL())
	check(t, con.Qos(10, 0, false))
	deliveries, err := con.Consume(q.Name, "", false, false, false, false, nil)
	check(t, err)
	for range 100 {
		d := next(t, deliveries)
		check(t, d.Ack(false))
	}

	check(t, os.Remove(filler))
	for {
		select {
		case n := <-blocked:
			if n.Active {
				continue
			}
		case <-time.After(patience):
			t.Fatal("never told connection.unblocked")
		}
		break
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, c := range late {
		if ok, err := c.WaitContext(ctx); !ok || err != nil {
			t.Fatalf("message %d of %d sent to a full disk: confirmed %v, %v", i, len(late), ok, err)
		}
	}
	if !publish(t, pub, q.Name).Wait() {
		t.Fatal("nacked after there was room again")
	}

	b.Kill()
	b, err = brokertest.Start(t.Context(), data, "--disk-free-limit", "1MiB")
	check(t, err)
	_, again := dial(t, b.URL())
	state, err := again.QueueDeclarePassive(q.Name, true, false, false, false, nil)
	check(t, err)
	if least := len(late) + 1; state.Messages < least {
		t.Errorf("%d messages after SIGKILL, at least %d were confirmed and not acknowledged", state.Messages, least)
	}
}

func publish(t *testing.T, ch *amqp.Channel, queue string) *amqp.DeferredConfirmation {
	t.Helper()
	c, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: make([]byte, 10_000)})
	check(t, err)
	return c
}

func next(t *testing.T, deliveries <-chan amqp.Delivery) amqp.Delivery {
	t.Helper()
	select {
	case d, ok := <-deliveries:
		if !ok {
			t.Fatal("the consumer's channel is closed")
		}
		return d
	case <-time.After(patience):
		t.Fatal("the consumer is starved")
	}
	panic("unreachable")
}

func dial(t *testing.T, url string) (*amqp.Connection, *amqp.Channel) {
	t.Helper()
	conn, err := amqp.Dial(url)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	check(t, err)
	return conn, ch
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
