package etcd

import (
	"os"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcd/duel"
	"fiveways.dev/fiveways/test/etcdd"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// both starts a real etcd and a broker. ETCD_PEER names another server (host:port) to use in place
// of the broker.
func both(t *testing.T) *duel.Duel {
	t.Helper()
	peers := [2]*duel.Peer{duel.NewPeer("etcd", etcdd.Start(t))}
	if addr := os.Getenv("ETCD_PEER"); addr != "" {
		peers[1] = duel.NewPeer(addr, addr)
	} else {
		peers[1] = duel.NewPeer("Fiveways", brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr())
	}
	return duel.New(t, peers)
}

// leastScripts is the minimum number of scripts.
const leastScripts = 200

// TestScripts checks that the scripts have the same answers and events on both servers.
func TestScripts(t *testing.T) {
	if n := both(t).Scripts(t); n < leastScripts {
		t.Errorf("%d scripts, want %d", n, leastScripts)
	}
}
