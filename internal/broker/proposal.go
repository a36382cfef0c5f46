package broker

import (
	"sync"
	"time"

	"fiveways/internal/core/queue"
	"fiveways/internal/storage/store"
)

// proposal is one entry on its way to the log, with the promises that hang on
// it. Proposals are reused.
type proposal struct {
	sh       *shard
	index    uint64 // once it is sealed
	data     []byte
	settled  []settledRun // settle facts, added when the entry is proposed
	refs     int          // references from queues to bodies in this entry
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

// settledRun is n contiguous messages that are gone.
type settledRun struct {
	queue  uint64
	handle queue.Handle
	n      int
}

func newProposal(sh *shard) *proposal {
	p := &proposal{sh: sh}
	p.finished, p.written = p.finish, p.tellEarly
	return p
}

// settle notes that n messages from h on are gone; adjacent ones share a fact.
// The facts go to the end of the entry, so after the publishes they refer to.
func (p *proposal) settle(queueID uint64, h queue.Handle, n int) {
	if k := len(p.settled); k > 0 {
		if r := &p.settled[k-1]; r.queue == queueID && r.handle+queue.Handle(r.n) == h {
			r.n += n
			return
		}
	}
	p.settled = append(p.settled, settledRun{queueID, h, n})
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

// propose hands the entry in hand to the log and begins the next one.
func (sh *shard) propose() {
	p := sh.entry
	if len(p.data) == 0 && len(p.settled) == 0 {
		for _, w := range p.waiters {
			w(nil)
		}
		p.waiters = p.waiters[:0]
		return
	}
	e := sh.seal()
	p.group = append(p.group[:0], e)
	sh.log(p.group, p.finished)
}

// log appends to the log what was sealed.
func (sh *shard) log(group []store.Entry, done func(error)) {
	if sh.writes {
		sh.owes = true
		sh.b.store.AppendOwn(group, done)
	} else {
		sh.b.store.Append(group, done)
	}
}

// seal completes the entry in hand, which the caller appends to the log, and
// begins the next one.
func (sh *shard) seal() store.Entry {
	p := sh.entry
	sh.tellSettled()
	e := store.Entry{
		Shard: sh.id, Index: sh.index, Data: p.data, Refs: p.refs,
		Wait: p.wait,
	}
	if len(p.waiters) > 0 {
		e.Wait = max(e.Wait, sh.b.opts.Sync.Wait())
	}
	if len(p.early) > 0 {
		e.Written = p.written
	}
	if len(p.confirms) > 0 {
		p.sealed = time.Now()
	}
	p.index = sh.index
	sh.logged.add(len(p.data))
	sh.index++
	sh.sub = 0
	sh.entry = sh.b.proposals.get(sh)
	return e
}

// tellSettled appends the settle facts that were gathered.
func (sh *shard) tellSettled() {
	p := sh.entry
	for _, r := range p.settled {
		p.data = appendRange(p.data, factSettle, r.queue, r.handle, r.n)
	}
	sh.sub += uint32(len(p.settled))
	p.settled = p.settled[:0]
}

// finish runs on the goroutine that writes the log when the entry is durable, or never
// will be.
func (p *proposal) finish(err error) {
	if len(p.confirms) > 0 && err == nil {
		p.sh.b.confirmed.Observe(uint64(time.Since(p.sealed)), 1)
	}
	for i := range p.confirms {
		a := &p.confirms[i]
		a.to.Confirmed(a.from, a.up, err == nil)
	}
	for i := range p.early { // left over only when the write failed
		a := &p.early[i]
		a.to.Confirmed(a.from, a.up, false)
	}
	for _, w := range p.waiters {
		w(err)
	}
	if err == nil && len(p.releases) > 0 {
		p.sh.b.store.ReleaseRuns(p.sh.id, p.releases)
	}
	p.sh.advance(p.index, err)
	b := p.sh.b
	b.proposals.put(p)
	b.flow.relieve()
}

// tellEarly runs on the goroutine that writes the log when the entry is written.
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
	keptProposalBytes = 2 * entryBytes // what a kept one may hold on to
)

// proposals recycles proposals: the committer gives back what shards take. It
// is a plain list, because a sync.Pool seldom finds on one processor what was
// put back on another, and growing a new buffer to a megabyte costs as much as
// filling it.
type proposals struct {
	mu   sync.Mutex
	free []*proposal
}

func (ps *proposals) get(sh *shard) *proposal {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := len(ps.free) - 1
	if n < 0 {
		return newProposal(sh)
	}
	p := ps.free[n]
	ps.free[n] = nil
	ps.free = ps.free[:n]
	p.sh = sh
	return p
}

func (ps *proposals) put(p *proposal) {
	if cap(p.data) > keptProposalBytes {
		p.data = nil
	}
	p.data = p.data[:0]
	p.refs, p.wait = 0, store.WaitNot
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
