package broker

import "fiveways/internal/core/queue"

// OnDelivery is what commands about one delivery embed. The session that was given it may end it:
// that needs no permission.
type OnDelivery struct {
	OnQueue            // its name is given back, not asked for
	Of       *Queue    // Delivery.Queue
	Consumer *Consumer // Delivery.Consumer
	Handle   queue.Handle
}

func (d *OnDelivery) Find(f Finder) (*Queue, error) {
	d.Queue = d.Of.Name
	if q, ok := f.s.b.queueByID(d.Of.ID); ok {
		return q, nil
	}
	return nil, f.s.noQueue(d.Queue)
}

// held reports whether the message is still out, and its consumer there. It runs on the goroutine
// of the queue's shard.
func (d *OnDelivery) held() bool {
	_, status := d.Of.state.Get(d.Handle)
	return status == queue.Unacked && (d.Consumer == nil || !d.Consumer.state.Gone())
}

// Settle acknowledges a delivery. One that is not held any more is no error, unless it must be.
type Settle struct {
	OnDelivery
	Must bool // when it is not held any more, nothing of the DoAll is done: DoAll returns ErrStale
	Held bool // it was, and is no more
}

func (t *Settle) Find(f Finder) (*Queue, error) {
	t.Held = false
	q, err := t.OnDelivery.Find(f)
	if err != nil && t.Must {
		err = t.stale()
	}
	return q, err
}

func (t *Settle) Run(at Context) error {
	if t.Held = t.held(); t.Held {
		at.sh.ack(&op{kind: opAck, queue: at.q, consumer: t.Consumer, handle: t.Handle, n: 1})
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
	return &Error{Err: ErrStale, Kind: "queue", Name: t.Of.Name, VHost: t.Of.vhost.Name}
}

func (t *Settle) size() int { return 0 }
