package history

import "fmt"

// Once holds for queues that de-duplicate by Key. A publisher may send a key again, as another
// message; so which of the messages must come is a rule of its own.
var Once = Promises{rules: []func(*run) []string{
	checkKnown, checkFlag, checkRepeats, checkOrder, checkKeys, checkKeysConfirmed, checkSettled,
}}

// Keyed is a key in one queue.
type Keyed struct{ Key, Queue string }

func (k Keyed) String() string { return fmt.Sprintf("key %s in %s", k.Key, k.Queue) }

// checkKeys: a broker takes one message with a key in its life, and from a promise about the key on
// that one stays the only one for ever. A message that was promised nothing may be seen, lost in
// the crash and followed by another.
func checkKeys(r *run) (breaches []string) {
	taken := map[Keyed]MsgID{} // what was delivered and cannot be replaced by another message
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

// checkKeysConfirmed: of the messages with a key of which one is promised to be kept, one was
// delivered, and delivered until its consumer at least tried to settle it.
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
