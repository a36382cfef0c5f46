package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
)

// OnDelivery is embedded by commands about one delivery. The session that received the delivery may
// settle it without any permission.
type OnDelivery struct {
	OnQueue                  // Find sets its name
	Of       *shard.Queue    // Delivery.Queue
	Consumer *shard.Consumer // Delivery.Consumer
	Handle   queue.Handle
}

func (d *OnDelivery) Find(f Finder) (*shard.Queue, error) {
	d.Queue = d.Of.Name
	if q, ok := f.s.b.set.QueueByID(d.Of.ID); ok {
		return q, nil
	}
	return nil, f.s.NoQueue(d.Queue)
}

// held reports whether the message is still unacked and its consumer still there. It runs on the
// goroutine of the queue's shard.
func (d *OnDelivery) held() bool {
	return shard.ContextOf(d.Of).Deliveries().Status(d.Handle) == queue.Unacked && (d.Consumer == nil || !d.Consumer.Gone())
}

// Settle acknowledges a delivery. If the delivery is no longer held, that is no error unless Must
// is set.
type Settle struct {
	OnDelivery
	Must bool // if the delivery is no longer held, DoAll executes no command and returns ErrStale
	Held bool // result: the delivery was held and is now acknowledged
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

// OfStreams implements ofStreams: deliveries from a stream may be acknowledged, too.
func (*Settle) OfStreams() {}

func (t *Settle) demanded() bool { return t.Must }

func (t *Settle) refused(*commandGroup) error {
	if t.held() {
		return nil
	}
	return t.stale()
}

func (t *Settle) stale() error {
	return t.Of.Fail(failure.ErrStale)
}

func (t *Settle) size() int { return 0 }
