package history

import "fmt"

// Once holds for queues that de-duplicate by Key. A publisher may repeat a key with another
// message, so separate rules check which of the messages must be delivered.
var Once = Promises{rules: []func(*run) []string{
	checkKnown, checkFlag, checkRepeats, checkOrder, checkKeys, checkKeysConfirmed, checkSettled,
}}

// Keyed is a key in a queue.
type Keyed struct{ Key, Queue string }

func (k Keyed) String() string { return fmt.Sprintf("key %s in %s", k.Key, k.Queue) }

// checkKeys checks that a broker accepts one message per key during its life, and that once it has
// promised something about the key, that message stays the only one. A message without a promise
// may be seen, then lost in the crash and replaced by another one.
func checkKeys(r *run) (breaches []string) {
	taken := map[Keyed]MsgID{} // the delivered message that no other may replace
	kept := map[Keyed]bool{}   // the key is on disk
	sent := map[MsgID][]Keyed{}
	txs := map[int][]Keyed{} // keys that the commit promises
	for _, e := range r.events {
		k := Keyed{e.Key, e.Queue}
		switch e.Kind {
		case Sent:
			sent[e.Msg] = append(sent[e.Msg], k)
			if e.Tx != 0 {
				txs[e.Tx] = append(txs[e.Tx], k)
			}
		case Acked:
			if e.Tx != 0 {
				txs[e.Tx] = append(txs[e.Tx], r.keyOf(e, sent))
			}
		case Confirmed:
			for _, k := range sent[e.Msg] {
				kept[k] = true
			}
		case Committed:
			for _, k := range txs[e.Tx] {
				kept[k] = true
			}
		case Delivered:
			if other, ok := taken[k]; ok && other != e.Msg {
				breaches = append(breaches, fmt.Sprintf("delivered as %s and as %s: %s", other, e.Msg, k))
			}
			taken[k] = e.Msg
		case Crashed:
			for k := range taken {
				if !kept[k] {
					delete(taken, k)
				}
			}
		}
	}
	return breaches
}

// keyOf returns what the message of the event was sent as to the queue of the event.
func (r *run) keyOf(e Event, sent map[MsgID][]Keyed) Keyed {
	for _, k := range sent[e.Msg] {
		if k.Queue == e.Queue {
			return k
		}
	}
	return Keyed{}
}

// checkKeysConfirmed checks that if a message with a key is durable, then one message with that key
// was delivered, and redelivered until its consumer at least tried to settle it.
func checkKeysConfirmed(r *run) (breaches []string) {
	came, settled, told := map[Keyed]bool{}, map[Keyed]bool{}, map[Keyed]bool{} // settled: the message that came last
	for _, e := range r.events {
		if e.Kind == Delivered {
			p, k := place{e.Msg, e.Queue}, Keyed{e.Key, e.Queue}
			ds := r.deliveries[p]
			came[k] = true
			settled[k] = r.tried(ds[len(ds)-1])
		}
	}
	for _, e := range r.events {
		k := Keyed{e.Key, e.Queue}
		if e.Kind != Sent || told[k] || !r.durable(place{e.Msg, e.Queue}) {
			continue
		}
		told[k] = true
		switch {
		case !came[k]:
			breaches = append(breaches, fmt.Sprintf("confirmed but never delivered: %s", k))
		case !settled[k]:
			breaches = append(breaches, fmt.Sprintf("lost without an acknowledgement: %s", k))
		}
	}
	return breaches
}
