package etcd

import (
	"os"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcd/duel"
	"fiveways.dev/fiveways/test/etcdd"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// both is a real etcd and a broker. ETCD_PEER names another server (host:port) to put in the
// broker's place.
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

// leastScripts is how many scripts there are to be at least.
const leastScripts = 200

// The scripts have the same answers and events from both.
func TestScripts(t *testing.T) {
	if n := both(t).Scripts(t); n < leastScripts {
		t.Errorf("%d scripts, want %d", n, leastScripts)
	}
}
