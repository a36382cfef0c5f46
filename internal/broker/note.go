package broker

import (
	"slices"
	"sync/atomic"

	"fiveways/internal/storage/store"
)

// Note adds an entry of an annex to the group of the log that Session.DoAll or Tx.Commit makes: after a crash the entry is there together with what
// else was changed, or nothing of it is. They return when it has been applied. The order of the notes of one group is that of their entries; an
// Unchanged or a Held before a note that does not hold keeps it out. It needs no permission.
type Note struct {
	OnQueue        // without a queue
	Annex   uint32 // the number of the annex: KeyShard, SemaphoreShard
	Entry   []byte
	Index   uint64 // of the entry; 0: it was kept out

	record *record
}

// find makes the record. Errors: ErrTooLarge.
func (n *Note) find(s *Session) (_ *Queue, err error) { return nil, n.prepare(s.b) }

func (n *Note) prepare(b *Broker) (err error) {
	n.Index = 0
	n.record, err = b.annex(n.Annex).newRecord(n.Entry, nil)
	return err
}

// run is not called: a note has no shard.
func (n *Note) run(*shard, *Queue) error { return nil }

// refused is nothing: a note that cannot be has failed before.
func (n *Note) refused(*meeting) error { return nil }

func (n *Note) demanded() bool { return true }

// size is how much of the group of the log it takes.
func (n *Note) size() int { return len(n.Entry) }

// annexesOf are the annexes of notes, in the order of their locks.
func (b *Broker) annexesOf(notes []*Note) (all []*annex) {
	for _, a := range b.annexes {
		if slices.ContainsFunc(notes, func(n *Note) bool { return n.record.a == a }) {
			all = append(all, a)
		}
	}
	return all
}

// appendNotes hands a group of the log over by way of log, with notes behind the entries of shards. durable is called when all of it is on disk, done
// when the notes are applied, too; both once with what went wrong, or neither: false when an annex takes no more.
func (b *Broker) appendNotes(group []store.Entry, notes []*Note, log func([]store.Entry, func(error)), durable, done func(error)) bool {
	annexes := b.annexesOf(notes)
	for _, a := range annexes {
		a.mu.Lock()
		defer a.mu.Unlock() // so that the order of the log is that of the indexes
		if a.shut {
			return false
		}
	}
	for _, n := range notes {
		n.record.a.place(n.record)
		group = append(group, n.record.group[0])
	}
	var left atomic.Int32 // annexes that have not applied theirs
	left.Store(int32(len(annexes)))
	applied := func(_ uint64, err error) {
		if left.Add(-1) > 0 {
			return
		}
		for _, n := range notes {
			if err == nil {
				n.Index = n.record.index
			}
			n.record = nil
		}
		done(err)
	}
	records := make([][]*record, len(annexes))
	for i, a := range annexes {
		for _, n := range notes {
			if n.record.a == a {
				records[i] = append(records[i], n.record)
			}
		}
		records[i][len(records[i])-1].done = applied
	}
	log(group, func(err error) {
		durable(err)
		for i, a := range annexes {
			a.logged(err, records[i]...)
		}
	})
	return true
}

// recordNotes is for notes that are alone.
func (b *Broker) recordNotes(notes []*Note) error {
	annexes := b.annexesOf(notes)
	own := !slices.ContainsFunc(annexes, func(a *annex) bool { return !a.alone() })
	log := b.store.Append
	if own {
		log = b.store.AppendOwn
	}
	result := make(chan error, 1)
	if !b.appendNotes(nil, notes, log, func(error) {}, func(err error) { result <- err }) {
		return ErrClosed
	}
	if own {
		b.commit()
		visitAll(annexes)
	}
	return <-result
}

// visitAll applies what is ready in annexes for a caller who waits for it.
func visitAll(annexes []*annex) {
	for _, a := range annexes {
		a.visit()
	}
}
