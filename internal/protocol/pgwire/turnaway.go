package pgwire

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// errNoLeader is how PostgreSQL refuses a client while it cannot serve any.
var errNoLeader = fatal(pgerror.CannotConnectNow, "the database system is not accepting connections").WithDetail("%s", protocol.NoLeader)

// TurnAway tells a client that no node of the cluster leads. nc stays open.
func TurnAway(nc net.Conn) {
	if _, ok := firstPacket(nc, func(uint32, []byte) {}); !ok {
		return
	}
	out := output{nc: nc, w: nc}
	out.problem('E', errNoLeader)
	out.flush() //nolint:errcheck // a client that is gone needs no answer
}
