package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Replayed is a broker after recovery that has not been started. It belongs to one goroutine.
type Replayed struct{ Broker *Broker }

// At returns the Context of a queue.
func (r Replayed) At(q *shard.Queue) shard.Context { return shard.ContextOf(q) }

// Replay recovers a broker from a data directory, which it only reads, and runs fn with it. Errors:
// those of Open and fn.
func Replay(fs vfs.FS, dir string, o Options, fn func(Replayed) error) error {
	o = o.withDefaults()
	st, err := store.OpenReadOnly(fs, dir, store.Options{Logger: o.Logger})
	if err != nil {
		return err
	}
	b := newBroker(o, st, fs, dir)
	if err = b.recover(); err == nil {
		err = fn(Replayed{b})
	}
	return errors.Join(err, st.Close())
}

// ReplayedHash returns the Hash of a broker after recovery from a data directory. The state
// machines of o must be new: they get the contents of the log. Errors: those of Open.
func ReplayedHash(fs vfs.FS, dir string, o Options) (sum uint64, err error) {
	err = Replay(fs, dir, o, func(r Replayed) error {
		sum = (&Replica{b: r.Broker}).Hash()
		return nil
	})
	return sum, err
}
