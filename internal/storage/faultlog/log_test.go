package faultlog

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// What the dones hear, and what is there afterwards, for each fault.
func TestFaults(t *testing.T) {
	for _, k := range []struct {
		name  string
		fault func(*Log)
		told  []string
		there uint64
	}{
		{"none", func(*Log) {}, []string{"1 ok", "2 ok", "barrier ok", "3 ok"}, 3},
		{"refused at once", func(l *Log) { l.Fail(0, Refused) }, []string{"1 failed", "2 failed", "barrier failed", "3 failed"}, 0},
		{"refused in the middle", func(l *Log) { l.Fail(1, Refused) }, []string{"1 ok", "2 failed", "barrier failed", "3 failed"}, 1},
		{"unknown in the middle", func(l *Log) { l.Fail(1, Unknown) }, []string{"1 ok", "2 failed", "barrier failed", "3 failed"}, 2},
		{"unknown at the end", func(l *Log) { l.Fail(2, Unknown) }, []string{"1 ok", "2 ok", "barrier ok", "3 failed"}, 3},
	} {
		for _, hold := range []bool{false, true} {
			t.Run(fmt.Sprint(k.name, ", held ", hold), func(t *testing.T) {
				fs := vfs.NewMem()
				l := New(open(t, fs))
				states := 0
				l.Watch(func(store.State) { states++ })
				if hold {
					l.Hold()
				}
				k.fault(l)
				told := make(chan string, 4)
				tell := func(name string) func(error) {
					return func(err error) { told <- map[bool]string{true: name + " ok", false: name + " failed"}[err == nil] }
				}
				entry := func(i uint64) []store.Entry {
					return []store.Entry{{Shard: 1, Index: i, Data: []byte("x"), Wait: store.WaitSync}}
				}
				l.Append(entry(1), tell("1"))
				l.AppendInline(entry(2), tell("2"))
				l.Barrier([]uint32{1}, store.WaitSync, tell("barrier"))
				l.Append(entry(3), tell("3"))
				if hold {
					if len(told) > 0 {
						t.Error("what is held is told of")
					}
					l.Release()
				}
				got := []string{<-told, <-told, <-told, <-told}
				if !slices.Equal(got, k.told) {
					t.Errorf("told %q, want %q", got, k.told)
				}
				failed := slices.Contains(k.told, "3 failed")
				if st := l.State(); failed != (st.Health == store.Failed) || failed != errors.Is(st.Err, store.ErrFailed) || failed != (states == 1) {
					t.Errorf("state %v, %d changes", st, states)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				again := open(t, fs)
				if n := again.Last(1); n != k.there {
					t.Errorf("%d entries are there, want %d", n, k.there)
				}
				if err := again.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// What the store has and has not answered when leadership is lost fails with the rest.
func TestLoseWhatIsOpen(t *testing.T) {
	st, errLost := open(t, vfs.NewMem()), errors.New("leadership was lost")
	defer func() { _ = st.Close() }()
	l := New(st)
	heard := make(chan error, 3)
	group := func(i uint64, written func()) []store.Entry {
		return []store.Entry{{Shard: 1, Index: i, Data: []byte("x"), Wait: store.WaitSync, Written: written}}
	}
	l.AppendInline(group(1, nil), func(err error) { heard <- err })
	if err := <-heard; err != nil {
		t.Fatal(err)
	}
	l.Lose(1, errLost)
	l.Append(group(2, func() { l.Append(group(3, nil), func(err error) { heard <- err }) }), func(err error) { heard <- err })
	for range 2 {
		if err := <-heard; !errors.Is(err, errLost) {
			t.Errorf("heard %v", err)
		}
	}
	if s := l.State(); s.Health != store.Failed || !errors.Is(s.Err, errLost) {
		t.Errorf("state %v", s)
	}
}

func open(t *testing.T, fs vfs.FS) *store.Store {
	t.Helper()
	st, err := store.Open(fs, "data", store.Options{Sync: store.SyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	return st
}
