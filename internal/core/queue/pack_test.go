package queue

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Messages as predicted are a run in memory, and zeros in a snapshot.
func TestRuns(t *testing.T) {
	first := []byte{packIndex | packSize | packFlags, 18, 5, byte(Persistent)}
	last := []byte{packSize, 6}
	for _, c := range []struct {
		alike int // messages after the first
		want  []byte
	}{
		{0, nil},
		{minRun - 1, make([]byte, minRun-1)},
		{minRun, []byte{packSlot, 0, minRun - 1}},
		{chunkLen - 2, []byte{packSlot, 0, chunkLen - 3}},
	} {
		e := getEncoder()
		it := Item{Index: 9, Size: 5, Flags: Persistent}
		for slot := range 1 + c.alike {
			it.Sub = uint32(slot)
			e.add(slot, &it)
		}
		it.Sub++
		it.Size++
		e.add(1+c.alike, &it)
		packed := e.finish()
		if want := slices.Concat(first, c.want, last); !bytes.Equal(packed, want) {
			t.Errorf("%d alike: % x, want % x", c.alike, packed, want)
		}
		plain := appendWithoutRuns(nil, packed)
		if want := slices.Concat(first, make([]byte, c.alike), last); !bytes.Equal(plain, want) {
			t.Errorf("%d alike, in a snapshot: % x, want % x", c.alike, plain, want)
		}
	}
}

// Random messages are the same after packing, with runs and without.
func TestPackRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var it Item
		var items []Item
		var slots []int
		same := rng.IntN(10) // of ten messages, how many are as predicted
		e := getEncoder()
		for slot := 0; slot < chunkLen; slot++ {
			it.Sub++
			if rng.IntN(10) >= same {
				switch rng.IntN(5) {
				case 0:
					slot += rng.IntN(9)
				case 1:
					it.Index, it.Sub = it.Index+rng.Uint64N(300), 0
				case 2:
					it.Sub, it.Count = rng.Uint32(), uint32(rng.IntN(2))
				case 3:
					it.Size, it.Flags = uint32(rng.IntN(300)), Flags(rng.IntN(2))*Persistent
				case 4:
					it.Expires, it.Due = rng.Int64N(1000), rng.Int64N(1000)
				}
			}
			if slot < chunkLen {
				e.add(slot, &it)
				items, slots = append(items, it), append(slots, slot)
			}
		}
		packed := e.finish()
		plain := appendWithoutRuns(nil, packed)
		if again, ok := appendWithRuns(nil, plain); !ok || !bytes.Equal(again, packed) {
			t.Fatalf("% x, restored from a snapshot: % x", packed, again)
		}
		for _, b := range [][]byte{packed, plain} {
			var got []Item
			var at []int
			d := newDecoder(b)
			for d.next() {
				got, at = append(got, d.it), append(at, d.slot)
			}
			if d.Err() != nil || !reflect.DeepEqual(got, items) || !slices.Equal(at, slots) {
				t.Fatalf("%v: slots %v, want %v; items %+v, want %+v", d.Err(), at, slots, got, items)
			}
		}
	}
}

// A chunk of 256 messages that are all like the zero Item is one run.
func TestRunOfAll(t *testing.T) {
	e := getEncoder()
	for slot := range chunkLen {
		e.add(slot, &Item{Sub: uint32(slot + 1)})
	}
	if packed := e.finish(); !bytes.Equal(packed, []byte{packSlot, 0, chunkLen - 1}) {
		t.Errorf("% x", packed)
	}
}

func TestDecoderRejectsRuns(t *testing.T) {
	for _, b := range [][]byte{
		{packSlot, 0},                           // without a length
		{packSlot, 2, packSlot, 0, 253},         // beyond the chunk
		make([]byte, chunkLen+1),                // likewise
		{packSlot | packSize, 0, 7, packIndex},  // truncated
		{0, packSlot | packIndex, 0, 3},         // not a run, and slot 0 after slot 0
		{packSlot, 0, 3, packSlot, 3},           // slot 3 after slot 3
		{packSlot, 0, 3, packSlot | packSub, 9}, // truncated after a run
	} {
		d := newDecoder(b)
		for d.next() {
		}
		if d.Err() == nil {
			t.Errorf("% x is accepted", b)
		}
	}
}
