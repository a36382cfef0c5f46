package loads

import (
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// once has publishers that, after a kill, repeat all messages that were not confirmed, and
// sometimes others too.
var once = scenario{
	queues:  queues,
	declare: declareOnce,
	clients: []client{
		{name: "repeating", work: (*client).publishConfirmed, compose: keyedOnce, repeat: &repeater{}},
		{name: "repeating2", work: (*client).publishConfirmed, compose: keyedOnce, repeat: &repeater{}},
		{name: "transacting", work: (*client).publishTx, compose: keyedOnce, repeat: &repeater{}},
		{name: "consuming", queue: queues[0], work: (*client).consume},
		{name: "consuming2", queue: queues[1], work: (*client).consumeTx},
		{name: "consuming3", queue: queues[2], work: (*client).consumeTx},
	},
	here: history.Once, elsewhere: history.Once,
	shows: showsRepeats,
}

// repeater is what a publisher knows about its keys.
type repeater struct {
	mu      sync.Mutex
	waiting map[history.MsgID]history.Keyed // published but not confirmed
	again   []history.Keyed                 // to repeat
	old     []history.Keyed                 // some published keys, confirmed or not
}

func newRepeater() *repeater { return &repeater{waiting: map[history.MsgID]history.Keyed{}} }

// confirmed forgets a message that was confirmed. Like committed and unsure it may be called on a
// nil repeater.
func (r *repeater) confirmed(id history.MsgID) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
}

// committed forgets all messages, which belong to a committed transaction.
func (r *repeater) committed() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.waiting)
}

// unsure is called when the broker was killed. It schedules all unconfirmed messages for
// repetition.
func (r *repeater) unsure() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.waiting {
		r.again = append(r.again, k)
	}
	clear(r.waiting)
}

// next returns the key and the queue with which to publish the message.
func (r *repeater) next(c *client, id history.MsgID) history.Keyed {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := history.Keyed{Key: id.String(), Queue: queues[c.rng.IntN(len(queues))]}
	switch {
	case len(r.again) > 0:
		k = r.again[0]
		r.again = r.again[1:]
	case len(r.old) > 0 && c.rng.IntN(10) == 0:
		k = r.old[c.rng.IntN(len(r.old))]
	case c.rng.IntN(10) == 0:
		r.old = append(r.old, k)
	}
	r.waiting[id] = k
	return k
}

// keyedOnce returns a message with a key, which is new or repeated.
func keyedOnce(c *client) outgoing {
	id := c.next()
	k := c.repeat.next(c, id)
	m := outgoing{
		routingKey: k.Queue, message: publishing(id, c.rng),
		sent: []history.Event{{Kind: history.Sent, Msg: id, Queue: k.Queue, Key: k.Key}},
	}
	m.message.Headers = amqp.Table{keyHeader: k.Key}
	return m
}

// showsRepeats reports whether keys were published again after a kill.
func showsRepeats(events []history.Event) bool {
	sent, repeats, killed := map[history.Keyed]bool{}, 0, map[history.Keyed]bool{}
	for _, e := range events {
		k := history.Keyed{Key: e.Key, Queue: e.Queue}
		switch e.Kind {
		case history.Sent:
			if killed[k] {
				repeats++
			}
			sent[k] = true
		case history.Crashed:
			for k := range sent {
				killed[k] = true
			}
		}
	}
	return repeats > 0 && showsTransactions(events)
}

func declareOnce(ch *amqp.Channel) error {
	return declareQueues(ch, amqp.Table{"x-message-deduplication": true, "x-deduplication-header": keyHeader}, queues...)
}
