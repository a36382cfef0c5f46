package keys_test

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

// TestKeys checks that a queue is a key while it is not empty.
func TestKeys(t *testing.T) {
	start(t).Dial().Play(`
		RANDOMKEY → nil
		LPUSH l a → 1
		XADD s 1-1 f v → "1-1"
		TYPE l → +list
		TYPE s → +stream
		TYPE none → +none
		KEYS l* → ["l"]
		DBSIZE → 2
		EXISTS l s none l → 3
		SCAN 0 COUNT 100 TYPE STREAM → ["0" ["s"]]
		SCAN 0 COUNT 100 MATCH l → ["0" ["l"]]
		SCAN x → -ERR invalid cursor
		SCAN 0 COUNT 0 → -ERR syntax error
		SCAN 0 COUNT x → -ERR value is not an integer or out of range
		DEL s none → 1
		RANDOMKEY → "l"
		UNLINK l → 1
		DBSIZE → 0
		KEYS * → []
		EXISTS l → 0
	`)
}
