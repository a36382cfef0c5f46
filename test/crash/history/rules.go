package history

import "fmt"

// checkKnown checks that each delivered message was sent to that queue before.
func checkKnown(r *run) (breaches []string) {
	sent := map[place]bool{}
	for _, e := range r.events {
		p := place{e.Msg, e.Queue}
		switch {
		case e.Kind == Sent:
			sent[p] = true
		case e.Kind == Delivered && !sent[p]:
			breaches = append(breaches, fmt.Sprintf("delivered but never sent: %s", p))
		}
	}
	return breaches
}

// checkFlag checks that a message that was delivered before is marked as redelivered.
func checkFlag(r *run) (breaches []string) {
	for _, p := range r.places {
		for n, d := range r.deliveries[p] {
			if n > 0 && !d.redelivered {
				breaches = append(breaches, fmt.Sprintf("delivered again without the redelivered flag: %s", p))
			}
		}
	}
	return breaches
}

// checkRepeats checks that within a round a message is redelivered only if its consumer returned
// it.
func checkRepeats(r *run) (breaches []string) {
	for _, p := range r.places {
		ds := r.deliveries[p]
		for n := 1; n < len(ds); n++ {
			if ds[n].round == ds[n-1].round && !ds[n-1].requeued && !r.another(p, ds[n]) {
				breaches = append(breaches, fmt.Sprintf("delivered twice while its consumer held it: %s", p))
			}
		}
	}
	return breaches
}

// checkOrder checks that for each queue and publisher, messages are delivered in the order of
// sending. First deliveries are ordered over the whole run. Redeliveries are ordered within each
// round, since a crash puts unsettled messages back in their places, unless a consumer returned the
// message.
func checkOrder(r *run) []string { return r.outOfOrder(func(Event) string { return "" }) }

// outOfOrder returns the breaches of the order among messages for which part returns the same
// string.
func (r *run) outOfOrder(part func(Event) string) (breaches []string) {
	type stream struct{ queue, publisher, part string }
	first, inRound := map[stream]int{}, map[stream]int{}
	seen, requeued := map[place]bool{}, map[place]bool{}
	for _, e := range r.events {
		p, s := place{e.Msg, e.Queue}, stream{e.Queue, e.Msg.Publisher, part(e)}
		switch e.Kind {
		case Requeued:
			requeued[p] = true
		case Crashed:
			clear(inRound)
			clear(requeued)
		case Delivered:
			if _, sent := r.sent[p]; !sent {
				continue // a dead letter, or a message that should not be here
			}
			if !seen[p] && e.Msg.Seq < first[s] {
				breaches = append(breaches, fmt.Sprintf("first delivered after #%d of its publisher: %s", first[s], p))
			}
			if !requeued[p] && e.Msg.Seq < inRound[s] {
				breaches = append(breaches, fmt.Sprintf("delivered after #%d of its publisher: %s", inRound[s], p))
			}
			seen[p] = true
			first[s] = max(first[s], e.Msg.Seq)
			inRound[s] = max(inRound[s], e.Msg.Seq)
		}
	}
	return breaches
}

// checkConfirmed checks that each durable message was delivered, and redelivered until its consumer
// at least tried to settle it.
func checkConfirmed(r *run) (breaches []string) {
	for _, p := range r.places {
		if !r.durable(p) {
			continue
		}
		ds := r.deliveries[p]
		if len(ds) == 0 {
			breaches = append(breaches, fmt.Sprintf("confirmed but never delivered: %s", p))
			continue
		}
		if !r.tried(ds[len(ds)-1]) {
			breaches = append(breaches, fmt.Sprintf("lost without an acknowledgement: %s", p))
		}
	}
	return breaches
}

// tried reports whether the consumer tried to settle the delivery in a way that may have reached
// the broker.
func (r *run) tried(d delivery) bool {
	return d.acked && (d.ackTx == 0 || r.txs[d.ackTx].outcome >= unknown)
}

// checkPublishes checks that the messages of a transaction are published all or not at all, and not
// before its commit was requested.
//
// If the outcome is unknown, some of the messages may have been seen before the crash and all lost
// in it, because after the crash nothing of the transaction exists. So a partial publish is a
// breach only once a message was delivered in a later round.
func checkPublishes(r *run) (breaches []string) {
	for _, id := range r.transactions() {
		t := r.txs[id]
		delivered, survived := 0, 0
		for _, p := range t.publishes {
			ds := r.deliveries[p]
			if len(ds) == 0 {
				continue
			}
			delivered++
			if ds[len(ds)-1].round > t.begun {
				survived++
			}
			if t.outcome >= unknown && ds[0].at < t.commitSent {
				breaches = append(breaches, fmt.Sprintf("delivered before the commit of tx %d: %s", id, p))
			}
		}
		whole := delivered == len(t.publishes)
		switch {
		case t.outcome < unknown && delivered > 0:
			breaches = append(breaches, fmt.Sprintf("tx %d was not committed, but %d of its %d messages came", id, delivered, len(t.publishes)))
		case t.outcome == unknown && survived > 0 && !whole:
			breaches = append(breaches, fmt.Sprintf("tx %d half applied: %d of its %d messages came", id, delivered, len(t.publishes)))
		}
		// checkConfirmed checks that all messages of a committed transaction were delivered.
	}
	return breaches
}

// back reports whether the message was redelivered after the delivery with this index, other than
// as a duplicate.
func (r *run) back(p place, delivery int) bool {
	ds := r.deliveries[p]
	return len(ds) > delivery+1 && !r.another(p, ds[len(ds)-1])
}

// checkAcks checks that the acknowledgements of a transaction with an unknown outcome took effect
// all or not at all. Only messages that are certainly on disk count.
func checkAcks(r *run) (breaches []string) {
	for _, id := range r.transactions() {
		t := r.txs[id]
		if t.outcome != unknown {
			continue
		}
		counted, back := 0, 0
		for n, p := range t.acks {
			if !r.durable(p) {
				continue
			}
			counted++
			if r.back(p, t.ackDelivery[n]) {
				back++
			}
		}
		if back > 0 && back < counted {
			breaches = append(breaches, fmt.Sprintf("tx %d half applied: %d of %d acknowledged messages came back", id, back, counted))
		}
	}
	return breaches
}

// checkSettled checks that a message that was acknowledged in a committed transaction is never
// redelivered.
func checkSettled(r *run) (breaches []string) {
	for _, id := range r.transactions() {
		t := r.txs[id]
		if t.outcome != committed {
			continue
		}
		for n, p := range t.acks {
			if r.back(p, t.ackDelivery[n]) {
				breaches = append(breaches, fmt.Sprintf("came back after its acknowledgement was committed in tx %d: %s", id, p))
			}
		}
	}
	return breaches
}
