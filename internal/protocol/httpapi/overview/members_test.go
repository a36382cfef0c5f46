package overview

import (
	"net/http"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// inCluster returns a node that leads a cluster of three.
func inCluster(t *testing.T) (*node, *protocoltest.Cluster) {
	t.Helper()
	n, c := open(t), protocoltest.ThreeNodes()
	n.o.Name, n.o.Membership = "n1", c
	n.a = rest.New(n.b, rest.Options{LoginDelay: -1, Log: resttest.Quiet})
	Register(n.a, n.o, func() []dynamic.Status { return nil })
	return n, c
}

// TestNodes: all nodes are listed. For a node that is down the answer has the fields of RabbitMQ
// 3.10.
func TestNodes(t *testing.T) {
	n, _ := inCluster(t)
	n.wants("GET", "/api/nodes", "", 200, `"name":"n1"`, `"name":"n2"`, `"name":"fiveways-3"`, `"running":false`)
	n.wants("GET", "/api/nodes/n1", "", 200, `"running":true`, `"latency"`, `"here":true`, `"role":"leader"`, `"term":7`, `"lag":0`)
	n.wants("GET", "/api/nodes/n2", "", 200, `"running":true`, `"mem_used":1048576`, `"fd_total":1024`, `"os_pid":"42"`, `"disk_free_alarm":false`,
		`"cluster_member":{"node":2,"role":"follower","address":"n2:5680","term":7,"lag":3,"rtt_ms":1,"clock_skew_ms":-20,"version":"v1.2.3","here":false}`)
	n.wants("GET", "/api/nodes/fiveways-3?columns=name,type,running,cluster_links", "", 200, `{"cluster_links":[],"name":"fiveways-3","running":false,"type":"disc"}`)
	n.wants("GET", "/api/nodes/n2/memory", "", 200, `"rss":1048576`)
	n.wants("GET", "/api/nodes/fiveways-3/memory", "", 200, `{"memory":"not_available"}`)
	n.wants("GET", "/api/nodes/n4", "", 404, "Not Found")
	n.wants("GET", "/api/healthchecks/node/n2", "", 200, `{"status":"ok"}`)
	n.wants("GET", "/api/healthchecks/node/fiveways-3", "", 200, `{"reason":"nodedown","status":"failed"}`)
	near, _ := n.connect(4001, "guest")
	far, _ := n.connect(4002, "guest")
	far.Node = 2
	n.wants("GET", "/api/connections?columns=name,node", "", 200, `{"name":"`+near.Name()+`","node":"n1"}`, `{"name":"`+far.Name()+`","node":"n2"}`)
	n.wants("GET", "/api/overview", "", 200, `"node":"n1"`, `{"node":"n2","protocol":"etcd","ip_address":"n2","port":2379,"socket_opts":{}}`)
}

// TestQuorumCritical: a node must not be stopped if the others have no majority. The body is that
// of RabbitMQ 3.10.8.
func TestQuorumCritical(t *testing.T) {
	const check = "/api/health/checks/node-is-quorum-critical"
	n, c := inCluster(t)
	n.use("a client")
	n.wants("GET", "/api/health/checks/node-is-mirror-sync-critical", "", 200, `{"status":"ok"}`)
	n.wants("GET", check, "", 503, `"queues":[],"reason":"There are quorum queues that would lose their quorum if the target node is shut down","status":"failed"`)
	n.declareQuorum("qq")
	n.wants("GET", check, "", 503, `"queues":[{"name":"qq","readable_name":"queue 'qq' in vhost '/'","type":"quorum","virtual_host":"/"}]`)
	c.Now.Members[2].Up = true
	n.wants("GET", check, "", 200, `{"status":"ok"}`)
	c.Now.Members[2].Lags = true
	n.wants("GET", check, "", 503, `"status":"failed"`)
	n.wants("GET", "/api/attention", "", 200, `"name":"fiveways-3","text":"The node does not keep up with the log`, "If one more node stops")
	c.Now.Members[2].Lags = false
	c.Now.Members[1].Up, c.Now.Members[0].Role = false, protocol.RoleLearner
	if code, body := n.ask(http.MethodGet, check, ""); code != http.StatusOK || strings.Contains(body, "failed") {
		t.Errorf("a node without a vote: %d, %s", code, body)
	}
}
