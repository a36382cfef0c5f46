package broker

import "fiveways/internal/core/queue"

// OnDelivery is what commands about one delivery embed. Who was given it may end it: that needs no permission.
type OnDelivery struct {
	OnQueue            // its name is given back, not asked for
	Of       *Queue    // Delivery.Queue
	Consumer *Consumer // Delivery.Consumer
	Handle   queue.Handle
}

func (d *OnDelivery) find(s *Session) (*Queue, error) {
	d.Queue = d.Of.Name
	if q, ok := s.b.queueByID(d.Of.ID); ok {
		return q, nil
	}
	return nil, s.noQueue(d.Queue)
}

// held tells whether the message is still out, and its consumer there. It runs on the goroutine of the queue's shard.
func (d *OnDelivery) held() bool {
	_, status := d.Of.state.Get(d.Handle)
	return status == queue.Unacked && (d.Consumer == nil || !d.Consumer.gone)
}

// Settle acknowledges a delivery. One that is not held any more is no error, unless it must be.
type Settle struct {
	OnDelivery
	Must bool // when it is not held any more, nothing of the DoAll is done: DoAll returns ErrStale
	Held bool // it was, and is no more
}

func (t *Settle) find(s *Session) (*Queue, error) {
	t.Held = false
	q, err := t.OnDelivery.find(s)
	if err != nil && t.Must {
		err = t.stale()
	}
	return q, err
}

func (t *Settle) run(sh *shard, q *Queue) error {
	if t.Held = t.held(); t.Held {
		sh.ack(&op{kind: opAck, queue: q, consumer: t.Consumer, handle: t.Handle, n: 1})
	}
	return nil
}

// ofStreams: what is out of a stream's queue may be acknowledged.
func (*Settle) ofStreams() {}

func (t *Settle) demanded() bool { return t.Must }

func (t *Settle) refused(*meeting) error {
	if t.held() {
		return nil
	}
	return t.stale()
}

func (t *Settle) stale() error {
	return &Error{Err: ErrStale, Kind: "queue", Name: t.Of.Name, VHost: t.Of.vhost.Name}
}

func (t *Settle) size() int { return 0 }

// Held is a condition of Session.DoAll: when a delivery is not held any more, none of the commands behind this one is done.
type Held struct {
	OnDelivery
	Lost bool
}

func (g *Held) find(s *Session) (*Queue, error) {
	q, err := g.OnDelivery.find(s)
	g.Lost = err != nil
	return q, err
}

func (g *Held) run(*shard, *Queue) error {
	g.Lost = !g.held()
	return nil
}

func (*Held) ofStreams() {}

func (g *Held) unmet() bool { return g.Lost }
