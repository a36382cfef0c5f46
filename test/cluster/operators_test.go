package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"fiveways/test/clustertest"
)

// TestOperators: what operators ask of any node is about all of them.
func TestOperators(t *testing.T) {
	c := clustertest.Start(t, "--http", "127.0.0.1:0", "--etcd", "127.0.0.1:0")
	ch := dial(t, c, c.Leader())
	_, err := ch.QueueDeclare("q", true, false, false, false, map[string]any{"x-queue-type": "quorum"})
	must(t, err)
	for i := range c.Nodes {
		c.Until(fmt.Sprintf("node %d tells of three that run", i), func() bool {
			return running(t, c, i) == "fiveways-1:true fiveways-2:true fiveways-3:true "
		})
	}
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

// running are the nodes, by a request to one of them, with whether they run.
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

// get asks the API of a node; code is 0 while no node leads.
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
