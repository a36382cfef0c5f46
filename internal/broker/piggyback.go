package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
)

// PiggybackedEntry adds an entry of a state machine to the group of the log that Session.DoAll or
// Tx.Commit writes, so that both are atomic. These return once the entry is applied. Entries of one
// group are applied in the order of the commands; those after an unmet Unchanged are omitted. It
// needs no permission.
type PiggybackedEntry struct {
	OnQueue        // without a queue
	Machine uint32 // its number: statemachine.Keys, statemachine.Semaphores
	Entry   []byte
	Index   uint64 // of the entry; 0: it was omitted

	entry *statemachine.Entry
}

// Find prepares the entry. Errors: ErrTooLarge.
func (e *PiggybackedEntry) Find(f Finder) (_ *shard.Queue, err error) { return nil, e.prepare(f.s.b) }

func (e *PiggybackedEntry) prepare(b *Broker) (err error) {
	e.Index = 0
	e.entry, err = b.machines.Of(e.Machine).NewEntry(e.Entry)
	return err
}

// Run is not called: the entry has no shard.
func (e *PiggybackedEntry) Run(shard.Context) error { return nil }

// refused returns nil: an entry that cannot be recorded has failed earlier.
func (e *PiggybackedEntry) refused(*commandGroup) error { return nil }

func (e *PiggybackedEntry) demanded() bool { return true }

// size returns the bytes that the entry takes in the group of the log.
func (e *PiggybackedEntry) size() int { return len(e.Entry) }

// piggybacks are entries of state machines in one group of the log.
type piggybacks []*PiggybackedEntry

// piggybacksOf returns the piggybacked entries among commands.
func piggybacksOf(commands []Command) (ps piggybacks) {
	for _, c := range commands {
		if e, ok := c.(*PiggybackedEntry); ok {
			ps = append(ps, e)
		}
	}
	return ps
}

func (ps piggybacks) entries() []*statemachine.Entry {
	all := make([]*statemachine.Entry, len(ps))
	for i, p := range ps {
		all[i] = p.entry
	}
	return all
}

// applied stores the index of the applied entry.
func (ps piggybacks) applied(err error) {
	for _, p := range ps {
		if err == nil {
			p.Index = p.entry.Index()
		}
		p.entry = nil
	}
}

// append is statemachine.Hosts.Append for the entries.
func (ps piggybacks) append(b *Broker, group []store.Entry, log func([]store.Entry, func(error)), durable, done func(error)) bool {
	return b.machines.Append(group, ps.entries(), log, durable, func(err error) {
		ps.applied(err)
		done(err)
	})
}

// record records the entries in a separate group.
func (ps piggybacks) record(b *Broker) error {
	err := b.machines.Record(ps.entries())
	ps.applied(err)
	return err
}
