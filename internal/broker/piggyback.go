package broker

import (
	"fiveways/internal/statemachine"
	"fiveways/internal/storage/store"
)

// PiggybackedEntry adds an entry of a state machine to the group of the log that Session.DoAll or
// Tx.Commit makes: after a crash the entry is there together with what else was changed, or nothing
// of it is. They return when it has been applied. The order of such entries of one group is that of
// the log; an Unchanged before one that does not hold keeps it out. It needs no permission.
type PiggybackedEntry struct {
	OnQueue        // without a queue
	Machine uint32 // its number: statemachine.Keys, statemachine.Semaphores
	Entry   []byte
	Index   uint64 // of the entry; 0: it was kept out

	entry *statemachine.Entry
}

// Find makes the entry. Errors: ErrTooLarge.
func (e *PiggybackedEntry) Find(f Finder) (_ *Queue, err error) { return nil, e.prepare(f.s.b) }

func (e *PiggybackedEntry) prepare(b *Broker) (err error) {
	e.Index = 0
	e.entry, err = b.machines.Of(e.Machine).NewEntry(e.Entry)
	return err
}

// Run is not called: the entry has no shard.
func (e *PiggybackedEntry) Run(Context) error { return nil }

// refused is nothing: an entry that cannot be has failed before.
func (e *PiggybackedEntry) refused(*commandGroup) error { return nil }

func (e *PiggybackedEntry) demanded() bool { return true }

// size is how much of the group of the log it takes.
func (e *PiggybackedEntry) size() int { return len(e.Entry) }

// piggybacks are entries of state machines in one group of the log.
type piggybacks []*PiggybackedEntry

// piggybacksOf returns those among commands.
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

// applied notes the outcome.
func (ps piggybacks) applied(err error) {
	for _, p := range ps {
		if err == nil {
			p.Index = p.entry.Index()
		}
		p.entry = nil
	}
}

// append is statemachine.Hosts.Append for them.
func (ps piggybacks) append(b *Broker, group []store.Entry, log func([]store.Entry, func(error)), durable, done func(error)) bool {
	return b.machines.Append(group, ps.entries(), log, durable, func(err error) {
		ps.applied(err)
		done(err)
	})
}

// record is for those that are alone in their group.
func (ps piggybacks) record(b *Broker) error {
	err := b.machines.Record(ps.entries())
	ps.applied(err)
	return err
}
