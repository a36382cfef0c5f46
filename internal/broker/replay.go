package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Replayed is a broker as recovery made it, which has not started. It belongs to one goroutine.
type Replayed struct{ Broker *Broker }

// At is a queue at its shard.
func (r Replayed) At(q *shard.Queue) shard.Context { return shard.ContextOf(q) }

// Replay runs fn with what recovery makes of a data folder, which is only read. Errors: those of
// Open and fn.
func Replay(fs vfs.FS, dir string, o Options, fn func(Replayed) error) error {
	o = o.withDefaults()
	st, err := store.OpenReadOnly(fs, dir, store.Options{Logger: o.Logger})
	if err != nil {
		return err
	}
	b := newBroker(o, fs, dir)
	b.newSet(st, nil, nil)
	b.machines = newMachines(b)
	if err = b.recover(); err == nil {
		err = fn(Replayed{b})
	}
	return errors.Join(err, st.Close())
}

// ReplayedHash is the Hash that a broker would have after recovery from a data folder, with the
// state machines of o, which must be new: they take what the log has. Errors: those of Open.
func ReplayedHash(fs vfs.FS, dir string, o Options) (sum uint64, err error) {
	err = Replay(fs, dir, o, func(r Replayed) error {
		sum = (&Replica{b: r.Broker}).Hash()
		return nil
	})
	return sum, err
}
