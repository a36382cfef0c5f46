package history

import (
	"fmt"
	"time"
)

// StaleAfter is how long an isolated node may continue to deliver: one second by its promise, and
// one second for the way to a client on a busy machine.
const StaleAfter = 2 * time.Second

// checkIsolated checks that an isolated node does not confirm what is published to it from then on,
// commits no transaction that has an effect, and soon stops delivering.
func checkIsolated(r *run) (breaches []string) {
	var since Event // its Kind is 0 while no node is cut off
	sent, commits := map[MsgID]bool{}, map[int]bool{}
	does := map[int]bool{} // transactions that publish or acknowledge
	for _, e := range r.events {
		if e.Kind == Sent || e.Kind == Acked {
			does[e.Tx] = true
		}
		if e.Kind == Isolated || e.Kind == Crashed {
			since = e
			clear(sent)
			clear(commits)
		}
		if since.Kind != Isolated {
			continue
		}
		switch e.Kind {
		case Sent:
			sent[e.Msg] = true
		case CommitSent:
			commits[e.Tx] = does[e.Tx]
		case Confirmed:
			if sent[e.Msg] {
				breaches = append(breaches, fmt.Sprintf("sent to a node that is cut off, and confirmed: %s", e.Msg))
			}
		case Committed:
			if commits[e.Tx] {
				breaches = append(breaches, fmt.Sprintf("committed by a node that is cut off: tx %d", e.Tx))
			}
		case Delivered:
			if late := e.At - since.At; late > StaleAfter.Milliseconds() {
				breaches = append(breaches, fmt.Sprintf("delivered by a node %d ms after it was cut off: %s", late, place{e.Msg, e.Queue}))
			}
		}
	}
	return breaches
}
