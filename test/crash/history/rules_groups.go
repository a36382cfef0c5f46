package history

import "fmt"

// Grouped holds for queues with several consumers that group messages by Key. The record keeps the
// order of delivery within a key, since the next consumer gets a message only when the previous one
// has recorded that it settles its own.
var Grouped = Promises{rules: []func(*run) []string{
	checkKnown, checkFlag, checkRepeats, checkKeyOrder, checkHolders, checkConfirmed, checkPublishes, checkAcks, checkSettled,
}}

// checkKeyOrder is checkOrder for the messages of each key.
func checkKeyOrder(r *run) []string { return r.outOfOrder(func(e Event) string { return e.Key }) }

// checkHolders checks that a consumer gets a message of a key only when no other consumer holds
// one. A message that is acknowledged in a transaction is held until the commit is requested.
func checkHolders(r *run) (breaches []string) {
	holder := map[Keyed]string{}
	out := map[Keyed]map[MsgID]bool{}
	keys := map[place]Keyed{}
	inTx := map[int][]place{}
	settle := func(p place) { delete(out[keys[p]], p.msg) }
	for _, e := range r.events {
		p, k := place{e.Msg, e.Queue}, Keyed{e.Key, e.Queue}
		switch e.Kind {
		case Delivered:
			if len(out[k]) > 0 && holder[k] != e.Consumer {
				breaches = append(breaches, fmt.Sprintf("%s got %s while %s had messages of its key", e.Consumer, p, holder[k]))
			}
			if out[k] == nil {
				out[k] = map[MsgID]bool{}
			}
			holder[k], keys[p], out[k][e.Msg] = e.Consumer, k, true
		case Requeued:
			settle(p)
		case Acked:
			if e.Tx == 0 {
				settle(p)
			} else {
				inTx[e.Tx] = append(inTx[e.Tx], p)
			}
		case CommitSent:
			for _, p := range inTx[e.Tx] {
				settle(p)
			}
		case Crashed:
			clear(out)
			clear(inTx)
		}
	}
	return breaches
}
