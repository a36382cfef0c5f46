package replica

import "time"

// silentAfter is how long a node takes another one for the leader without a message from it. A
// voter campaigns long before. Learners, removed nodes and nodes that are not fit to lead do not,
// and Raft forgets no leader by itself.
const silentAfter = 3 * time.Second

// knownLeader returns the leader that Raft knows, or 0 if this node is no longer a member or has
// heard nothing from that leader for a while.
func (c *core) knownLeader(leader uint64) uint64 {
	if leader != c.self && (c.disk.members.removed(c.self) || c.now()-c.heard[leader] > silentAfter) {
		return 0
	}
	return leader
}

// noteSilence logs when the leader becomes silent.
func (c *core) noteSilence() {
	silent := c.leader != 0 && c.knownLeader(c.leader) == 0
	if silent && !c.silent && !c.disk.members.removed(c.self) {
		c.logger.Warn("replica: the leader is silent; no leader is known until one is heard", "leader", c.leader, "for", silentAfter)
	}
	c.silent = silent
}
