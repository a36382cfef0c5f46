package control

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol"
)

// relieve transfers the leadership if this node leads and is low on disk: it accepts no messages,
// but another node may.
func (c *Control) relieve(ctx context.Context, members []protocol.Member) {
	to := roomier(members, c.node.Status().Node)
	if to == 0 {
		return
	}
	if err := c.Transfer(ctx, to); err != nil {
		c.log.Warn("cluster: low on disk, but the node to hand over to cannot lead yet", "to", to, "err", err)
		return
	}
	c.log.Warn("cluster: low on disk; giving the lead to a node that is not", "to", to)
}

// roomier returns the voter with enough disk space whose log is furthest ahead, if node leads and
// is low on disk, or else 0.
func roomier(members []protocol.Member, node uint64) (to uint64) {
	match := uint64(0)
	needed := false
	for _, m := range members {
		switch {
		case m.About == nil:
		case m.Node == node:
			needed = m.Role == protocol.RoleLeader && m.About.LowOnDisk()
		case m.Role == protocol.RoleFollower && m.Match != nil && *m.Match > match && !m.About.LowOnDisk():
			to, match = m.Node, *m.Match
		}
	}
	if !needed {
		return 0
	}
	return to
}
