package control

import "fiveways.dev/fiveways/internal/protocol"

// relieve gives the lead away when this node has it and is low on disk: it takes no messages, and
// another one may.
func (c *Control) relieve(members []protocol.Member) {
	if to := roomier(members, c.node.Status().Node); to != 0 {
		c.log.Warn("cluster: low on disk; giving the lead to a node that is not", "to", to)
		c.Transfer(to)
	}
}

// roomier is the voter that is furthest of those that have room on their disks, if a node leads and
// has too little; else 0.
func roomier(members []protocol.Member, node uint64) (to uint64) {
	match := uint64(0)
	needed := false
	for _, m := range members {
		switch {
		case m.About == nil:
		case m.Node == node:
			needed = m.Role == protocol.RoleLeader && low(m.About)
		case m.Role == protocol.RoleFollower && m.Match != nil && *m.Match > match && !low(m.About):
			to, match = m.Node, *m.Match
		}
	}
	if !needed {
		return 0
	}
	return to
}

// low reports whether publishers are blocked on a node that leads.
func low(a *protocol.About) bool { return a.DiskFree >= 0 && a.DiskFree < a.DiskFreeLimit }
