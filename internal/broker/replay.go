package broker

import (
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

// ReplayedHash is the Hash that a broker would have after recovery from a data folder, which is
// only read: nothing is started. State machines are left out. Errors: those of Open.
func ReplayedHash(fs vfs.FS, dir string, o Options) (sum uint64, err error) {
	o.StateMachines = nil
	o = o.withDefaults()
	st, err := store.OpenReadOnly(fs, dir, store.Options{Logger: o.Logger})
	if err != nil {
		return 0, err
	}
	defer st.Close()
	b := &Broker{opts: o, log: o.Logger, fs: fs, dir: dir, store: st, sessions: newSessions()}
	b.machines = newMachines(b)
	if err := b.recover(); err != nil {
		return 0, err
	}
	sum = b.journal.Hash()
	for _, sh := range b.shards {
		sum += sh.machine.Hash()
	}
	return sum, nil
}
