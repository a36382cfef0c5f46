package job

import (
	"cmp"
	"slices"
)

// Done is an id that is remembered after its message is gone.
type Done struct {
	ID       string
	Until    int64  // unix ms from which the id may be used again; the next take then forgets it
	Attempts uint32 // how often the message was taken
	First    int64  // unix ms of the first enqueue, 0: unknown
	Logged   bool   // it survives a restart
	Number   uint64 // its position in the order in which ids were remembered, since the start
	at       int    // index in byUntil + 1; 0: added by Mention, or forgotten
}

// maxMentioned is how many ids without a time are kept. They only show for a while what happened to
// them.
const maxMentioned = 4096

func (d *Done) end() (int64, uint64) { return d.Until, d.Number }

func (d *Done) heapIndex() *int { return &d.at }

// Remember adds an id, or changes what is remembered about it. d is copied.
func (b *Ledger) Remember(d *Done) { b.byUntil.Push(b.note(d)) }

// Mention is Remember for an id that may be reused at once. It does not survive a restart, and the
// oldest are dropped if there are many.
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

// Remembered returns what is remembered about an id after its message is gone, or nil.
func (b *Ledger) Remembered(id []byte) *Done { return b.done[string(id)] }

// RememberedIDs returns the number of remembered ids.
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

// slackOrder is the number of forgotten ids that order may have in addition to as many as the
// remembered ones.
const slackOrder = 64

// tidyOrder removes the forgotten ids from order if they are most of it.
func (b *Ledger) tidyOrder() {
	if len(b.order) > 2*len(b.done)+slackOrder {
		b.order = slices.DeleteFunc(b.order, func(d *Done) bool { return b.done[d.ID] != d })
	}
}

// ForgetPassed forgets the ids whose time has passed by now, and calls fn for those that survive a
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

// InBackoff returns how many remembered ids have a time after now.
func (b *Ledger) InBackoff(now int64) int { return len(b.byUntil) - passed(b.byUntil, 0, now) }

// DoneFrom returns up to n of the remembered ids in order of Number, starting at number.
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
