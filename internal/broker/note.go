package broker

import "fiveways/internal/storage/store"

// Note adds an entry of the annex to the group of the log that Session.DoAll makes: after a crash the entry is there together with what the other
// commands changed, or nothing of it is. DoAll returns when it has been applied. The order of the notes of one DoAll is that of their entries; an
// Unchanged or a Held before a note that does not hold keeps it out. It needs no permission.
type Note struct {
	OnQueue // without a queue
	Entry   []byte
	Index   uint64 // of the entry; 0: it was kept out

	record *record
}

// find makes the record. Errors: ErrTooLarge.
func (n *Note) find(s *Session) (_ *Queue, err error) {
	n.Index = 0
	n.record, err = s.b.newRecord(n.Entry, nil)
	return nil, err
}

// run is not called: a note has no shard.
func (n *Note) run(*shard, *Queue) error { return nil }

// refused is nothing: a note that cannot be has failed before.
func (n *Note) refused(*meeting) error { return nil }

func (n *Note) demanded() bool { return true }

// size is how much of the group of the log it takes.
func (n *Note) size() int { return len(n.Entry) }

// appendNotes hands a group of the log over by way of log, with notes behind the entries of shards. durable is called when all of it is on disk, done
// when the notes are applied, too; both once with what went wrong, or neither: false when the annex takes no more.
func (a *annex) appendNotes(group []store.Entry, notes []*Note, log func([]store.Entry, func(error)), durable, done func(error)) bool {
	rs := make([]*record, len(notes))
	a.mu.Lock()
	defer a.mu.Unlock() // so that the order of the log is that of the indexes
	if a.shut {
		return false
	}
	for i, n := range notes {
		rs[i] = n.record
		a.place(n.record)
		group = append(group, n.record.group[0])
	}
	rs[len(rs)-1].done = func(_ uint64, err error) {
		for _, n := range notes {
			if err == nil {
				n.Index = n.record.index
			}
			n.record = nil
		}
		done(err)
	}
	log(group, func(err error) {
		durable(err)
		a.logged(err, rs...)
	})
	return true
}

// recordNotes is for notes that are alone.
func (a *annex) recordNotes(notes []*Note) error {
	own := a.alone()
	log := a.b.store.Append
	if own {
		log = a.b.store.AppendOwn
	}
	result := make(chan error, 1)
	if !a.appendNotes(nil, notes, log, func(error) {}, func(err error) { result <- err }) {
		return ErrClosed
	}
	if own {
		a.b.commit()
		a.visit()
	}
	return <-result
}
