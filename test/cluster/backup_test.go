package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// all are the flags of a node that serves every protocol.
var all = []string{"--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0"}

// bulk is the number of messages of 1 MiB in a backup: more than the buffers of an unread
// connection hold.
const bulk = 24

// TestBackupAndRecover fills a cluster through every protocol, and checks that the data is complete
// in a single broker restored from a backup, in a cluster founded with the backup, and in a cluster
// recovered from the only node left. That node tells its clients that there is no leader.
func TestBackupAndRecover(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, all...)
	leader := c.Leader()
	follower, other := (leader+1)%3, (leader+2)%3
	fill(t, c, follower)
	want := contents(t, c.Nodes[leader].Broker, c.Nodes[leader].Dir)

	file := filepath.Join(t.TempDir(), "backup.tar")
	clustertest.Command(t, "backup", file, "--data", c.Nodes[follower].Dir)
	if out := refused(t, "backup", file, "--data", c.Nodes[other].Dir); !strings.Contains(out, "Choose another name") {
		t.Errorf("over a file: %s", out)
	}
	interrupted(t, c, follower, other)

	restored := filepath.Join(t.TempDir(), "restored")
	clustertest.Command(t, "restore", file, restored)
	if out := clustertest.Command(t, "doctor", restored); !strings.Contains(out, "queues") {
		t.Errorf("doctor: %s", out)
	}
	if out := refused(t, "cluster", "recover", "--data", restored); !strings.Contains(out, "fiveways cluster init") {
		t.Errorf("recover of a broker that is alone: %s", out)
	}
	has(t, "restored alone", restored, want, all...)
	founded(t, file, want)

	last := c.Leader()
	for i := range c.Nodes {
		if i != last {
			c.Kill(i)
		}
	}
	c.Until("no node leads", func() bool { return c.Status(last).Leader == 0 })
	if out := refused(t, "backup", file+".new", "--data", c.Nodes[last].Dir); !strings.Contains(out, "fiveways cluster status") {
		t.Errorf("while no node leads: %s", out)
	}
	if out := refused(t, "queue", "list", "--data", c.Nodes[last].Dir); !strings.Contains(out, "no node leads") {
		t.Errorf("while no node leads: %s", out)
	}
	t.Run("no node leads", func(t *testing.T) {
		n := c.Nodes[last]
		clustertest.TurnedAway(t, map[string]string{"amqp": n.Addr(), "sql": n.SQLAddr(), "redis": n.RedisAddr(), "etcd": n.EtcdAddr(), "http": n.HTTPAddr()}, nil)
	})
	recovered(t, c, last, want)
}

// fill stores something through every protocol, and waits for the confirms.
func fill(t *testing.T, c *clustertest.Cluster, at int) {
	t.Helper()
	n := c.Nodes[at]
	ch := dial(t, c, at)
	for _, queue := range []string{"q", "bulk"} {
		_, err := ch.QueueDeclare(queue, true, false, false, false, nil)
		must(t, err)
	}
	for i := range 20 {
		if !publish(t, ch, fmt.Sprint(i)) {
			t.Fatal("not confirmed")
		}
	}
	if _, ok, err := ch.Get("q", true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for range bulk {
		sent, err := ch.PublishWithDeferredConfirm("", "bulk", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: make([]byte, 1<<20)})
		must(t, err)
		if ok, err := sent.WaitContext(t.Context()); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	db, err := pgx.Connect(t.Context(), "postgres://guest@"+n.SQLAddr()+"/fiveways?sslmode=disable")
	must(t, err)
	for _, line := range []string{"select mbus4.create_queue('coffee', 4)", "select mbus4.post('coffee', 'drink=>espresso')"} {
		_, err = db.Exec(t.Context(), line)
		must(t, err)
	}
	must(t, db.Close(t.Context()))
	r := redis.NewClient(&redis.Options{Addr: n.RedisAddr()})
	must(t, r.RPush(t.Context(), "list", "one", "two").Err())
	must(t, r.Close())
	for _, line := range []string{
		"key set /key value", "job enqueue mail hello --id one", "semaphore set crowd --active 1", "semaphore enqueue crowd 1 9", "semaphore enqueue crowd 2 8", "vhost add staging",
	} {
		clustertest.Command(t, append(strings.Fields(line), "--data", n.Dir)...)
	}
}

// contents returns what clients and operators see. It changes nothing.
func contents(t *testing.T, b *brokertest.Broker, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, line := range []string{
		"queue list --columns name,messages", "message list q", "vhost list", "user list", "job list", "semaphore show crowd",
	} {
		found[line] = clustertest.Command(t, append(strings.Fields(line), "--data", dir)...)
	}
	db, err := pgx.Connect(t.Context(), "postgres://guest@"+b.SQLAddr()+"/fiveways?sslmode=disable")
	must(t, err)
	tx, err := db.Begin(t.Context())
	must(t, err)
	var drink string
	must(t, tx.QueryRow(t.Context(), "select data->'drink' from mbus4.consume('coffee')").Scan(&drink))
	found["sql"] = drink
	must(t, tx.Rollback(t.Context()))
	must(t, db.Close(t.Context()))
	r := redis.NewClient(&redis.Options{Addr: b.RedisAddr()})
	list, err := r.LRange(t.Context(), "list", 0, -1).Result()
	must(t, err)
	found["redis"] = strings.Join(list, " ")
	must(t, r.Close())
	keys, err := clientv3.New(clientv3.Config{Endpoints: []string{b.EtcdAddr()}, DialTimeout: clustertest.Patience})
	must(t, err)
	got, err := keys.Get(t.Context(), "/key")
	must(t, err)
	for _, kv := range got.Kvs {
		found["etcd"] = fmt.Sprintf("%s at revision %d", kv.Value, kv.ModRevision)
	}
	must(t, keys.Close())
	return found
}

// interrupted changes the leader while two clients of a follower read a backup. Both must get an
// error, and no partial file may be left.
func interrupted(t *testing.T, c *clustertest.Cluster, follower, next int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, brokertest.Binary(t), "backup", "-", "--data", c.Nodes[follower].Dir)
	var said strings.Builder
	cmd.Stderr = &said
	archive, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.ReadFull(archive, make([]byte, 1<<20)) // it has begun, and waits for its reader
	must(t, err)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Nodes[follower].HTTPAddr()+"/api/backup", nil)
	must(t, err)
	r.SetBasicAuth("guest", "guest")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()

	clustertest.Command(t, "cluster", "transfer", fmt.Sprint(next+1), "--data", c.Nodes[follower].Dir)
	c.Until("another node leads", func() bool { return c.Leader() == next })
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("the API gave %d bytes of a backup, and its end", n)
	}
	io.Copy(io.Discard, archive) //nolint:errcheck // Wait reports the error
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "Run the command again") {
		t.Errorf("the command: %v, %s", err, said.String())
	}
}

// has starts a broker on a folder, compares its contents with want, and stops it.
func has(t *testing.T, what, dir string, want map[string]string, flags ...string) {
	t.Helper()
	b, err := brokertest.Start(t.Context(), dir, flags...)
	must(t, err)
	if got := contents(t, b, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
	must(t, b.Stop())
}

// founded founds a cluster with a backup.
func founded(t *testing.T, file string, want map[string]string) {
	t.Helper()
	dir := t.TempDir()
	clustertest.Command(t, "restore", file, dir)
	if names, err := filepath.Glob(filepath.Join(dir, "*", "raft")); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cluster")); err == nil {
		t.Error("the backup has the keys of the cluster")
	}
	c := clustertest.Found(t, dir, all...)
	c.Kill(0) // node 0 was the only one with the folder
	at := c.Leader()
	if got := contents(t, c.Nodes[at].Broker, c.Nodes[at].Dir); !reflect.DeepEqual(got, want) {
		t.Errorf("a cluster of the backup has\n%s\nwant\n%s", got, want)
	}
	for i, n := range c.Nodes {
		if n.Broker != nil {
			c.Kill(i)
		}
	}
}

// recovered makes the only node left found a new cluster, which others join.
func recovered(t *testing.T, c *clustertest.Cluster, last int, want map[string]string) {
	t.Helper()
	n := c.Nodes[last]
	before := c.Status(last).Cluster
	c.Kill(last)
	if out := clustertest.Command(t, "cluster", "recover", "--data", n.Dir); !strings.Contains(out, "Nothing was changed") || !strings.Contains(out, "voters: 1 2 3") {
		t.Errorf("without --yes: %s", out)
	}
	clustertest.Command(t, "cluster", "recover", "--yes", "--data", n.Dir)
	clustertest.Command(t, "cluster", "recover", "--yes", "--data", n.Dir) // as after a crash
	c.Up(last)
	c.Until("the node leads", func() bool { return c.Status(last).Leader == 1 })
	if got := contents(t, n.Broker, n.Dir); !reflect.DeepEqual(got, want) {
		t.Errorf("recovered:\n%s\nwant:\n%s", got, want)
	}
	if s := c.Status(last); s.Cluster == before || len(s.Members) != 1 {
		t.Errorf("%+v", s)
	}

	// Nodes of the old cluster rejoin, and new nodes join.
	old := c.Nodes[(last+1)%3]
	c.Up((last + 1) % 3)
	for range 2 {
		c.Add()
		c.Up(len(c.Nodes)-1, "--cluster-join", clustertest.Command(t, "cluster", "token", "--data", n.Dir))
	}
	c.Until("three nodes have a vote", func() bool {
		s := c.Status(last)
		voters := 0
		for _, m := range s.Members {
			if m.Role != "learner" {
				voters++
			}
		}
		return voters == 3
	})
	if s := c.Status(last); s.Cluster == before || len(s.Members) != 3 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(old.Log(), "failed to verify certificate") {
		t.Errorf("the old node says nothing of it: %s", old.Log())
	}
	old.Kill()
	old.Broker = nil
	c.Kill(last)
	at := c.Leader()
	if got := contents(t, c.Nodes[at].Broker, c.Nodes[at].Dir); !reflect.DeepEqual(got, want) {
		t.Errorf("a node that has joined has\n%s\nwant\n%s", got, want)
	}
}
