package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/clustertest"
)

// TestOperators checks that what operators request from any node covers all nodes.
func TestOperators(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--http", "127.0.0.1:0", "--etcd", "127.0.0.1:0")
	ch := dial(t, c, c.Leader())
	_, err := ch.QueueDeclare("q", true, false, false, false, map[string]any{"x-queue-type": "quorum"})
	must(t, err)
	for i := range c.Nodes {
		c.Until(fmt.Sprintf("node %d tells of three that run", i), func() bool {
			return running(t, c, i) == "fiveways-1:true fiveways-2:true fiveways-3:true "
		})
		_, port, err := net.SplitHostPort(c.Nodes[i].HTTPAddr())
		must(t, err)
		if code, body := get(t, c.Nodes[i], "/api/health/checks/port-listener/"+port); code != http.StatusOK {
			t.Errorf("node %d does not listen where it answers: %s", i, body)
		}
	}
	t.Run("etcdctl", func(t *testing.T) { playEtcdctl(t, c) })
	const critical = "/api/health/checks/node-is-quorum-critical"
	c.Until("one of three nodes can be stopped", func() bool {
		code, _ := get(t, c.Nodes[0], critical)
		return code == http.StatusOK
	})
	down := (c.Leader() + 1) % 3
	c.Kill(down)
	for i := range c.Nodes {
		if i == down {
			continue
		}
		want := ""
		for at := range c.Nodes {
			want += fmt.Sprintf("fiveways-%d:%v ", at+1, at != down)
		}
		c.Until(fmt.Sprintf("node %d tells of two that run", i), func() bool { return running(t, c, i) == want })
		c.Until("none of two can be", func() bool {
			code, _ := get(t, c.Nodes[i], critical)
			return code == http.StatusServiceUnavailable
		})
		c.Until("the queue is on three nodes, two of which are up", func() bool {
			code, body := get(t, c.Nodes[i], "/api/queues/%2F/q")
			if code != http.StatusOK {
				return false
			}
			var queue struct{ Members, Online []string }
			must(t, json.Unmarshal([]byte(body), &queue))
			return len(queue.Members) == 3 && len(queue.Online) == 2
		})
	}
}

// playEtcdctl uses etcdctl to list the members and to move the leader.
func playEtcdctl(t *testing.T, c *clustertest.Cluster) {
	etcdctl, err := exec.LookPath("etcdctl")
	if err != nil {
		t.Skip("no etcdctl here (on Debian: apt-get install etcd-client)")
	}
	var addrs, members []string
	for i, n := range c.Nodes {
		addrs = append(addrs, n.EtcdAddr())
		members = append(members, fmt.Sprintf("%x, started, fiveways-%[1]d, https://%s, http://%s, false", i+1, n.Address, n.EtcdAddr()))
	}
	run := func(endpoints, command string) (out string, ok bool) {
		ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, etcdctl, append([]string{"--endpoints=" + endpoints}, strings.Fields(command)...)...)
		cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
		b, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(b)), err == nil
	}
	for _, addr := range addrs {
		c.Until("the members are listed", func() bool {
			out, ok := run(addr, "member list")
			return ok && out == strings.Join(members, "\n")
		})
	}
	c.Until("each member tells of itself", func() bool {
		out, ok := run(addrs[1], "endpoint status --cluster -w fields")
		ids := strings.Count(out, `"MemberID" : 1`) + strings.Count(out, `"MemberID" : 2`) + strings.Count(out, `"MemberID" : 3`)
		leader := fmt.Sprintf(`"Leader" : %d`, c.Leader()+1)
		return ok && ids == 3 && strings.Count(out, leader) == 3
	})
	c.Until("all members are healthy", func() bool {
		out, ok := run(addrs[2], "endpoint health --cluster")
		return ok && strings.Count(out, "is healthy") == 3
	})
	if out, ok := run(addrs[0], "member remove 3"); ok || !strings.Contains(out, "not enough started members") {
		t.Errorf("a member of three is removed: %s", out)
	}
	next := (c.Leader() + 1) % 3
	out, ok := run(strings.Join(addrs, ","), fmt.Sprintf("move-leader %x", next+1))
	if !ok || !strings.Contains(out, "Leadership transferred") {
		t.Errorf("move-leader: %s", out)
	}
	c.Until("the member leads that was named", func() bool { return c.Leader() == next })
}

// running requests the list of nodes from one of them, and returns which are running.
func running(t *testing.T, c *clustertest.Cluster, i int) (all string) {
	t.Helper()
	code, body := get(t, c.Nodes[i], "/api/nodes")
	if code != http.StatusOK {
		return body
	}
	var nodes []struct {
		Name    string
		Running bool
		Member  struct{ Here bool } `json:"cluster_member"`
	}
	must(t, json.Unmarshal([]byte(body), &nodes))
	for at, n := range nodes {
		all += fmt.Sprintf("%s:%v ", n.Name, n.Running)
		if n.Member.Here != (at == i) {
			return "the request did not come by the node: " + body
		}
	}
	return all
}

// get sends a request to a node's API. code is 0 while there is no leader.
func get(t *testing.T, n *clustertest.Node, path string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.HTTPAddr()+path, nil)
	must(t, err)
	r.SetBasicAuth("guest", "guest")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(b)
}
