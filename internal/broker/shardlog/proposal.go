package shardlog

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/storage/store"
)

// proposal is an entry with the promises that depend on it: confirms and waiters. Proposals are
// reused.
type proposal struct {
	w        *Writer
	index    uint64 // 0 until it is sealed, and for an entry without facts
	data     []byte
	refs     int // references from queues to bodies in this entry
	confirms Answers
	early    Answers     // confirms that leave once the entry is written
	releases []store.Run // bodies no longer needed once this entry is durable
	waiters  []func(error)
	wait     store.Wait // what the promises wait for
	group    []store.Entry
	sealed   time.Time   // if it has confirms: when it was handed to the log
	finished func(error) // p.finish, bound once
	written  func()      // p.tellEarly, bound once
}

func newProposal(w *Writer) *proposal {
	p := &proposal{w: w}
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

// confirm adds a publish that is confirmed as soon as wait allows.
func (p *proposal) confirm(to Confirmer, seq uint64, wait store.Wait) {
	list := &p.confirms
	if wait == store.WaitNot {
		list = &p.early
	}
	p.wait = max(p.wait, wait)
	list.Add(to, seq, true)
}

// promises reports whether the entry has promises.
func (p *proposal) promises() bool { return len(p.waiters)+len(p.confirms)+len(p.early) > 0 }

// waits returns what the promises of the entry wait for.
func (p *proposal) waits() store.Wait {
	if len(p.confirms) > 0 {
		p.sealed = time.Now()
	}
	if len(p.waiters) > 0 {
		return max(p.wait, p.w.Sync.Wait())
	}
	return p.wait
}

// synced reports whether the entry is durable when finish runs. An entry without a promise is only
// written by then, and synced a little later.
func (p *proposal) synced() bool {
	return p.wait != store.WaitNot || p.w.Sync.Wait() == store.WaitNot
}

// finish keeps the promises. It runs on the goroutine that writes the log when the entry is
// durable, or with an error if it never will be.
func (p *proposal) finish(err error) {
	w := p.w
	if len(p.confirms) > 0 && err == nil {
		w.Confirmed.Observe(uint64(time.Since(p.sealed)), 1)
	}
	p.confirms.tell(err == nil)
	p.early.tell(err == nil) // confirms remain if the write failed, or there was nothing to write
	for _, waiter := range p.waiters {
		waiter(err)
	}
	if err == nil && len(p.releases) > 0 {
		w.Store.ReleaseRuns(w.id, p.releases)
	}
	if p.index > 0 && (err != nil || p.synced()) {
		w.advance(p.index, err)
	}
	w.proposals.put(p)
	w.Relieve()
}

// tellEarly sends the early confirms. It runs on the goroutine that writes the log when the entry
// is written.
func (p *proposal) tellEarly() {
	p.early.tell(true)
	p.early.clear()
}

const (
	keptProposals     = 8              // the rest is left to the garbage collector
	keptProposalBytes = 2 * EntryBytes // largest buffer that a kept proposal may have
)

// proposals recycles proposals: the committer returns those that shards took. It is a plain list
// because a sync.Pool seldom finds on one processor what was returned on another, and growing a new
// buffer to a megabyte costs as much as filling it.
type proposals struct {
	mu   sync.Mutex
	free []*proposal
}

func (ps *proposals) get(w *Writer) *proposal {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := len(ps.free) - 1
	if n < 0 {
		return newProposal(w)
	}
	p := ps.free[n]
	ps.free[n] = nil
	ps.free = ps.free[:n]
	p.w = w
	return p
}

func (ps *proposals) put(p *proposal) {
	if cap(p.data) > keptProposalBytes {
		p.data = nil
	}
	p.data = p.data[:0]
	p.index, p.refs, p.wait = 0, 0, store.WaitNot
	p.confirms.clear()
	p.early.clear()
	p.releases = p.releases[:0]
	clear(p.waiters)
	p.waiters = p.waiters[:0]
	clear(p.group)
	p.w = nil
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.free) < keptProposals {
		ps.free = append(ps.free, p)
	}
}
