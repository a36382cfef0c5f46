package pgwire

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// TurnAway tells a client why it is not served, with PostgreSQL's error while that cannot accept
// clients. It does not close nc.
func TurnAway(nc net.Conn, reason string) {
	if _, ok := firstPacket(nc, func(uint32, []byte) {}); !ok {
		return
	}
	out := output{nc: nc, w: nc}
	out.problem('E', fatal(pgerror.CannotConnectNow, "the database system is not accepting connections").WithDetail("%s", reason))
	out.flush() //nolint:errcheck // a client that is gone needs no answer
}
