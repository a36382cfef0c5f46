package lists_test

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// start starts a broker with the protocol in front.
func start(t *testing.T) *resptest.Node {
	return resptest.Start(t, broker.Options{DiskFreeLimit: -1}, func(n *resptest.Node) resptest.Server {
		return resp.New(n.Broker, resp.Options{Shared: protocol.Shared{Semaphores: n.Semaphores, Log: n.Logger(), LoginDelay: -1}})
	})
}

// TestLists checks that each command answers like Redis.
func TestLists(t *testing.T) {
	start(t).Dial().Play(`
		LPUSH l a b c → 3
		RPUSH l z → 4
		LRANGE l 0 -1 → ["c" "b" "a" "z"]
		LRANGE l 5 9 → []
		LINDEX l 0 → "c"
		LINDEX l -1 → "z"
		LINDEX l 9 → nil
		LINDEX none x → nil
		LINDEX l x → -ERR value is not an integer or out of range
		LPOS l a → 2
		LPOS l none → nil
		LPOS l z RANK -1 → 3
		LPOS l z COUNT 0 MAXLEN 2 → []
		LPOS l a RANK 0 → -ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list
		LREM l 0 b → 1
		LTRIM l 0 1 → +OK
		LRANGE l 0 -1 → ["c" "a"]
		LMOVE l m RIGHT LEFT → "a"
		LMOVE l m RIGHT AWAY → -ERR syntax error
		RPOPLPUSH l m → "c"
		RPOPLPUSH l m → nil
		LRANGE m 0 -1 → ["c" "a"]
		LLEN l → 0
		LPUSHX l x → 0
		RPUSHX m x → 3
		LMPOP 2 l m LEFT COUNT 2 → ["m" ["c" "a"]]
		LMPOP 0 l LEFT → -ERR numkeys should be greater than 0
		LPOP m 0 → []
		LPOP m 2 → ["x"]
		LPOP m 2 → nilarray
		RPOP m → nil
		RPOP m 1 2 → -ERR wrong number of arguments for 'rpop' command
		RPOP m -1 → -ERR value is out of range, must be positive
	`)
}

// TestBlockingLists checks that blocking commands take what is available, and time out.
func TestBlockingLists(t *testing.T) {
	start(t).Dial().Play(`
		RPUSH l a b c d e → 5
		BLPOP none l 0 → ["l" "a"]
		BRPOP l none 0 → ["l" "e"]
		BLMPOP 0 2 none l RIGHT COUNT 1 → ["l" ["d"]]
		BLMOVE l m LEFT RIGHT 0 → "b"
		BRPOPLPUSH l m 0 → "c"
		BLPOP l none 0.001 → nilarray
		BLMPOP 0.001 1 l LEFT → nilarray
		BLMOVE l m LEFT RIGHT 0.001 → nilarray
		BLPOP l -1 → -ERR timeout is negative
		BLPOP l x → -ERR timeout is not a float or out of range
	`)
}
