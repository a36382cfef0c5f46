package cluster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"

	amqp "github.com/rabbitmq/amqp091-go"
)

// clients publish and consume all the time through any node that is up.
type clients struct {
	mu        sync.Mutex
	addrs     []string        // of the nodes; guarded by mu
	confirmed []string        // guarded by mu
	consumed  map[string]bool // guarded by mu
}

// reach sets the address of a node.
func (l *clients) reach(i int, b *brokertest.Broker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addrs[i] = b.URL()
}

func (l *clients) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.confirmed)
}

// lost returns the messages that were confirmed and have not been consumed.
func (l *clients) lost() (lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, body := range l.confirmed {
		if !l.consumed[body] {
			lost = append(lost, body)
		}
	}
	return lost
}

// connected calls do with a channel to each node in turn, until ctx ends.
func (l *clients) connected(ctx context.Context, do func(*amqp.Channel)) {
	for i := 0; ctx.Err() == nil; i++ {
		l.mu.Lock()
		url := l.addrs[i%len(l.addrs)]
		l.mu.Unlock()
		conn, err := amqp.Dial(url)
		if err != nil {
			<-time.After(10 * time.Millisecond) // the node is down
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		if ch, err := conn.Channel(); err == nil {
			do(ch)
		}
		stop()
		conn.Close()
	}
}

// publish publishes messages one at a time.
func (l *clients) publish(ctx context.Context) {
	n := 0
	l.connected(ctx, func(ch *amqp.Channel) {
		if ch.Confirm(false) != nil {
			return
		}
		for {
			n++
			body := strconv.Itoa(n)
			sent, err := ch.PublishWithDeferredConfirm("", "q", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
			if err != nil {
				return
			}
			if ok, err := sent.WaitContext(ctx); err != nil || !ok {
				return
			}
			l.mu.Lock()
			l.confirmed = append(l.confirmed, body)
			l.mu.Unlock()
		}
	})
}

func (l *clients) consume(ctx context.Context) {
	l.connected(ctx, func(ch *amqp.Channel) {
		deliveries, err := ch.Consume("q", "", false, false, false, false, nil)
		if err != nil {
			return
		}
		for d := range deliveries {
			l.mu.Lock()
			l.consumed[string(d.Body)] = true
			l.mu.Unlock()
			if d.Ack(false) != nil {
				return
			}
		}
	})
}

// upgrade is a cluster that is upgraded while clients work.
type upgrade struct {
	*clustertest.Cluster
	t    *testing.T
	load *clients
}

// install restarts a node with another binary, and returns when it is a follower.
func (u *upgrade) install(i int, binary string) {
	u.t.Helper()
	u.Stop(i)
	u.start(i, binary)
}

func (u *upgrade) start(i int, binary string) {
	u.t.Helper()
	u.Nodes[i].Binary = binary
	u.Up(i)
	u.load.reach(i, u.Nodes[i].Broker)
	u.Until("the node that was started follows", func() bool { return u.Count(protocol.RoleFollower) == 2 })
}

// goesOn checks that clients are served and that the log has this level.
func (u *upgrade) goesOn(level uint64) {
	u.t.Helper()
	before := u.load.count()
	u.Until("clients are served", func() bool { return u.load.count() >= before+200 })
	if !u.at(level) {
		u.t.Fatalf("the log is not at level %d", level)
	}
}

// at reports whether the log of each node has this level.
func (u *upgrade) at(level uint64) bool {
	for _, n := range u.Nodes {
		if _, body := ask(u.t, n, "/metrics/cluster"); !strings.Contains(body, fmt.Sprintf("fiveways_cluster_level %d\n", level)) {
			return false
		}
	}
	return true
}

// TestRollingUpgrade upgrades a cluster to the next version, node by node, with one downgrade in
// the middle, while clients work. The log uses the features of the next version as soon as all
// nodes run it, and not before. After that nodes of this version are refused, whichever way they
// enter the cluster. No confirmed message is lost.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	next := brokertest.Next(t)
	c := clustertest.Start(t, "--metrics", "127.0.0.1:0")
	this := c.Nodes[0].Binary
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	u := &upgrade{c, t, &clients{addrs: make([]string, len(c.Nodes)), consumed: map[string]bool{}}}
	for i, n := range c.Nodes {
		u.load.reach(i, n.Broker)
	}
	last := c.Leader()
	_, err := dial(t, c, last).QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	publishing, stopPublishing := context.WithCancel(ctx)
	var publisher, consumer sync.WaitGroup
	publisher.Go(func() { u.load.publish(publishing) })
	consumer.Go(func() { u.load.consume(ctx) })

	a, b := (last+1)%3, (last+2)%3
	u.install(a, next)
	u.goesOn(1) // this version leads a node of the next one
	clustertest.Command(t, "cluster", "transfer", fmt.Sprint(a+1), "--data", c.Nodes[a].Dir)
	u.Until("the next version leads", func() bool { return c.Leader() == a })
	u.goesOn(1)
	status := clustertest.Command(t, "cluster", "status", "--data", c.Nodes[b].Dir)
	if !strings.Contains(status, " at level 1, ") || strings.Count(status, "levels 1 and 2") != 1 || strings.Count(status, "  level 1") != 2 {
		t.Errorf("status:\n%s", status)
	}
	u.install(a, this)
	u.goesOn(1)
	u.install(b, next)
	u.install(a, next)
	u.goesOn(1)
	u.Stop(last)
	old := filepath.Join(t.TempDir(), "old")
	must(t, os.CopyFS(old, os.DirFS(c.Nodes[last].Dir)))
	u.start(last, next)
	u.Until("the level is raised", func() bool { return u.at(2) })
	u.goesOn(2)

	stopPublishing()
	publisher.Wait()
	u.Until("what was confirmed is consumed", func() bool { return len(u.load.lost()) == 0 })
	cancel()
	consumer.Wait()
	t.Logf("%d messages", u.load.count())

	before := c.Status(a).Last
	u.Until("there is what this version does not know", func() bool { return c.Status(a).Last >= before+3 })
	u.refusesThis(a)
	u.refusesJoining()
	u.refusesBehind(this, last, old)
}

// refusesThis checks that this version does not start on a node's folder, and changes nothing in
// it.
func (u *upgrade) refusesThis(i int) {
	u.t.Helper()
	n := u.Nodes[i]
	u.Stop(i)
	before := sums(u.t, n.Dir)
	for _, command := range []string{"serve --amqp 127.0.0.1:0 --sql off --redis off --etcd off --http off", "cluster recover --yes"} {
		args := append(strings.Fields(command), "--data", n.Dir)
		if strings.HasPrefix(command, "serve") {
			args = append(args, n.Flags...)
		}
		if out := refused(u.t, args...); !strings.Contains(out, "at level 2, and the version that is installed supports level 1: install that of the other nodes, or a newer one") {
			u.t.Errorf("%s: %s", command, out)
		}
	}
	if after := sums(u.t, n.Dir); !maps.Equal(before, after) {
		u.t.Errorf("files changed: %v\n%v", before, after)
	}
	u.start(i, n.Binary)
}

// refusesJoining checks that a new node of this version cannot join.
func (u *upgrade) refusesJoining() {
	u.t.Helper()
	leader := u.Leader()
	token := clustertest.Command(u.t, "cluster", "token", "--data", u.Nodes[leader].Dir)
	flags := []string{"serve", "--data", u.t.TempDir(), "--amqp", "off", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off", "--cluster-listen", "127.0.0.1:1"}
	const says = "the log of the cluster is at level 2, and the version that is installed supports level 1"
	if out := refused(u.t, append(flags, "--cluster-join", token)...); !strings.Contains(out, says) {
		u.t.Errorf("a new node: %s", out)
	}
	if log := u.Nodes[leader].Log(); !strings.Contains(log, "did not admit a node") || !strings.Contains(log, says) {
		u.t.Errorf("the node that was asked: %s", log)
	}
}

// refusesBehind checks that the others refuse a node whose folder does not know the level.
func (u *upgrade) refusesBehind(this string, i int, folder string) {
	u.t.Helper()
	u.Stop(i)
	u.Nodes[i].Binary, u.Nodes[i].Dir = this, folder
	u.Up(i)
	says := fmt.Sprintf("node %d: level: not supported: the log of the cluster is at level 2", i+1)
	for at, n := range u.Nodes {
		u.Until(fmt.Sprintf("node %d logs it", at), func() bool { return strings.Contains(n.Log(), says) })
	}
	if s := u.Status(i); s.Level != 1 || s.Leader != 0 {
		u.t.Errorf("%+v", s)
	}
}

// sums returns the hashes of the files in a folder, without the lock file.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "LOCK" {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = sha256.Sum256(b)
		return err
	}))
	return out
}
