package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// demoPatience is the timeout of every wait in the demo. What has not come by then is shown as
// missing.
const demoPatience = 5 * time.Second

func (d *demo) direct() ([]demoRow, error) {
	if err := d.declare("demo.direct", "direct", map[string][]string{"orders": {"order"}, "invoices": {"invoice"}}); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := d.publish("demo.direct", "order", "invoice", "nobody"); err != nil {
		return nil, err
	}
	return d.collect(start, "direct", "demo.direct: order invoice nobody",
		demoRow{queue: "orders", want: []string{"order"}}, demoRow{queue: "invoices", want: []string{"invoice"}})
}

func (d *demo) fanout() ([]demoRow, error) {
	if err := d.declare("demo.fanout", "fanout", map[string][]string{"mail": {""}, "audit": {""}}); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := d.publish("demo.fanout", "news"); err != nil {
		return nil, err
	}
	return d.collect(start, "fanout", "demo.fanout: news",
		demoRow{queue: "mail", want: []string{"news"}}, demoRow{queue: "audit", want: []string{"news"}})
}

func (d *demo) topic() ([]demoRow, error) {
	if err := d.declare("demo.topic", "topic", map[string][]string{"europe": {"eu.*"}, "all": {"#"}}); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := d.publish("demo.topic", "eu.paris", "us.boston"); err != nil {
		return nil, err
	}
	return d.collect(start, "topic", "demo.topic: eu.paris us.boston",
		demoRow{queue: "europe", want: []string{"eu.paris"}}, demoRow{queue: "all", want: []string{"eu.paris", "us.boston"}})
}

// confirm counts the confirms of persistent messages, all in flight at once.
func (d *demo) confirm() ([]demoRow, error) {
	const messages = 1000
	if _, err := d.ch.QueueDeclare("confirmed", true, false, false, false, nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(d.ctx, demoPatience)
	defer cancel()
	start := time.Now()
	var promises []*amqp091.DeferredConfirmation
	for range messages {
		p, err := d.ch.PublishWithDeferredConfirmWithContext(ctx, "", "confirmed", false, false,
			amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte("m")})
		if err != nil {
			return nil, err
		}
		promises = append(promises, p)
	}
	kept := 0
	for _, p := range promises {
		acked, err := p.WaitContext(ctx)
		if err != nil {
			break // the row shows how many came in time
		}
		if acked {
			kept++
		}
	}
	return []demoRow{{
		scene: "confirms", published: fmt.Sprintf("default: confirmed, %d times", messages), queue: "confirmed",
		want: []string{fmt.Sprintf("%d confirms", messages)}, got: []string{fmt.Sprintf("%d confirms", kept)}, took: time.Since(start),
	}}, nil
}

// clockStep is the resolution of the broker's clock: the time of a message counts from the
// beginning of the millisecond in which it arrives.
const clockStep = time.Millisecond

// deadLetter lets a message expire and consumes it from its dead-letter queue.
func (d *demo) deadLetter() ([]demoRow, error) {
	const ttl = 100 * time.Millisecond
	if err := d.declare("demo.expired", "fanout", map[string][]string{"expired": {""}}); err != nil {
		return nil, err
	}
	args := amqp091.Table{"x-message-ttl": ttl.Milliseconds(), "x-dead-letter-exchange": "demo.expired"}
	if _, err := d.ch.QueueDeclare("short-lived", false, false, false, false, args); err != nil {
		return nil, err
	}
	dead, err := d.ch.Consume("expired", "", true, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := d.publish("", "short-lived"); err != nil {
		return nil, err
	}
	row := demoRow{scene: fmt.Sprintf("expiry after %s", ttl), published: "default: short-lived", queue: "expired", want: []string{"short-lived:expired"}}
	select {
	case m := <-dead:
		row.got = []string{fmt.Sprintf("%s:%s", m.Body, deathReason(m.Headers))}
	case <-time.After(demoPatience):
	}
	if row.took = time.Since(start); row.took < ttl-clockStep && len(row.got) > 0 {
		row.got = append(row.got, "too-early")
	}
	return []demoRow{row}, nil
}

// delay publishes the later message first. Both arrive when they are due.
func (d *demo) delay() ([]demoRow, error) {
	const short, long = 50 * time.Millisecond, 100 * time.Millisecond
	args := amqp091.Table{"x-delayed-type": "fanout"}
	if err := d.ch.ExchangeDeclare("demo.delayed", "x-delayed-message", false, false, false, false, args); err != nil {
		return nil, err
	}
	if err := d.declareQueue("in-time", "demo.delayed", nil); err != nil {
		return nil, err
	}
	arrived, err := d.ch.Consume("in-time", "", true, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	row := demoRow{scene: "delayed", published: "demo.delayed: 100ms 50ms", queue: "in-time", want: []string{"50ms", "100ms"}}
	for _, delay := range []time.Duration{long, short} {
		if err := d.send("demo.delayed", "", delay.String(), amqp091.Table{"x-delay": delay.Milliseconds()}); err != nil {
			return nil, err
		}
	}
	patience := time.After(demoPatience)
	for range row.want {
		select {
		case m := <-arrived:
			row.got = append(row.got, string(m.Body))
		case <-patience:
		}
	}
	if row.took = time.Since(start); row.took < long-clockStep && len(row.got) == len(row.want) {
		row.got = append(row.got, "too-early")
	}
	return []demoRow{row}, nil
}

// once publishes a message twice, as a publisher that missed the confirm does.
func (d *demo) once() ([]demoRow, error) {
	if err := d.declareQueue("once", "", amqp091.Table{"x-message-deduplication": true}); err != nil {
		return nil, err
	}
	start := time.Now()
	for _, body := range []string{"order-1", "order-1", "order-2"} {
		if err := d.send("", "once", body, amqp091.Table{"x-deduplication-header": body}); err != nil {
			return nil, err
		}
	}
	return d.collect(start, "de-duplication", "default: once, order-1 twice", demoRow{queue: "once", want: []string{"order-1", "order-2"}})
}

// semaphore admits two of three tasks. The third is more urgent than the first.
func (d *demo) semaphore() ([]demoRow, error) {
	if err := d.send("", "amq.semaphore", `{"op":"create","semaphore":"demo","active":2}`, nil); err != nil {
		return nil, err
	}
	if err := d.declareQueue("may-go", "", nil); err != nil {
		return nil, err
	}
	if err := d.ch.QueueBind("may-go", "demo.*", "semaphore.events", false, nil); err != nil {
		return nil, err
	}
	start := time.Now()
	for _, request := range []string{
		`{"op":"enqueue","semaphore":"demo","task":"a","priority":1}`, `{"op":"enqueue","semaphore":"demo","task":"b","priority":2}`,
		`{"op":"enqueue","semaphore":"demo","task":"c","priority":3}`, `{"op":"release","semaphore":"demo","task":"a"}`,
	} {
		if err := d.send("", "amq.semaphore", request, nil); err != nil {
			return nil, err
		}
	}
	row := demoRow{
		scene: "semaphore of 2", published: "default: amq.semaphore", queue: "may-go",
		want: []string{"a:Acquired", "b:Acquired", "a:TryRelease", "c:Acquired"},
	}
	for {
		m, ok, err := d.ch.Get(row.queue, true)
		if err != nil || !ok {
			return []demoRow{row}, err
		}
		row.got = append(row.got, fmt.Sprintf("%s:%s", m.Headers["task"], m.Headers["event"]))
		row.took = time.Since(start)
	}
}

// deathReason returns the reason of a dead-lettering in the header x-death.
func deathReason(h amqp091.Table) string {
	deaths, _ := h["x-death"].([]any)
	if len(deaths) == 0 {
		return "no-x-death"
	}
	last, _ := deaths[0].(amqp091.Table)
	return fmt.Sprint(last["reason"])
}

// restart stops the broker between publishing and receiving: persistent messages in durable queues
// survive.
func (d *demo) restart() ([]demoRow, error) {
	if _, err := d.ch.QueueDeclare("durable", true, false, false, false, nil); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := d.publish("", "durable"); err != nil {
		return nil, err
	}
	if err := d.stop(); err != nil {
		return nil, err
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d.collect(start, "broker restarted", "default: durable", demoRow{queue: "durable", want: []string{"durable"}})
}

// declare declares an exchange and its queues with their binding keys.
func (d *demo) declare(exchange, kind string, bindings map[string][]string) error {
	if err := d.ch.ExchangeDeclare(exchange, kind, false, false, false, false, nil); err != nil {
		return err
	}
	for queue, keys := range bindings {
		if err := d.declareQueue(queue, "", nil); err != nil {
			return err
		}
		for _, key := range keys {
			if err := d.ch.QueueBind(queue, key, exchange, false, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// declareQueue declares a queue, and binds it to the exchange unless that is "".
func (d *demo) declareQueue(queue, exchange string, args amqp091.Table) error {
	if _, err := d.ch.QueueDeclare(queue, false, false, false, false, args); err != nil || exchange == "" {
		return err
	}
	return d.ch.QueueBind(queue, "", exchange, false, nil)
}

// publish sends one message per routing key, with the key as its body, and waits for the confirm of
// each.
func (d *demo) publish(exchange string, keys ...string) error {
	for _, key := range keys {
		if err := d.send(exchange, key, key, nil); err != nil {
			return err
		}
	}
	return nil
}

// send publishes one persistent message and waits for the confirm.
func (d *demo) send(exchange, key, body string, headers amqp091.Table) error {
	ctx, cancel := context.WithTimeout(d.ctx, demoPatience)
	defer cancel()
	confirm, err := d.ch.PublishWithDeferredConfirmWithContext(ctx, exchange, key, false, false,
		amqp091.Publishing{DeliveryMode: amqp091.Persistent, Headers: headers, Body: []byte(body)})
	if err != nil {
		return fmt.Errorf("publish %s: %w", body, err)
	}
	switch acked, err := confirm.WaitContext(ctx); {
	case err != nil:
		return fmt.Errorf("confirm of %s: %w", body, err)
	case !acked:
		return fmt.Errorf("the broker rejected %s", body)
	}
	return nil
}

// collect consumes all messages from the queues of rows. Everything published was confirmed, so a
// missing message is lost.
func (d *demo) collect(start time.Time, scene, published string, rows ...demoRow) ([]demoRow, error) {
	for i := range rows {
		r := &rows[i]
		r.scene, r.published = scene, published
		for {
			m, ok, err := d.ch.Get(r.queue, true)
			if err != nil {
				return rows[:i], err
			}
			if !ok {
				break
			}
			r.got = append(r.got, string(m.Body))
			r.took = time.Since(start)
		}
	}
	return rows, nil
}
