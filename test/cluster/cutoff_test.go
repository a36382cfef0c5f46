package cluster

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/clustertest"
)

// TestCutOff cuts a follower off. Both sides know that soon, its clients are disconnected, and the
// leader ends their sessions, so that none takes a message that it cannot get. When the network is
// back, the nodes are connected again.
func TestCutOff(t *testing.T) {
	t.Parallel()
	c := clustertest.Linked(t, nil, "--redis", "127.0.0.1:0")
	leader := c.Leader()
	lost, third := (leader+1)%3, (leader+2)%3
	up := func(i, other int) bool {
		s := c.Status(i)
		return s.Member(uint64(other + 1)).Up
	}
	rdb := redis.NewClient(&redis.Options{Addr: c.Nodes[leader].RedisAddr()})
	t.Cleanup(func() { _ = rdb.Close() })
	waits := func() bool {
		clients, err := rdb.ClientList(t.Context()).Result()
		must(t, err)
		return strings.Contains(clients, "cmd=blpop")
	}
	waiter, err := net.Dial("tcp", c.Nodes[lost].RedisAddr())
	must(t, err)
	t.Cleanup(func() { _ = waiter.Close() })
	_, err = io.WriteString(waiter, "BLPOP list 0\r\n")
	must(t, err)
	c.Until("the client waits", waits)

	c.Network.Cut(
		clustertest.Way{From: lost, To: leader}, clustertest.Way{From: leader, To: lost},
		clustertest.Way{From: lost, To: third}, clustertest.Way{From: third, To: lost},
	)
	c.Until("the leader knows", func() bool { return !up(leader, lost) })
	c.Until("the node knows", func() bool { return !up(lost, leader) && !up(lost, third) })
	must(t, waiter.SetReadDeadline(time.Now().Add(clustertest.Patience)))
	if said, err := io.ReadAll(waiter); len(said) > 0 || err != nil {
		t.Errorf("the client hears %q, %v", said, err)
	}
	c.Until("the session of the client ends", func() bool { return !waits() })
	must(t, rdb.LPush(t.Context(), "list", "x").Err())
	if n, err := rdb.LLen(t.Context(), "list").Result(); n != 1 || err != nil {
		t.Errorf("%d messages of 1, %v", n, err)
	}
	c.Network.Heal()
	c.Until("the nodes are connected again", func() bool { return up(leader, lost) && up(lost, leader) && up(lost, third) })
}
