package cluster

import (
	"fiveways.dev/fiveways/test/clustertest"
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestEveryProtocol uses every protocol through every node, and checks that all nodes have the same
// queues and keys.
func TestEveryProtocol(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0")
	ch := dial(t, c, c.Leader())
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	for i, n := range c.Nodes {
		if !publish(t, dial(t, c, i), fmt.Sprint("amqp ", i)) {
			t.Fatalf("node %d: not confirmed", i)
		}

		db, err := pgx.Connect(t.Context(), "postgres://guest@"+n.SQLAddr()+"/fiveways?sslmode=disable")
		must(t, err)
		var body string
		must(t, db.QueryRow(t.Context(), "select data->>'x' from (select '{\"x\": \"sql\"}'::jsonb as data) t").Scan(&body))
		must(t, db.Close(t.Context()))

		jobs := redis.NewClient(&redis.Options{Addr: n.RedisAddr()})
		must(t, jobs.RPush(t.Context(), "list", i).Err())
		must(t, jobs.Close())

		keys, err := clientv3.New(clientv3.Config{Endpoints: []string{n.EtcdAddr()}, DialTimeout: clustertest.Patience})
		must(t, err)
		_, err = keys.Put(t.Context(), fmt.Sprint("key", i), "value")
		must(t, err)
		got, err := keys.Get(t.Context(), "key0")
		must(t, err)
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "value" {
			t.Errorf("node %d: key0 is %v", i, got.Kvs)
		}
		must(t, keys.Close())

		if got := page(t, n, "/api/queues/%2F/q"); len(got) == 0 {
			t.Errorf("node %d says nothing of the queue", i)
		}
	}
	list := redis.NewClient(&redis.Options{Addr: c.Nodes[0].RedisAddr()})
	defer list.Close()
	got, err := list.LRange(t.Context(), "list", 0, -1).Result()
	must(t, err)
	if fmt.Sprint(got) != "[0 1 2]" {
		t.Errorf("the list is %v", got)
	}
}

// page returns a page of the node's API.
func page(t *testing.T, n *clustertest.Node, path string) string {
	t.Helper()
	code, body := get(t, n, path)
	if code != http.StatusOK {
		t.Errorf("%s: %d: %s", path, code, body)
	}
	return body
}
