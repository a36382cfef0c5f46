package resp

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// notReady begins the error of a Redis server that is not ready yet. Redis Cluster replies
// CLUSTERDOWN without a majority, but clients that do not support it, such as redis-py, treat that
// as a failed command. On LOADING they reconnect and try again.
const notReady = "LOADING "

// turnedAwayLimits bounds the size of a request. A longer request ends the connection.
var turnedAwayLimits = respwire.Limits{Bulk: 16 << 10, Request: 64 << 10}

// TurnAway answers each command with the reason why it is not served, until the deadline of nc:
// some clients ignore the errors of their first commands. It does not close nc.
func TurnAway(nc net.Conn, reason string) {
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
				w.Error(notReady + reason)
			}
			in.Consume(n)
			more = n > 0 && err == nil
		}
		if _, failed := nc.Write(w.Buf); failed != nil {
			return
		}
	}
}
