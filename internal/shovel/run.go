package shovel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// idle is how long no message must arrive before a shovel that stops at the end of its source
// checks whether the source is empty.
const idle = 200 * time.Millisecond

// run is one run of a shovel, while both connections hold. It uses a single goroutine.
type run struct {
	options   *Options
	progress  *Progress
	connected bool // both ends were reached, and everything that is used there exists

	from, to   *amqp.Channel
	queue      string // queue of the source
	fromLost   chan *amqp.Error
	toLost     chan *amqp.Error
	returned   chan amqp.Return
	deliveries <-chan amqp.Delivery // nil while there is no consumer
	pending    []pending            // in publishing order
	taken      uint64
	began      time.Time
}

// pending is a message that the target has not confirmed yet.
type pending struct {
	delivery      amqp.Delivery // of the source
	exchange, key string        // of the target
	confirm       *amqp.DeferredConfirmation
	returned      bool
}

// do connects and moves messages until it is done (nil), or until a connection breaks.
func (r *run) do(ctx context.Context) error {
	if err := r.options.check(); err != nil {
		return err
	}
	source, target := &r.options.Source, &r.options.Target
	sourceURI, targetURI := inTurn(source.URI, source.Others, r.progress.Breaks), inTurn(target.URI, target.Others, r.progress.Breaks)
	from, err := r.options.dial(ctx, sourceURI, "source")
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // unsettled messages are requeued, as intended
	to, err := r.options.dial(ctx, targetURI, "target")
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // as above
	if done, err := r.open(from, to); done || err != nil {
		return err
	}
	r.connected = true
	r.progress.Running, r.progress.Err = true, nil
	r.progress.Source, r.progress.Target = WithoutLogin(sourceURI), WithoutLogin(targetURI)
	r.options.Progress(*r.progress)
	return r.move(ctx)
}

// open prepares both sides. done means that nothing is left to move.
func (r *run) open(from, to *amqp.Connection) (done bool, err error) {
	if done, err = r.openSource(from); done || err != nil {
		return done, err
	}
	if err = ensureQueue(to, r.options.Target.Queue, r.options.Target.Args); err != nil {
		return false, fmt.Errorf("shovel: target: %w", err)
	}
	if r.to, err = to.Channel(); err == nil && r.options.AckMode == OnConfirm {
		err = r.to.Confirm(false)
	}
	if err != nil {
		return false, fmt.Errorf("shovel: target: %w", err)
	}
	r.fromLost, r.toLost = r.from.NotifyClose(make(chan *amqp.Error, 1)), r.to.NotifyClose(make(chan *amqp.Error, 1))
	// The library stops reading from the target while there is no room for a return, and drops it
	// after a while. At most Prefetch messages are in flight.
	r.returned = r.to.NotifyReturn(make(chan amqp.Return, r.options.Prefetch))
	return false, r.consume()
}

// openSource finds or declares the queue of the source.
func (r *run) openSource(from *amqp.Connection) (done bool, err error) {
	source := &r.options.Source
	if source.Queue != "" && source.Declare {
		if err := ensureQueue(from, source.Queue, source.Args); err != nil {
			return false, fmt.Errorf("shovel: source: %w", err)
		}
	}
	if r.from, err = from.Channel(); err != nil {
		return false, fmt.Errorf("shovel: source: %w", err)
	}
	var q amqp.Queue
	if source.Queue != "" {
		q, err = r.from.QueueDeclarePassive(source.Queue, true, false, false, false, nil)
	} else if q, err = r.from.QueueDeclare("", false, false, true, false, nil); err == nil {
		err = r.from.QueueBind(q.Name, source.Key, source.Exchange, false, nil)
	}
	if err == nil {
		err = r.from.Qos(r.options.Prefetch, 0, false)
	}
	if err != nil {
		return false, fmt.Errorf("shovel: source: %w", err)
	}
	r.queue = q.Name
	if r.options.Length {
		r.options.Length, r.options.Limit = false, uint64(q.Messages)
		return q.Messages == 0, nil
	}
	return false, nil
}

// ensureQueue declares a durable queue, unless a queue of that name exists with whatever
// properties. It ignores the name "".
func ensureQueue(c *amqp.Connection, queue string, args amqp.Table) error {
	if queue == "" {
		return nil
	}
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	defer ch.Close() //nolint:errcheck // a failed passive declaration has closed it
	if _, err = ch.QueueDeclarePassive(queue, true, false, false, false, nil); err == nil {
		return nil
	}
	var refused *amqp.Error
	if !errors.As(err, &refused) || refused.Code != amqp.NotFound {
		return err
	}
	again, err := c.Channel()
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // the declaration was answered
	_, err = again.QueueDeclare(queue, true, false, false, false, args)
	return err
}

const consumerTag = "fiveways-shovel"

func (r *run) consume() (err error) {
	r.deliveries, err = r.from.Consume(r.queue, consumerTag, r.options.AckMode == NoAck, false, false, false, r.options.Source.Consumer)
	if err != nil {
		return fmt.Errorf("shovel: source: %w", err)
	}
	return nil
}

// move is the main loop. Invariant: a delivery is acknowledged only after its confirm has arrived,
// and only if the message was not returned.
func (r *run) move(ctx context.Context) error {
	r.began = time.Now()
	for {
		deliveries, wait := r.next()
		var confirmed <-chan struct{}
		if len(r.pending) > 0 {
			confirmed = r.pending[0].confirm.Done()
		}
		select {
		case <-ctx.Done():
			return r.finish()
		case err := <-r.fromLost:
			return broken("source", err)
		case err := <-r.toLost:
			return broken("target", err)
		case d, ok := <-deliveries:
			if !ok { // the queue was deleted, or the connection was lost
				return broken("source", nil)
			}
			if err := r.publish(ctx, d); err != nil || r.enough() {
				return err
			}
		case <-confirmed:
			if err := r.settle(); err != nil || r.enough() {
				return err
			}
		case <-wait:
			if r.pause() > 0 || !r.options.Once || len(r.pending) > 0 {
				continue
			}
			if empty, err := r.empty(ctx); empty || err != nil {
				return err
			}
		}
	}
}

// enough reports whether the limit of messages has been moved.
func (r *run) enough() bool { return r.options.Limit > 0 && r.progress.Moved >= r.options.Limit }

// next returns the channel of the next delivery, or nil while none may be taken, and a timer to
// wait for.
func (r *run) next() (<-chan amqp.Delivery, <-chan time.Time) {
	if pause := r.pause(); pause > 0 {
		return nil, time.After(pause)
	}
	if l := r.options.Limit; l > 0 && r.progress.Moved+uint64(len(r.pending)) >= l {
		return nil, nil
	}
	if r.options.Once && len(r.pending) == 0 {
		return r.deliveries, time.After(idle)
	}
	return r.deliveries, nil
}

// pause returns how long the rate limit delays the next message.
func (r *run) pause() time.Duration {
	if r.options.Rate <= 0 {
		return 0
	}
	due := r.began.Add(time.Duration(float64(r.taken) / r.options.Rate * float64(time.Second)))
	return time.Until(due)
}

// publish publishes a delivery at the target.
func (r *run) publish(ctx context.Context, d amqp.Delivery) error {
	t := &r.options.Target
	exchange, key := "", t.Queue
	if t.Queue == "" {
		exchange, key = t.Exchange, t.Key
		if exchange == "" && !t.Default {
			exchange = d.Exchange
		}
		if key == "" {
			key = d.RoutingKey
		}
	}
	p := publishing(&d)
	r.options.Change(&p, r.progress.Source, r.progress.Target)
	mandatory := !t.Lossy && r.options.AckMode == OnConfirm
	confirm, err := r.to.PublishWithDeferredConfirmWithContext(ctx, exchange, key, mandatory, false, p)
	if err != nil {
		return fmt.Errorf("shovel: target: %w", err)
	}
	r.taken++
	if r.options.AckMode == OnConfirm {
		r.pending = append(r.pending, pending{delivery: d, exchange: exchange, key: key, confirm: confirm})
		return nil
	}
	return r.sent(&d)
}

// sent finishes a message that needs no confirm.
func (r *run) sent(d *amqp.Delivery) error {
	if r.options.AckMode == OnPublish {
		if err := r.from.Ack(d.DeliveryTag, false); err != nil {
			return fmt.Errorf("shovel: source: %w", err)
		}
	}
	r.progress.Moved++
	r.options.Progress(*r.progress)
	return nil
}

// publishing returns a delivery in the form to be published.
func publishing(d *amqp.Delivery) amqp.Publishing {
	return amqp.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode, Priority: d.Priority,
		CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId, Timestamp: d.Timestamp,
		Type: d.Type, UserId: d.UserId, AppId: d.AppId, Body: d.Body,
	}
}

// settle acknowledges all messages at the front that are confirmed and were not returned.
func (r *run) settle() error {
	done := 0
	for done < len(r.pending) && isDone(r.pending[done].confirm) {
		done++
	}
	// The broker returns a message before it confirms it, so all returns of these messages have
	// arrived.
	if err := r.markReturned(); err != nil {
		return err
	}
	good := 0
	for good < done && r.pending[good].confirm.Acked() && !r.pending[good].returned {
		good++
	}
	if good > 0 {
		if err := r.from.Ack(r.pending[good-1].delivery.DeliveryTag, true); err != nil {
			return fmt.Errorf("shovel: source: %w", err)
		}
		r.progress.Moved += uint64(good)
		r.options.Progress(*r.progress)
	}
	stuck := good < done
	if stuck && r.pending[good].returned {
		return fmt.Errorf("%w: exchange '%s', routing key '%s'", ErrUnroutable, r.pending[good].exchange, r.pending[good].key)
	}
	r.pending = r.pending[good:]
	if stuck {
		return ErrRefused
	}
	return nil
}

// markReturned marks the messages that were returned. Messages that are equal in everything that
// determines their routing are returned alike.
func (r *run) markReturned() error {
	for {
		select {
		case back, ok := <-r.returned:
			if !ok {
				return fmt.Errorf("shovel: target: %w", amqp.ErrClosed)
			}
			i := slices.IndexFunc(r.pending, func(p pending) bool {
				return !p.returned && p.exchange == back.Exchange && p.key == back.RoutingKey && bytes.Equal(p.delivery.Body, back.Body) &&
					reflect.DeepEqual(p.delivery.Headers, back.Headers)
			})
			if i < 0 { // unknown: no message in flight may be acknowledged
				return fmt.Errorf("%w: exchange '%s', routing key '%s'", ErrUnroutable, back.Exchange, back.RoutingKey)
			}
			r.pending[i].returned = true
		default:
			return nil
		}
	}
}

func isDone(c *amqp.DeferredConfirmation) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// empty stops consuming, moves what has already arrived, and reports whether the source is empty.
// If not, it consumes again.
func (r *run) empty(ctx context.Context) (bool, error) {
	if err := r.from.Cancel(consumerTag, false); err != nil {
		return false, fmt.Errorf("shovel: source: %w", err)
	}
	for d := range r.deliveries { // closed by the cancel after the last delivery
		if err := r.publish(ctx, d); err != nil {
			return false, err
		}
	}
	r.deliveries = nil
	if err := r.finish(); err != nil {
		return false, err
	}
	q, err := r.from.QueueDeclarePassive(r.queue, true, false, false, false, nil)
	if err != nil {
		return false, fmt.Errorf("shovel: source: %w", err)
	}
	if q.Messages == 0 {
		return true, nil
	}
	return false, r.consume()
}

// finishPatience is the timeout for the last confirms.
const finishPatience = 10 * time.Second

// finish waits for the confirms of the messages in flight.
func (r *run) finish() error {
	over := time.After(finishPatience)
	for len(r.pending) > 0 {
		select {
		case <-r.pending[0].confirm.Done():
			if err := r.settle(); err != nil {
				return err
			}
		case err := <-r.fromLost:
			return broken("source", err)
		case err := <-r.toLost:
			return broken("target", err)
		case <-over:
			return errors.New("shovel: target: no confirm in time")
		}
	}
	return nil
}

// broken returns the error for a closed channel of one side.
func broken(side string, err *amqp.Error) error {
	if err == nil {
		return fmt.Errorf("shovel: %s: the connection or the queue is gone", side)
	}
	return fmt.Errorf("shovel: %s: %w", side, err)
}
