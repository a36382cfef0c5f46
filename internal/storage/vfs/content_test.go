package vfs

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// flat is a twin of a file of Mem: all bytes, one after the other.
type flat struct{ data, synced []byte }

func (f *flat) resize(size int) {
	f.data = append(slices.Clip(f.data[:min(size, len(f.data))]), make([]byte, max(size-len(f.data), 0))...)
}

// crash is the twin of tear.
func (f *flat) crash(rng *rand.Rand) []byte {
	size := len(f.data)
	if lo, hi := min(len(f.synced), size), max(len(f.synced), size); lo != hi {
		switch rng.IntN(3) {
		case 0:
			size = len(f.synced)
		case 1:
			size = lo + rng.IntN(hi-lo+1)
		}
	}
	out := make([]byte, size)
	copy(out, f.synced)
	for at := 0; at < size; at += pageBytes {
		end := min(at+pageBytes, size)
		switch rng.IntN(3) {
		case 1:
			end = at + rng.IntN(end-at+1)
			fallthrough
		case 2:
			if at < len(f.data) {
				copy(out[at:end], f.data[at:])
			}
		}
	}
	return out
}

func readAll(t *testing.T, m *Mem) []byte {
	t.Helper()
	f, err := m.Open("/f")
	if err != nil {
		t.Fatal(err)
	}
	size, _ := f.Size()
	b := bytes.Repeat([]byte{0xff}, int(size)+1)
	if n, err := f.ReadAt(b, 0); n != int(size) || err != io.EOF {
		t.Fatalf("%d of %d bytes, %v", n, size, err)
	}
	return b[:size]
}

// TestMemAgainstTwin plays random operations on a file and on its twin, crashes among them. After a
// crash it goes on with the clone, or with the file that was cloned.
func TestMemAgainstTwin(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		m, twin := NewMem(), &flat{}
		m.MkdirAll("/")
		f, _ := m.Create("/f")
		m.SyncDir("/")
		for range 60 {
			off, size := rng.IntN(5*pageBytes), rng.IntN(2*pageBytes)
			switch rng.IntN(6) {
			case 0, 1:
				p := bytes.Repeat([]byte{byte(rng.IntN(3))}, size)
				f.WriteAt(p, int64(off))
				twin.resize(max(len(twin.data), off+size))
				copy(twin.data[off:], p)
			case 2:
				if rng.IntN(2) == 0 {
					off -= off % pageBytes
				}
				f.Truncate(int64(off))
				twin.resize(off)
			case 3:
				f.Datasync()
				twin.synced = slices.Clone(twin.data)
			case 4:
				f, _ = m.Create("/f")
				twin.data = nil
			case 5:
				crash := rng.Uint64()
				c, want := m.CrashClone(rand.New(rand.NewPCG(crash, 0))), twin.crash(rand.New(rand.NewPCG(crash, 0)))
				if !bytes.Equal(readAll(t, c), want) {
					t.Fatalf("seed %d: the clone is not as its twin", seed)
				}
				if rng.IntN(2) == 0 {
					m = c
					f, _ = m.OpenReadWrite("/f")
					twin = &flat{want, slices.Clone(want)}
				}
			}
			if !bytes.Equal(readAll(t, m), twin.data) {
				t.Fatalf("seed %d: the file is not as its twin", seed)
			}
		}
	}
}
