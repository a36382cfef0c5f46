package job

import (
	"cmp"
	"slices"
)

// Done is an id that is remembered after its message has gone.
type Done struct {
	ID       string
	Until    int64  // unix ms from which the id may be used again; a take after that forgets it
	Attempts uint32 // how often the message was taken
	First    int64  // unix ms when it was first enqueued, 0: unknown
	Logged   bool   // it survives a restart
	Number   uint64 // its position in the order in which ids were remembered, since the start
	at       int    // index in byUntil + 1; 0: it is from Mention
}

// maxMentioned is how many ids without a time are kept; they only show for a while what became of
// them.
const maxMentioned = 4096

func (d *Done) end() (int64, uint64) { return d.Until, d.Number }

func (d *Done) heapIndex() *int { return &d.at }

// Remember adds an id, or changes what is remembered of it. d is copied.
func (b *Ledger) Remember(d *Done) { b.byUntil.Push(b.note(d)) }

// Mention is Remember for an id that may be reused at once. It is lost at a restart, and the oldest
// are dropped when there are many.
func (b *Ledger) Mention(d *Done) {
	own := b.note(d)
	own.Logged = false
	if b.recent = append(b.recent, own); len(b.recent) > 2*maxMentioned {
		for _, old := range b.recent[:maxMentioned] {
			if b.done[old.ID] == old {
				delete(b.done, old.ID)
			}
		}
		b.recent = slices.Delete(b.recent, 0, maxMentioned)
		b.tidyOrder()
	}
}

func (b *Ledger) note(d *Done) *Done {
	b.Forget(d.ID)
	own := new(Done)
	*own = *d
	b.remembered++
	own.Number, own.at = b.remembered, 0
	b.done[own.ID] = own
	b.order = append(b.order, own)
	return own
}

// Remembered returns what is remembered of an id after its message has gone, nil if nothing.
func (b *Ledger) Remembered(id []byte) *Done { return b.done[string(id)] }

// RememberedIDs is the number of ids that are remembered.
func (b *Ledger) RememberedIDs() int { return len(b.done) }

// Forget forgets an id.
func (b *Ledger) Forget(id string) {
	d := b.done[id]
	if d == nil {
		return
	}
	delete(b.done, id)
	b.byUntil.Remove(d.at)
	b.tidyOrder()
}

// slackOrder is how many forgotten ids order may have, beside as many as the others.
const slackOrder = 64

// tidyOrder removes the forgotten ids from order when they are most of it.
func (b *Ledger) tidyOrder() {
	if len(b.order) > 2*len(b.done)+slackOrder {
		b.order = slices.DeleteFunc(b.order, func(d *Done) bool { return b.done[d.ID] != d })
	}
}

// ForgetPassed forgets the ids whose time is over by now, and calls fn for those that survive a
// restart.
func (b *Ledger) ForgetPassed(now int64, fn func(*Done)) {
	for _, d := range b.recent {
		if b.done[d.ID] == d {
			delete(b.done, d.ID)
		}
	}
	clear(b.recent)
	b.recent = b.recent[:0]
	b.tidyOrder()
	for len(b.byUntil) > 0 && b.byUntil[0].Until <= now {
		d := b.byUntil[0]
		if d.Logged {
			fn(d)
		}
		b.Forget(d.ID)
	}
}

// InBackoff returns how many remembered ids have a time that is not over by now.
func (b *Ledger) InBackoff(now int64) int { return len(b.byUntil) - passed(b.byUntil, 0, now) }

// DoneFrom returns up to n of the remembered ids, in order of Number, from a Number on.
func (b *Ledger) DoneFrom(number uint64, n int) []*Done {
	from, _ := slices.BinarySearchFunc(b.order, number, func(d *Done, number uint64) int { return cmp.Compare(d.Number, number) })
	all := make([]*Done, 0, min(n, len(b.done)))
	for _, d := range b.order[from:] {
		if len(all) == n {
			break
		}
		if b.done[d.ID] == d {
			all = append(all, d)
		}
	}
	return all
}

// Clear forgets all ids.
func (b *Ledger) Clear() {
	b.done, b.byUntil, b.recent, b.order = map[string]*Done{}, nil, nil, nil
}
