package history

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// op returns a request that was sent at from and answered at to.
func op(from, to int64, asked KeyAsked, told KeyTold) porcupine.Operation {
	return porcupine.Operation{Input: asked, Call: from, Output: told, Return: to}
}

func TestKeyOrders(t *testing.T) {
	put := func(value string) KeyAsked { return KeyAsked{Act: KeyPut, Value: value} }
	read, done, lost := KeyAsked{Act: KeyRead}, KeyTold{Held: true}, KeyTold{Unknown: true}
	saw := func(a, b string) KeyTold { return KeyTold{Held: true, Values: [2]string{a, b}} }
	both := KeyAsked{Act: KeySwapBoth, Value: "x"}
	for name, c := range map[string]struct {
		ops  []porcupine.Operation
		good bool
	}{
		"one after the other":       {[]porcupine.Operation{op(1, 2, put("a"), done), op(3, 4, read, saw("a", ""))}, true},
		"what was answered is lost": {[]porcupine.Operation{op(1, 2, put("a"), done), op(3, 4, read, saw("", ""))}, false},
		"an old value":              {[]porcupine.Operation{op(1, 2, put("a"), done), op(3, 4, put("b"), done), op(5, 6, read, saw("a", ""))}, false},
		"at the same time":          {[]porcupine.Operation{op(1, 9, put("a"), done), op(2, 3, read, saw("", "")), op(4, 5, read, saw("a", ""))}, true},
		"back again":                {[]porcupine.Operation{op(1, 9, put("a"), done), op(2, 3, read, saw("a", "")), op(4, 5, read, saw("", ""))}, false},
		"unanswered and there":      {[]porcupine.Operation{op(1, math.MaxInt64, put("a"), lost), op(3, 4, read, saw("a", ""))}, true},
		"unanswered and not there":  {[]porcupine.Operation{op(1, math.MaxInt64, put("a"), lost), op(3, 4, read, saw("", ""))}, true},
		"unanswered, there, gone": {[]porcupine.Operation{
			op(1, math.MaxInt64, put("a"), lost), op(3, 4, read, saw("a", "")), op(5, 6, read, saw("", "")),
		}, false},
		"half a transaction":      {[]porcupine.Operation{op(1, 2, both, done), op(3, 4, read, saw("x", ""))}, false},
		"a transaction":           {[]porcupine.Operation{op(1, 2, both, done), op(3, 4, read, saw("x", "x"))}, true},
		"two swaps of one value":  {[]porcupine.Operation{op(1, 5, both, done), op(2, 6, KeyAsked{Act: KeySwap, Value: "y"}, done)}, false},
		"a swap that did not":     {[]porcupine.Operation{op(1, 2, put("a"), done), op(3, 4, both, KeyTold{Values: [2]string{"a"}})}, true},
		"a swap that should have": {[]porcupine.Operation{op(1, 2, put("a"), done), op(3, 4, KeyAsked{Act: KeySwap, Was: "a", Value: "b"}, KeyTold{Values: [2]string{"a"}})}, false},
		"a delete of nothing":     {[]porcupine.Operation{op(1, 2, KeyAsked{Act: KeyDelete}, KeyTold{})}, true},
		"a delete of something":   {[]porcupine.Operation{op(1, 2, KeyAsked{Act: KeyDelete}, done)}, false},
	} {
		if got := porcupine.CheckOperations(keyModel, c.ops); got != c.good {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestKeyRevisionsAndEvents(t *testing.T) {
	put := func(from, to int64, value string, rev int64) porcupine.Operation {
		return op(from, to, KeyAsked{Act: KeyPut, Value: value}, KeyTold{Held: true, Rev: rev})
	}
	read := func(from, to, rev int64) porcupine.Operation {
		return op(from, to, KeyAsked{Act: KeyRead}, KeyTold{Held: true, Rev: rev})
	}
	for name, c := range map[string]struct {
		ops  []porcupine.Operation
		good bool
	}{
		"forward":               {[]porcupine.Operation{put(1, 2, "a", 5), read(3, 4, 5), put(5, 6, "b", 6)}, true},
		"at the same time":      {[]porcupine.Operation{put(1, 9, "a", 6), put(2, 3, "b", 7), read(4, 5, 7)}, true},
		"a read goes back":      {[]porcupine.Operation{put(1, 2, "a", 5), read(3, 4, 4)}, false},
		"a revision again":      {[]porcupine.Operation{put(1, 2, "a", 5), put(3, 4, "b", 5)}, false},
		"the same for two":      {[]porcupine.Operation{put(1, 9, "a", 5), put(2, 8, "b", 5)}, false},
		"without an answer":     {[]porcupine.Operation{put(1, 2, "a", 5), op(3, math.MaxInt64, KeyAsked{Act: KeyPut}, KeyTold{Unknown: true})}, true},
		"the store starts anew": {[]porcupine.Operation{put(1, 2, "a", 5), put(3, 4, "b", 2)}, false},
	} {
		if breaches := CheckRevisions(c.ops); (len(breaches) == 0) != c.good {
			t.Errorf("%s: %q", name, breaches)
		}
	}
	all := []porcupine.Operation{
		put(1, 2, "a", 5), op(3, math.MaxInt64, KeyAsked{Act: KeyPut, Value: "b"}, KeyTold{Unknown: true}),
		op(5, 6, KeyAsked{Act: KeySwapBoth, Value: "c"}, KeyTold{Held: true, Rev: 7}), op(7, 8, KeyAsked{Act: KeyDelete, Key: 1}, KeyTold{Held: true, Rev: 8}),
	}
	a, b := KeyEvent{Value: "a", Rev: 5}, KeyEvent{Value: "b", Rev: 6}
	c0, c1, gone := KeyEvent{Value: "c", Rev: 7}, KeyEvent{Key: 1, Value: "c", Rev: 7}, KeyEvent{Key: 1, Rev: 8}
	for name, c := range map[string]struct {
		events []KeyEvent
		good   bool
	}{
		"all":                 {[]KeyEvent{a, b, c0, c1, gone}, true},
		"not the unanswered":  {[]KeyEvent{a, c0, c1, gone}, true},
		"one is missing":      {[]KeyEvent{b, c0, c1, gone}, false},
		"half a transaction":  {[]KeyEvent{a, c0, gone}, false},
		"one comes twice":     {[]KeyEvent{a, a, c0, c1, gone}, false},
		"out of order":        {[]KeyEvent{a, c0, c1, b, gone}, false},
		"nobody asked for it": {[]KeyEvent{a, c0, c1, gone, {Value: "x", Rev: 9}}, false},
	} {
		if breaches := CheckKeyEvents(all, c.events); (len(breaches) == 0) != c.good {
			t.Errorf("%s: %q", name, breaches)
		}
	}
}

// TestFarGuess checks that a linearization of a long history is found although deletes without an
// answer fit nearly everywhere in it.
func TestFarGuess(t *testing.T) {
	gone := op(1, math.MaxInt64, KeyAsked{Act: KeyDelete}, KeyTold{Unknown: true})
	var all []porcupine.Operation
	var events []KeyEvent
	for n := range int64(2000) {
		rev, at := 2*n+1, 10*n+2
		all = append(all, op(at, at+5, KeyAsked{Act: KeyPut, Value: fmt.Sprint(n)}, KeyTold{Held: true, Rev: rev}),
			op(at+6, at+7, KeyAsked{Act: KeyRead}, KeyTold{Held: true, Rev: rev, Values: [2]string{fmt.Sprint(n)}}), gone)
		events = append(events, KeyEvent{Value: fmt.Sprint(n), Rev: rev}, KeyEvent{Rev: rev + 1})
	}
	if breaches := LinearizeKeys(all, events); breaches != nil {
		t.Error(breaches)
	}
}

// TestSettle checks that settle, which uses what is known about requests without an answer, does
// not change which histories are linearizable.
func TestSettle(t *testing.T) {
	put := func(from int64, value string) porcupine.Operation {
		return op(from, math.MaxInt64, KeyAsked{Act: KeyPut, Value: value}, KeyTold{Unknown: true})
	}
	read := func(from, to int64, value string, rev int64) porcupine.Operation {
		return op(from, to, KeyAsked{Act: KeyRead}, KeyTold{Held: true, Rev: rev, Values: [2]string{value}})
	}
	gone := op(3, math.MaxInt64, KeyAsked{Act: KeyDelete}, KeyTold{Unknown: true})
	events := []KeyEvent{{Value: "a", Rev: 5}, {Rev: 6}, {Value: "b", Rev: 7}}
	all := []porcupine.Operation{put(1, "a"), put(2, "never"), put(3, "b"), gone, gone, read(4, 5, "a", 5), read(6, 7, "b", 7)}
	settled := settle(all, events)
	var ends []int64
	for _, op := range settled {
		ends = append(ends, op.Return)
	}
	if want := []int64{5, 7, 5, 7, 7}; !slices.Equal(ends, want) {
		t.Errorf("they end at %d", ends)
	}
	if !porcupine.CheckOperations(keyModel, settled) {
		t.Error("no order was found")
	}
	stale := settle(append(all, read(8, 9, "a", 7)), events)
	if porcupine.CheckOperations(keyModel, stale) {
		t.Error("an order was found for an old value")
	}
}
