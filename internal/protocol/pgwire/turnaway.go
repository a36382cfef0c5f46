package pgwire

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// errNoLeader is PostgreSQL's error while it cannot accept clients.
var errNoLeader = fatal(pgerror.CannotConnectNow, "the database system is not accepting connections").WithDetail("%s", protocol.NoLeader)

// TurnAway tells a client that the cluster has no leader. It does not close nc.
func TurnAway(nc net.Conn) {
	if _, ok := firstPacket(nc, func(uint32, []byte) {}); !ok {
		return
	}
	out := output{nc: nc, w: nc}
	out.problem('E', errNoLeader)
	out.flush() //nolint:errcheck // a client that is gone needs no answer
}
