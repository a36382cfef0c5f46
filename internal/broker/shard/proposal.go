package shard

import (
	"sync"
	"time"

	"fiveways/internal/storage/store"
)

// proposal is one entry on its way to the log, with the promises that depend on it: confirms and
// waiters. Proposals are reused.
type proposal struct {
	sh       *Shard
	on       [1]uint32 // the shard's id
	index    uint64    // 0 until it is sealed, and for one without facts
	data     []byte
	refs     int // references from queues to bodies in this entry
	confirms []answer
	early    []answer    // confirms that leave once the entry is written
	releases []store.Run // bodies no longer needed once this entry is durable
	waiters  []func(error)
	wait     store.Wait // what the promises wait for
	group    []store.Entry
	sealed   time.Time   // with confirms: when the log got it
	finished func(error) // p.finish, bound once
	written  func()      // p.tellEarly, bound once
}

func newProposal(sh *Shard) *proposal {
	p := &proposal{sh: sh, on: [1]uint32{sh.ID}}
	p.finished, p.written = p.finish, p.tellEarly
	return p
}

func (p *proposal) release(index uint64) {
	if k := len(p.releases); k > 0 && p.releases[k-1].Index == index {
		p.releases[k-1].N++
		return
	}
	p.releases = append(p.releases, store.Run{Index: index, N: 1})
}

// confirm notes a publish that is confirmed as soon as wait allows.
func (p *proposal) confirm(to Confirmer, seq uint64, wait store.Wait) {
	list := &p.confirms
	if wait == store.WaitNot {
		list = &p.early
	}
	p.wait = max(p.wait, wait)
	if k := len(*list); k > 0 {
		if a := &(*list)[k-1]; a.to == to && a.up+1 == seq {
			a.up = seq
			return
		}
	}
	*list = append(*list, answer{to, seq, seq, true})
}

// Propose hands the entry in hand to the log and begins the next one.
func (sh *Shard) Propose() {
	p := sh.entry
	if sh.facts.Empty() {
		if p.promises() {
			sh.keepPromises()
		}
		return
	}
	e := sh.seal()
	p.group = append(p.group[:0], e)
	sh.Log(p.group, p.finished)
}

// promises reports whether the entry has promises.
func (p *proposal) promises() bool { return len(p.waiters)+len(p.confirms)+len(p.early) > 0 }

// keepPromises is propose for an entry without facts: its promises are about earlier entries, such
// as that of the original of a duplicate.
func (sh *Shard) keepPromises() {
	p := sh.entry
	sh.begin()
	sh.set.Log.Barrier(p.on[:], p.waits(), p.finished)
}

// waits is what the promises of the entry wait for.
func (p *proposal) waits() store.Wait {
	if len(p.confirms) > 0 {
		p.sealed = time.Now()
	}
	if len(p.waiters) > 0 {
		return max(p.wait, p.sh.set.Sync.Wait())
	}
	return p.wait
}

// synced reports whether the entry is durable once it is finished: one without a promise is then
// only written, and synced a little later.
func (p *proposal) synced() bool {
	return p.wait != store.WaitNot || p.sh.set.Sync.Wait() == store.WaitNot
}

// begin makes the next entry the one in hand.
func (sh *Shard) begin() {
	sh.entry = sh.set.proposals.get(sh)
	sh.facts.Begin(sh.index, sh.entry.data)
}

// Log appends sealed entries to the log.
func (sh *Shard) Log(group []store.Entry, done func(error)) {
	if sh.writes {
		sh.owes = true
		sh.set.Log.AppendInline(group, done)
	} else {
		sh.set.Log.Append(group, done)
	}
}

// seal completes the entry in hand, which the caller appends to the log, and begins the next one.
func (sh *Shard) seal() store.Entry {
	p := sh.entry
	p.data, p.refs = sh.facts.Seal()
	p.wait = p.waits()
	e := store.Entry{Shard: sh.ID, Index: sh.index, Data: p.data, Refs: p.refs, Wait: p.wait}
	if len(p.early) > 0 {
		e.Written = p.written
	}
	p.index = sh.index
	if p.wait >= sh.set.Sync.Wait() {
		sh.durable.asked = sh.index
	}
	sh.logged.add(len(p.data))
	sh.index++
	sh.begin()
	return e
}

// releasing notes which bodies are not needed any more once the entry in hand is durable.
type releasing struct{ sh *Shard }

func (r releasing) Logged(index uint64)  { r.sh.entry.release(index) }
func (r releasing) Scratch(index uint64) { r.sh.releaseSpilled(index) }

// finish keeps the promises. It runs on the goroutine that writes the log when the entry is
// durable, or with an error when it never will be.
func (p *proposal) finish(err error) {
	if len(p.confirms) > 0 && err == nil {
		p.sh.set.Confirmed.Observe(uint64(time.Since(p.sealed)), 1)
	}
	for i := range p.confirms {
		a := &p.confirms[i]
		a.to.Confirmed(a.from, a.up, err == nil)
	}
	for i := range p.early { // still there when the write failed, or when there was nothing to write
		a := &p.early[i]
		a.to.Confirmed(a.from, a.up, err == nil)
	}
	for _, w := range p.waiters {
		w(err)
	}
	if err == nil && len(p.releases) > 0 {
		p.sh.set.Store.ReleaseRuns(p.sh.ID, p.releases)
	}
	if p.index > 0 && (err != nil || p.synced()) {
		p.sh.advance(p.index, err)
	}
	set := p.sh.set
	set.proposals.put(p)
	set.Flow.Relieve()
}

// tellEarly sends the early confirms. It runs on the goroutine that writes the log when the entry
// is written.
func (p *proposal) tellEarly() {
	for i := range p.early {
		a := &p.early[i]
		a.to.Confirmed(a.from, a.up, true)
	}
	clear(p.early)
	p.early = p.early[:0]
}

const (
	keptProposals     = 8              // more are left to the garbage collector
	keptProposalBytes = 2 * EntryBytes // capacity of the buffer of a kept one
)

// proposals recycles proposals: the committer puts back what shards take. It is a plain list
// because a sync.Pool seldom finds on one processor what was put back on another, and growing a new
// buffer to a megabyte costs as much as filling it.
type proposals struct {
	mu   sync.Mutex
	free []*proposal
}

func (ps *proposals) get(sh *Shard) *proposal {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := len(ps.free) - 1
	if n < 0 {
		return newProposal(sh)
	}
	p := ps.free[n]
	ps.free[n] = nil
	ps.free = ps.free[:n]
	p.sh, p.on[0] = sh, sh.ID
	return p
}

func (ps *proposals) put(p *proposal) {
	if cap(p.data) > keptProposalBytes {
		p.data = nil
	}
	p.data = p.data[:0]
	p.index, p.refs, p.wait = 0, 0, store.WaitNot
	clear(p.confirms)
	p.confirms = p.confirms[:0]
	clear(p.early)
	p.early = p.early[:0]
	p.releases = p.releases[:0]
	clear(p.waiters)
	p.waiters = p.waiters[:0]
	clear(p.group)
	p.sh = nil
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.free) < keptProposals {
		ps.free = append(ps.free, p)
	}
}

// logged counts the bytes of facts of a shard.
type logged struct {
	total int64 // in the log at the start, and since then
	since int64 // since the last checkpoint
}

func (l *logged) add(n int) {
	l.total += int64(n)
	l.since += int64(n)
}
