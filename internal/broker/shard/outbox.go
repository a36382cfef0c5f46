package shard

import "slices"

// outbox collects the deliveries of one round of a shard for a sink. All consumers of a session on
// the shard share one, so that deliveries from a queue reach the sink in queue order.
type outbox struct {
	sink   Sink
	window *Window
	list   []Delivery
	bytes  int

	late      bool   // the sink gets persistent messages only once they are durable
	lastEntry uint64 // index of the newest entry whose message had to be durable; 0: none
	pending   int    // lists that wait to become durable
}

// flush passes the collected deliveries to the sink.
func (o *outbox) flush(sh *Shard) {
	switch {
	case len(o.list) == 0:
		return
	case o.lastEntry > 0:
		o.flushDurable(sh)
	default:
		sh.hand(o)
	}
	clear(o.list)
	o.list, o.bytes = o.list[:0], 0
}

func (sh *Shard) flushDeliveries() {
	for _, out := range sh.lending {
		out.flush(sh)
	}
	clear(sh.lending)
	sh.lending, sh.gathered = sh.lending[:0], 0
}

// flushDurable is flush if messages of this list, or of an earlier one, have to be durable. To keep
// the order of a queue, the list waits until they are, after the lists that already wait.
func (o *outbox) flushDurable(sh *Shard) {
	if o.lastEntry <= sh.log.UpTo() && o.pending == 0 {
		o.sink.Deliver(o.list)
		return
	}
	list, bytes := append([]Delivery(nil), o.list...), o.bytes
	o.pending++
	o.window.Add(bytes)
	sh.log.WhenDurable(o.lastEntry, func(err error) {
		o.pending--
		if err == nil {
			list = slices.DeleteFunc(list, sh.lost)
		}
		if err == nil && len(list) > 0 {
			o.sink.Deliver(list)
		}
		o.window.Done(bytes)
	})
}

// lost reports whether the queue of a waiting delivery was deleted meanwhile. Such a delivery is
// never settled, so its consumer gets its credit back.
func (sh *Shard) lost(d Delivery) bool {
	if d.Queue.gone && !d.Consumer.NoAck {
		sh.Post(func() { sh.giveBack(d.Consumer, 1) }) // later: this may be the end of a drain
	}
	return d.Queue.gone
}
