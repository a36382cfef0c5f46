package replica

import "fiveways.dev/fiveways/internal/storage/store"

// unfit reports whether the disk, or a machine that is not restored yet, keeps this node from
// leading.
func (c *core) unfit() bool {
	return c.restores || c.st.State().Health != store.Healthy || len(c.backlog) > 0 || len(c.begun) > 0 && c.ticks-c.begun[0].since > stuckTicks
}

// noteFitness counts for how many ticks this node has been fit to lead.
func (c *core) noteFitness() {
	if c.unfit() {
		c.fit = 0
		return
	}
	if c.fit++; c.fit > stuckTicks {
		c.given = 0
	}
}

// giveAway transfers the leadership to the most advanced voter. Each attempt costs this node its
// lease for a while (lentAgain), so it waits longer after each: the others may not be fit, either.
func (c *core) giveAway() {
	if uint64(c.ticks) < c.transfer+backoff(c.given) {
		return
	}
	best, match := uint64(0), uint64(0)
	status := c.raw.Status()
	for id, pr := range status.Progress {
		if id != c.self && !pr.IsLearner && pr.RecentActive && (pr.Match > match || pr.Match == match && id < best) {
			best, match = id, pr.Match
		}
	}
	if best != 0 {
		c.logger.Warn("replica: this node is not fit to lead; giving the lead away", "to", best)
		c.given++
		c.transferTo(best)
	}
}

// backoff returns for how many ticks to wait after some failures: an election timeout, and at most
// about a minute.
func backoff(failures int) uint64 { return electionTicks << min(failures, 6) }

// transferTo transfers the leadership to another node. This node's lease ends at once, because the
// other node may lead before the lease would expire.
func (c *core) transferTo(node uint64) {
	if c.leadTerm == 0 || node == c.self {
		return
	}
	c.transfer = uint64(c.ticks)
	if c.leading != nil {
		c.leading.lease.Store(0)
	}
	c.propose(true) // Raft takes no proposals during a transfer
	c.raw.TransferLeader(node)
}
