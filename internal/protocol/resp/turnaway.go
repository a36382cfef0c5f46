package resp

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// errNoLeader is Redis' answer of a server that cannot serve anybody yet. Redis Cluster says
// CLUSTERDOWN without a majority, but clients that are not made for that take it for the end of a
// command, as redis-py does; for LOADING they connect and try again.
const errNoLeader command.Error = "LOADING " + protocol.NoLeader

// turnedAwayLimits bound what is read of a request. One that is longer ends the connection.
var turnedAwayLimits = respwire.Limits{Bulk: 16 << 10, Request: 64 << 10}

// TurnAway tells a client, in answer to each command until the deadline of nc, that no node of the
// cluster leads: some begin with commands whose errors they pass over. nc stays open.
func TurnAway(nc net.Conn) {
	var in protocol.Input
	in.Init(nc)
	defer in.Release()
	parser := respwire.Parser{Limits: turnedAwayLimits}
	var err error
	for err == nil && in.Fill(parser.Want()) == nil {
		var w respwire.Writer
		for more := true; more; {
			var args [][]byte
			var n int
			args, n, err = parser.Next(in.Pending(), nil)
			if len(args) > 0 || err != nil {
				w.Error(string(errNoLeader))
			}
			in.Consume(n)
			more = n > 0 && err == nil
		}
		if _, failed := nc.Write(w.Buf); failed != nil {
			return
		}
	}
}
