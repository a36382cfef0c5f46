package messages

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// transfer moves the messages that are ready in a queue at its start to other queues. Each batch is
// one transaction, so a message is always either in its old queue or in its new one.
type transfer struct {
	s       *broker.Session
	queue   string
	to      string // "": each message goes to the queue where it died
	redrive bool   // remove the headers that record their deaths
	keep    func(message.Envelope) bool
	limit   int     // 0: none
	rate    float64 // messages per second, 0: no limit

	moved, left func(n int) // called with the numbers of messages moved and of messages left
}

const (
	// batchMessages is the maximum number of messages per transaction.
	batchMessages = 100
	// batchTime times the rate is the number of messages per batch.
	batchTime = 100 * time.Millisecond
)

// batch returns how many messages to move at once, and the minimum time until the next batch.
func (t *transfer) batch() (n int, pause time.Duration) {
	if t.rate <= 0 {
		return batchMessages, 0
	}
	n = int(math.Ceil(t.rate * batchTime.Seconds()))
	n = min(max(n, 1), batchMessages)
	return n, time.Duration(float64(n) / t.rate * float64(time.Second))
}

// run moves messages until all are moved, or ctx is done. The error says why it could not continue.
func (t *transfer) run(ctx context.Context) error {
	sweep, err := loans.NewSweep(t.s, t.queue, func(env message.Envelope) bool {
		wanted := t.keep(env)
		if !wanted {
			t.left(1)
		}
		return wanted
	})
	if err != nil {
		return err
	}
	n, pause := t.batch()
	for moved := 0; ctx.Err() == nil && (t.limit == 0 || moved < t.limit); {
		want := n
		if t.limit > 0 {
			want = min(n, t.limit-moved)
		}
		start := time.Now()
		lent, err := sweep.Next(want)
		if err != nil || len(lent) == 0 {
			return err
		}
		done, err := t.move(lent)
		if err != nil {
			return err
		}
		moved += done
		if done > 0 {
			rest.Pause(ctx, pause-time.Since(start))
		}
	}
	return nil
}

// move moves messages that were lent, as far as they have a destination. On an error all of them
// are returned to their queue.
func (t *transfer) move(lent []shard.Delivery) (moved int, err error) {
	tx := t.s.NewTx()
	for i := range lent {
		d := &lent[i]
		p, err := t.destined(d)
		switch {
		case errors.Is(err, errNowhere):
			tx.Release(d.Queue, d.Handle, 1)
			continue
		case err != nil:
			putBack(t.s, lent)
			return 0, err
		}
		tx.Publish(p)
		tx.Ack(d.Queue, nil, d.Handle, 1)
		moved++
	}
	if err := tx.Commit(); err != nil {
		putBack(t.s, lent)
		return 0, err
	}
	t.moved(moved)
	t.left(len(lent) - moved)
	return moved, nil
}

// putBack returns messages that were lent to their places.
func putBack(s *broker.Session, lent []shard.Delivery) {
	for i := range lent {
		s.Release(lent[i].Queue, lent[i].Handle, 1)
	}
	s.FlushInline()
}

// errNowhere means that a message does not say where it died, or that the queue no longer exists.
var errNowhere = errors.New("no queue to move the message to")

// destined returns a message in the form to be published.
func (t *transfer) destined(d *shard.Delivery) (*shard.Publish, error) {
	env, name := d.Env, t.to
	if t.redrive {
		home, source, ok := revived(env)
		if !ok && name == "" {
			return nil, errNowhere
		}
		if ok {
			env = home
		}
		name = cmp.Or(name, source)
	}
	if name == t.queue {
		return nil, errNowhere
	}
	to, err := t.s.Into(name)
	if err != nil {
		if t.to == "" && errors.Is(err, failure.ErrQueueNotFound) {
			err = errNowhere
		}
		return nil, err
	}
	return republished(env, to)
}
