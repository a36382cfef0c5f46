package broker

import "sync"

// keptProposalBytes bounds what a reused proposal may hold on to.
const keptProposalBytes = 2 * entryBytes

// proposals recycles proposals: the committer gives back what shards take.
type proposals struct{ pool sync.Pool }

func (ps *proposals) get(sh *shard) *proposal {
	p, _ := ps.pool.Get().(*proposal)
	if p == nil {
		return newProposal(sh)
	}
	p.sh = sh
	return p
}

func (ps *proposals) put(p *proposal) {
	if cap(p.data) > keptProposalBytes {
		p.data = nil
	}
	p.data = p.data[:0]
	p.refs, p.wait = 0, false
	clear(p.confirms)
	p.confirms = p.confirms[:0]
	p.releases = p.releases[:0]
	clear(p.waiters)
	p.waiters = p.waiters[:0]
	clear(p.group)
	p.sh = nil
	ps.pool.Put(p)
}

// flowBytes is how much may wait to be written before publishers are held back.
const flowBytes = 64 << 20

// flow holds publishers back while the log is behind; consumers go on.
type flow struct {
	mu      sync.Mutex
	cond    *sync.Cond
	pending func() int64
	waiting int
	closed  bool
}

func (f *flow) await() {
	if f.pending() < flowBytes {
		return
	}
	f.mu.Lock()
	f.waiting++
	for f.pending() >= flowBytes && !f.closed {
		f.cond.Wait()
	}
	f.waiting--
	f.mu.Unlock()
}

func (f *flow) relieve() {
	f.mu.Lock()
	if f.waiting > 0 && f.pending() < flowBytes/2 {
		f.cond.Broadcast()
	}
	f.mu.Unlock()
}

func (f *flow) close() {
	f.mu.Lock()
	f.closed = true
	f.cond.Broadcast()
	f.mu.Unlock()
}
