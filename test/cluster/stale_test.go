package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/test/clustertest"
)

// asker is a client that repeats the same request.
type asker struct {
	nc       net.Conn
	r        *bufio.Reader
	question string
	read     func(*bufio.Reader) (string, error)
}

func (a *asker) ask(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(a.nc, a.question)
	must(t, err)
}

// httpBody reads an HTTP response and returns its body.
func httpBody(r *bufio.Reader) (string, error) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// TestStaleReads checks that requests that reach a leader while its process is stopped are not
// answered with stale data once another node has taken over.
func TestStaleReads(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0")
	old := c.Leader()
	changeAll(t, c.Nodes[old], "old")
	n := c.Nodes[old]
	const post = "POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n" + `{"key":"a2V5"}`
	askers := map[string]*asker{
		"etcd":  {question: post, read: httpBody},
		"http":  {question: "GET /api/policies HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n\r\n", read: httpBody},
		"redis": {question: "LLEN list\r\n", read: func(r *bufio.Reader) (string, error) { return r.ReadString('\n') }},
	}
	before := map[string]string{}
	for name, addr := range map[string]string{"etcd": n.EtcdAddr(), "http": n.HTTPAddr(), "redis": n.RedisAddr()} {
		a := askers[name]
		var err error
		a.nc, err = net.Dial("tcp", addr)
		must(t, err)
		t.Cleanup(func() { a.nc.Close() })
		must(t, a.nc.SetDeadline(time.Now().Add(clustertest.Patience)))
		a.r = bufio.NewReader(a.nc)
		a.ask(t)
		before[name], err = a.read(a.r)
		must(t, err)
		t.Logf("%s: %s", name, before[name])
	}
	must(t, n.Pause())
	changeAll(t, c.Nodes[(old+1)%3], "new")
	for _, a := range askers {
		a.ask(t)
	}
	must(t, n.Continue())
	for name, a := range askers {
		if answer, err := a.read(a.r); err == nil && answer == before[name] {
			t.Errorf("%s: the node that has led answers %s", name, answer)
		}
	}
}

// changeAll changes everything that the askers read, through a node that may have no leader for a
// while. When the leader changes, the node closes connections, so the first change is repeated.
func changeAll(t *testing.T, n *clustertest.Node, to string) {
	t.Helper()
	keys, err := clientv3.New(clientv3.Config{Endpoints: []string{n.EtcdAddr()}, DialTimeout: clustertest.Patience})
	must(t, err)
	defer keys.Close()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	for {
		if _, err = keys.Put(ctx, "key", to); status.Code(err) != codes.Unavailable {
			break
		}
	}
	must(t, err)

	list := redis.NewClient(&redis.Options{Addr: n.RedisAddr(), ReadTimeout: clustertest.Patience})
	defer list.Close()
	must(t, list.RPush(t.Context(), "list", to).Err())

	setPolicy(t, n, to)
}

// setPolicy sets a policy with this name.
func setPolicy(t *testing.T, n *clustertest.Node, name string) {
	t.Helper()
	policy := strings.NewReader(`{"pattern": "^x", "definition": {"max-length": 1}}`)
	url := fmt.Sprintf("http://%s/api/policies/%%2F/%s", n.HTTPAddr(), name)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, policy)
	must(t, err)
	r.SetBasicAuth("guest", "guest")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("a policy: %s", resp.Status)
	}
}
