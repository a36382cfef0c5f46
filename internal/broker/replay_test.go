package broker

import (
	"errors"
	"log/slog"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker/followtest"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// openedIn holds the file system and the options of brokers that tests opened.
var openedIn sync.Map // *Broker -> opened

type opened struct {
	fs   *vfs.Mem
	opts Options
	log  *followtest.Log // nil: the test uses its own log
}

// sameWhenReplayed compares the live state of a broker that is about to close with the state after
// recovery from its log, and with that of a replica that followed from the start. It retries if the
// state changes during the comparison.
func sameWhenReplayed(t *testing.T, b *Broker) {
	t.Helper()
	v, ok := openedIn.LoadAndDelete(b)
	if !ok {
		return // not in memory, or already compared
	}
	for range 10 {
		if b.set.Store.State().Health != store.Healthy {
			return
		}
		before, err := b.stateHash()
		if err != nil {
			return // closed already
		}
		syncAll(t, b)
		disk, log := crashed(v.(opened).fs), v.(opened).log
		if log != nil {
			log = log.Cut()
		}
		live := b.set.Store.Stats().Live
		after, err := b.stateHash()
		must(t, err)
		if before != after {
			continue
		}
		o := v.(opened).opts
		o.Logger, o.StateMachines = slog.New(slog.DiscardHandler), nil
		got, err := ReplayedHash(disk, "data", o)
		must(t, err)
		if got != after {
			t.Errorf("the state that recovery makes of the log is not the one that was there")
		}
		if log != nil {
			sameWhenFollowed(t, log, o, after, live)
		}
		return
	}
}

// stateHash is Hash without the state machines, which have separate tests.
func (b *Broker) stateHash() (sum uint64, err error) {
	for _, part := range b.Parts() {
		if !statemachine.Known(part) {
			err = errors.Join(err, b.Sum(part, none, func(here uint64, _ Place) { sum += here }))
		}
	}
	return sum, err
}

// sameWhenFollowed compares a hash, and the number of references to bodies, with those of a replica
// that has applied all appended entries.
func sameWhenFollowed(t *testing.T, log *followtest.Log, o Options, want uint64, live int64) {
	t.Helper()
	var r *Replica
	open := func(st *store.Store, fs vfs.FS) (_ followtest.Replica, err error) {
		r, err = OpenReplica(st, fs, "data", o)
		return r, err
	}
	must(t, log.Follow("data", open, func(st *store.Store) {
		if got := r.Hash(); got != want {
			t.Errorf("the state of a replica that followed is not the one that was there")
		}
		if got := st.Stats().Live; got != live {
			t.Errorf("a replica that followed counts %d references to bodies, its leader %d", got, live)
		}
	}))
}
