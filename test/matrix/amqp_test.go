package matrix

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

var amqpProtocol = protocol{name: "amqp", typed: true, plain: true, marks: true, volatile: true, dial: dialAMQP}

type amqpEnd struct {
	conn *amqp.Connection
	ch   *amqp.Channel
}

func dialAMQP(_ context.Context, b *brokertest.Broker) (endpoint, error) {
	conn, err := amqp.Dial(b.URL())
	if err != nil {
		return nil, err
	}
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	return &amqpEnd{conn, ch}, ch.Confirm(false)
}

func (e *amqpEnd) close() { e.conn.Close() }

func (e *amqpEnd) declare(_ context.Context, queue string, priorities int) error {
	var args amqp.Table
	if priorities > 0 {
		args = amqp.Table{"x-max-priority": int32(priorities)}
	}
	_, err := e.ch.QueueDeclare(queue, true, false, false, false, args)
	return err
}

func (e *amqpEnd) send(ctx context.Context, queue string, m message) error {
	p := amqp.Publishing{Body: m.body, MessageId: m.id, DeliveryMode: amqp.Persistent, Headers: amqp.Table{}}
	for _, h := range m.headers {
		p.Headers[h.name] = h.value
	}
	for name, v := range m.properties {
		switch name {
		case "content_type":
			p.ContentType = v
		case "content_encoding":
			p.ContentEncoding = v
		case "delivery_mode":
			p.DeliveryMode = v[0] - '0'
		case "priority":
			n, _ := strconv.Atoi(v)
			p.Priority = uint8(n)
		case "correlation_id":
			p.CorrelationId = v
		case "reply_to":
			p.ReplyTo = v
		case "expiration":
			p.Expiration = v
		case "timestamp":
			p.Timestamp, _ = time.Parse(time.DateTime, v)
		case "type":
			p.Type = v
		case "user_id":
			p.UserId = v
		case "app_id":
			p.AppId = v
		}
	}
	if m.delayed > 0 {
		return errors.ErrUnsupported // it needs its own exchange for that
	}
	if m.expires > 0 {
		p.Expiration = strconv.FormatInt(m.expires.Milliseconds(), 10)
	}
	c, err := e.ch.PublishWithDeferredConfirm("", queue, true, false, p)
	if err != nil {
		return err
	}
	if ok, err := c.WaitContext(ctx); err != nil || !ok {
		return fmt.Errorf("not confirmed: %v", err)
	}
	return nil
}

func (e *amqpEnd) take(_ context.Context, queue string) (m message, ok bool, err error) {
	d, ok, err := e.ch.Get(queue, true)
	if err != nil || !ok {
		return m, false, err
	}
	m = message{id: d.MessageId, again: d.Redelivered, body: d.Body, properties: map[string]string{}}
	for name, v := range d.Headers {
		if kept(name) {
			continue
		}
		h := header{name: name, value: v}
		switch v := v.(type) {
		case string:
			h.text = &v
		case time.Time:
			h.value = v.UTC()
		}
		m.headers = append(m.headers, h)
	}
	set := func(name, v string) {
		if v != "" && v != "0" {
			m.properties[name] = v
		}
	}
	set("content_type", d.ContentType)
	set("content_encoding", d.ContentEncoding)
	set("delivery_mode", strconv.Itoa(int(d.DeliveryMode)))
	set("priority", strconv.Itoa(int(d.Priority)))
	set("correlation_id", d.CorrelationId)
	set("reply_to", d.ReplyTo)
	set("expiration", d.Expiration)
	set("type", d.Type)
	set("user_id", d.UserId)
	set("app_id", d.AppId)
	if !d.Timestamp.IsZero() {
		set("timestamp", d.Timestamp.UTC().Format(time.DateTime))
	}
	return m, true, nil
}

func (e *amqpEnd) giveBack(_ context.Context, queue string) error {
	d, ok, err := e.ch.Get(queue, false)
	if err != nil || !ok {
		return fmt.Errorf("nothing to give back: %v", err)
	}
	if err := d.Nack(false, true); err != nil {
		return err
	}
	_, err = e.ch.QueueDeclarePassive(queue, true, false, false, false, nil) // a nack has no answer, a declare has
	return err
}
