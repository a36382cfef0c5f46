package broker

import (
	"slices"
	"sync"
)

// waits is those who hold messages or claims while they wait for another one: if some of them wait
// for each other in a circle, none ever goes on.
//
// What one of them holds cannot change while it waits, and a message or claim has one holder. So a
// circle is whole when its last taker comes, and is found then; those who hold nothing, or do not
// say what, are no part of one.
type waits struct {
	mu  sync.Mutex
	all []*wait
}

// wait is a session that waits for a message or for a claim.
type wait struct {
	on     spot
	claim  *Claim // nil: it is for the message
	holds  []Loan
	claims []*Claim
}

// enter notes a taker, and tells whether it may wait: false when that would close a circle, and then it is not noted.
func (ws *waits) enter(w *wait) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	on := w
	for range len(ws.all) + 1 {
		if w.has(on) {
			return false
		}
		i := slices.IndexFunc(ws.all, func(other *wait) bool { return other.has(on) })
		if i < 0 {
			break
		}
		on = ws.all[i]
	}
	ws.all = append(ws.all, w)
	return true
}

func (ws *waits) leave(w *wait) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all = slices.DeleteFunc(ws.all, func(have *wait) bool { return have == w })
}

// has reports whether it holds what the other one waits for.
func (w *wait) has(other *wait) bool {
	if other.claim != nil {
		return slices.Contains(w.claims, other.claim)
	}
	return slices.Contains(w.holds, Loan{other.on.q, other.on.h})
}
