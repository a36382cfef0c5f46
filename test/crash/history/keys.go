package history

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// KeyAct is the kind of a request about ordinary keys.
type KeyAct uint8

// The kinds of requests. Keys come in pairs, so that a transaction on two keys can be told from two
// steps.
const (
	KeyPut      KeyAct = iota // Key is set to Value
	KeyDelete                 // Key is deleted
	KeyRead                   // both keys of the pair are read with one range
	KeySwap                   // if Key has the value Was, it is set to Value; otherwise it is read
	KeySwapBoth               // if Key has the value Was, both keys of the pair are set to Value
)

// KeyAsked is a request. A value is never used twice and never "", which means that there is no
// key.
type KeyAsked struct {
	Pair, Key  int // Key is 0 or 1
	Act        KeyAct
	Value, Was string
}

// KeyTold is the answer to a request.
type KeyTold struct {
	Unknown bool // there was no answer: it takes effect now, later, or never
	Held    bool // the condition of a swap held, or a key was deleted
	Values  [2]string
	Rev     int64 // the revision in the answer's header
}

// Keys is the record of a run with ordinary keys. Its methods are safe for concurrent use.
type Keys struct {
	record[porcupine.Operation]
	began time.Time
}

// NewKeys returns an empty record whose clock starts now.
func NewKeys() *Keys { return &Keys{began: time.Now()} }

// Now returns the time since the run began, in nanoseconds.
func (h *Keys) Now() int64 { return int64(time.Since(h.began)) }

// Add records a request once everything that can be known about it is known.
func (h *Keys) Add(client int, asked KeyAsked, called int64, told KeyTold) {
	returned := h.Now()
	if told.Unknown {
		returned = math.MaxInt64
	}
	h.record.Add(porcupine.Operation{ClientId: client, Input: asked, Call: called, Output: told, Return: returned})
}

// keyModel is the model of a pair of keys. Each request takes effect at one moment between its
// sending and its answer. A request without an answer may take effect after everything else, which
// amounts to never.
var keyModel = porcupine.Model{
	Partition: partitionBy(func(op porcupine.Operation) int { return op.Input.(KeyAsked).Pair }),
	Init:      func() any { return [2]string{} },
	Step: func(state, input, output any) (bool, any) {
		return keyStep(state.([2]string), input.(KeyAsked), output.(KeyTold))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

func keyStep(pair [2]string, asked KeyAsked, told KeyTold) (bool, [2]string) {
	held, next := true, pair
	switch asked.Act {
	case KeyRead:
		return told.Unknown || told.Values == pair, pair
	case KeyPut:
		next[asked.Key] = asked.Value
	case KeyDelete:
		held = pair[asked.Key] != ""
		next[asked.Key] = ""
	case KeySwap, KeySwapBoth:
		if held = pair[asked.Key] == asked.Was; !held {
			return told.Unknown || !told.Held && told.Values[asked.Key] == pair[asked.Key], pair
		}
		next[asked.Key] = asked.Value
		if asked.Act == KeySwapBoth {
			next[1-asked.Key] = asked.Value
		}
	}
	return told.Unknown || told.Held == held, next
}

// changes reports whether the request changed the store.
func changes(op porcupine.Operation) bool {
	told := op.Output.(KeyTold)
	return !told.Unknown && told.Held && op.Input.(KeyAsked).Act != KeyRead
}

// CheckRevisions checks the revisions of the answers: they never decrease, and each change has its
// own.
func CheckRevisions(all []porcupine.Operation) (breaches []string) {
	returned := slices.DeleteFunc(slices.Clone(all), func(op porcupine.Operation) bool { return op.Output.(KeyTold).Unknown })
	called := slices.Clone(returned)
	slices.SortFunc(returned, func(a, b porcupine.Operation) int { return int(a.Return - b.Return) })
	slices.SortFunc(called, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var seen int64 // the newest revision in an earlier answer
	n := 0
	owner := map[int64]porcupine.Operation{}
	for _, op := range called {
		for ; returned[n].Return < op.Call; n++ {
			seen = max(seen, returned[n].Output.(KeyTold).Rev)
		}
		rev := op.Output.(KeyTold).Rev
		if rev < seen || changes(op) && rev == seen {
			breaches = append(breaches, fmt.Sprintf("%+v had revision %d though %d had been told before", op.Input, rev, seen))
		}
		if !changes(op) {
			continue
		}
		if other, ok := owner[rev]; ok {
			breaches = append(breaches, fmt.Sprintf("%+v and %+v both made revision %d", other.Input, op.Input, rev))
		}
		owner[rev] = op
	}
	return breaches
}

// KeyEvent is an event of a watch about one key.
type KeyEvent struct {
	Pair, Key int
	Value     string // "": deleted
	Rev       int64
}

// CheckKeyEvents compares the events of a watch, which was resumed after each kill, with the
// answers. The revisions must never decrease, no event may come twice, each answered change must
// have its events, and each event must have a request.
func CheckKeyEvents(all []porcupine.Operation, events []KeyEvent) (breaches []string) {
	told := map[KeyEvent]bool{}
	var last int64
	for _, e := range events {
		if e.Rev < last || told[e] {
			breaches = append(breaches, fmt.Sprintf("event %+v came after revision %d, or twice", e, last))
		}
		told[e], last = true, max(last, e.Rev)
	}
	asked := map[KeyEvent]bool{} // without revisions
	for _, op := range all {
		for _, e := range eventsOf(op) {
			asked[e] = true
			if e.Rev = op.Output.(KeyTold).Rev; changes(op) && !told[e] {
				breaches = append(breaches, fmt.Sprintf("the watch missed %+v", e))
			}
		}
	}
	for _, e := range events {
		if e.Rev = 0; !asked[e] {
			breaches = append(breaches, fmt.Sprintf("no client asked for event %+v", e))
		}
	}
	return breaches
}

// LinearizeKeys checks that the history is linearizable. It returns a breach if it is not, or if no
// order was found in time.
func LinearizeKeys(all []porcupine.Operation, events []KeyEvent) (breaches []string) {
	return linearize(keyModel, settle(all, events))
}

// settle replaces requests without an answer by what the watch saw of them, once the watch has seen
// everything. Requests that changed nothing are removed. A request that changed something did so
// after every request whose answer has an earlier revision was sent, and before any answer with its
// own or a later revision. Without this the check takes too long, because a delete without an
// answer fits nearly anywhere.
func settle(all []porcupine.Operation, events []KeyEvent) (settled []porcupine.Operation) {
	asked := map[KeyEvent]porcupine.Operation{} // without revisions: the first that may have made such an event
	answered := map[KeyEvent]bool{}
	for _, op := range all {
		told := op.Output.(KeyTold)
		if !told.Unknown {
			settled = append(settled, op)
		}
		for _, e := range eventsOf(op) {
			if first, ok := asked[e]; told.Unknown && (!ok || op.Call < first.Call) {
				asked[e] = op
			}
			if e.Rev = told.Rev; changes(op) {
				answered[e] = true
			}
		}
	}
	made := map[int64]bool{}
	for _, e := range events {
		rev := e.Rev
		e.Rev = 0
		op, ok := asked[e]
		if e.Rev = rev; !ok || answered[e] || made[rev] {
			continue
		}
		made[rev] = true // a transaction has two events
		op.Output, op.Call, op.Return = KeyTold{Held: true, Rev: rev}, max(op.Call, lastCalled(all, rev)), firstTold(all, rev)
		settled = append(settled, op)
	}
	return settled
}

// lastCalled returns when the last request whose answer has an earlier revision was sent.
func lastCalled(all []porcupine.Operation, rev int64) (last int64) {
	for _, op := range all {
		if told := op.Output.(KeyTold); !told.Unknown && told.Rev < rev {
			last = max(last, op.Call)
		}
	}
	return last
}

// firstTold returns the time of the first answer that has this revision or a later one.
func firstTold(all []porcupine.Operation, rev int64) int64 {
	first := int64(math.MaxInt64)
	for _, op := range all {
		if told := op.Output.(KeyTold); !told.Unknown && told.Rev >= rev {
			first = min(first, op.Return)
		}
	}
	return first
}

// eventsOf returns the events of a request if it changes something, without revisions.
func eventsOf(op porcupine.Operation) (events []KeyEvent) {
	asked := op.Input.(KeyAsked)
	switch asked.Act {
	case KeyPut, KeySwap, KeyDelete:
		events = []KeyEvent{{Pair: asked.Pair, Key: asked.Key, Value: asked.Value}}
	case KeySwapBoth:
		events = []KeyEvent{{Pair: asked.Pair, Key: 0, Value: asked.Value}, {Pair: asked.Pair, Key: 1, Value: asked.Value}}
	}
	return events
}
