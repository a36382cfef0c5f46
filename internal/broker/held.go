package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// OnDelivery is what commands about one delivery embed. The session that was given it may end it:
// that needs no permission.
type OnDelivery struct {
	OnQueue                  // its name is given back, not asked for
	Of       *shard.Queue    // Delivery.Queue
	Consumer *shard.Consumer // Delivery.Consumer
	Handle   queue.Handle
}

func (d *OnDelivery) Find(f Finder) (*shard.Queue, error) {
	d.Queue = d.Of.Name
	if q, ok := f.s.b.set.QueueByID(d.Of.ID); ok {
		return q, nil
	}
	return nil, f.s.noQueue(d.Queue)
}

// held reports whether the message is still out, and its consumer there. It runs on the goroutine
// of the queue's shard.
func (d *OnDelivery) held() bool {
	return shard.ContextOf(d.Of).Deliveries().Status(d.Handle) == queue.Unacked && (d.Consumer == nil || !d.Consumer.Gone())
}

// Settle acknowledges a delivery. One that is not held any more is no error, unless it must be.
type Settle struct {
	OnDelivery
	Must bool // when it is not held any more, nothing of the DoAll is done: DoAll returns ErrStale
	Held bool // it was, and is no more
}

func (t *Settle) Find(f Finder) (*shard.Queue, error) {
	t.Held = false
	q, err := t.OnDelivery.Find(f)
	if err != nil && t.Must {
		err = t.stale()
	}
	return q, err
}

func (t *Settle) Run(at shard.Context) error {
	if t.Held = t.held(); t.Held {
		at.Ack(t.Consumer, t.Handle)
	}
	return nil
}

// ofStreams: what is out of a stream's queue may be acknowledged.
func (*Settle) OfStreams() {}

func (t *Settle) demanded() bool { return t.Must }

func (t *Settle) refused(*commandGroup) error {
	if t.held() {
		return nil
	}
	return t.stale()
}

func (t *Settle) stale() error {
	return t.Of.Fail(ErrStale)
}

func (t *Settle) size() int { return 0 }
