package dedup

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// twin is a Memory that keeps every call and looks at all of them.
type twin struct {
	limit int
	calls []call
}

func (w *twin) known(key Key, now int64) bool {
	for i := len(w.calls) - 1; i >= max(0, len(w.calls)-w.limit); i-- {
		if c := w.calls[i]; c.key == key {
			return c.until == 0 || now < c.until
		}
	}
	return false
}

func TestMemoryAgainstTwin(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + r.IntN(20)
		m, w := New(limit), &twin{limit: limit}
		now := int64(1000)
		for step := range 400 {
			now += r.Int64N(3)
			key := KeyOf([]byte{byte(r.IntN(30))})
			if got, want := m.Known(key, now), w.known(key, now); got != want {
				t.Fatalf("seed %d step %d: known %v, want %v", seed, step, got, want)
			}
			if m.Len() > limit {
				t.Fatalf("seed %d step %d: %d keys, limit %d", seed, step, m.Len(), limit)
			}
			switch r.IntN(10) {
			case 0: // a restart
				again := New(limit)
				if err := again.Restore(m.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
				if again.Hash() != m.Hash() {
					t.Fatalf("seed %d step %d: the hash changed", seed, step)
				}
				m = again
			case 1, 2, 3, 4, 5:
				until := int64(0)
				if r.IntN(2) == 0 {
					until = now + 1 + r.Int64N(40)
				}
				m.Remember(key, now, until)
				w.calls = append(w.calls, call{key, until})
			}
		}
	}
}

func TestForgetsInTime(t *testing.T) {
	m := New(1000)
	for i := range int64(100) {
		m.Remember(KeyOf([]byte{byte(i)}), i, i+10)
	}
	if m.Len() > 11 {
		t.Errorf("%d keys are held, of which all but 10 are over", m.Len())
	}
	if len(m.ring) > 16 {
		t.Errorf("the ring has grown to %d", len(m.ring))
	}
}

func TestRestoreRefusesDamage(t *testing.T) {
	m := New(10)
	m.Remember(KeyOf([]byte("a")), 1, 0)
	m.Remember(KeyOf([]byte("b")), 1, 500)
	b := m.AppendTo(nil)
	for n := range len(b) {
		err := New(10).Restore(b[:n])
		if whole := n == 0 || n == 17; whole != (err == nil) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v is not ErrCorrupt", n, err)
		}
	}
	small := New(1)
	if err := small.Restore(b); err != nil || small.Known(KeyOf([]byte("a")), 2) || !small.Known(KeyOf([]byte("b")), 2) {
		t.Errorf("a smaller memory does not keep the newest: %v", err)
	}
	if !slices.Equal(small.AppendTo(nil)[:4], b[17:21]) {
		t.Error("another key was kept")
	}
}
