package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dial connects to a node, and retries while there is no leader.
func dial(t *testing.T, c *clustertest.Cluster, i int) (ch *amqp.Channel) {
	t.Helper()
	c.Until("a client connects", func() bool {
		var err error
		ch, err = connect(t, c.Nodes[i].Broker)
		return err == nil
	})
	return ch
}

// connect opens a channel in confirm mode.
func connect(t *testing.T, b *brokertest.Broker) (*amqp.Channel, error) {
	conn, err := amqp.Dial(b.URL())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	return ch, ch.Confirm(false)
}

// publish sends a persistent message, and reports whether it was confirmed.
func publish(t *testing.T, ch *amqp.Channel, body string) bool { return publishTo(t, ch, "q", body) }

// publishTo is publish to another queue.
func publishTo(t *testing.T, ch *amqp.Channel, queue, body string) bool {
	t.Helper()
	sent, err := ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
	if err != nil {
		return false
	}
	confirmed, err := sent.WaitContext(t.Context())
	return err == nil && confirmed
}

// drained gets all messages of the queue and returns their bodies.
func drained(t *testing.T, ch *amqp.Channel) (bodies []string) {
	t.Helper()
	for {
		d, ok, err := ch.Get("q", true)
		must(t, err)
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(d.Body))
	}
}

// streamed reads n messages of a stream from the first on, and returns offsets and bodies.
func streamed(t *testing.T, ch *amqp.Channel, stream string, n int) (got []string) {
	t.Helper()
	must(t, ch.Qos(10, 0, false))
	ds, err := ch.Consume(stream, "", false, false, false, false, amqp.Table{"x-stream-offset": "first"})
	must(t, err)
	for len(got) < n {
		d, ok := <-ds
		if !ok {
			t.Fatalf("the reader has ended behind %q", got)
		}
		got = append(got, fmt.Sprintf("%v %s", d.Headers["x-stream-offset"], d.Body))
		must(t, d.Ack(false))
	}
	return got
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestFailover kills the leader repeatedly while messages are published through every node to a
// queue and to a stream. It checks that all confirmed messages are there, in order and at their
// offsets.
func TestFailover(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	ch := dial(t, c, c.Leader())
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	_, err = ch.QueueDeclare("s", true, false, false, false, amqp.Table{"x-queue-type": "stream"})
	must(t, err)
	var want, stream []string
	for round := range 3 {
		for i := range c.Nodes {
			ch := dial(t, c, i)
			body := fmt.Sprintf("%d.%d", round, i)
			if !publishTo(t, ch, "s", body) {
				t.Fatalf("%s was not confirmed", body)
			}
			stream = append(stream, fmt.Sprint(len(stream), " ", body))
			for n := range 20 {
				body := fmt.Sprintf("%d.%d.%d", round, i, n)
				if !publish(t, ch, body) {
					t.Fatalf("%s was not confirmed", body)
				}
				want = append(want, body)
			}
		}
		leader := c.Leader()
		c.Kill(leader)
		next := c.Leader()
		if next == leader {
			t.Fatal("a node that is down leads")
		}
		c.Up(leader)
		same(t, streamed(t, dial(t, c, leader), "s", len(stream)), stream)
	}
	same(t, drained(t, dial(t, c, 0)), want)
}

// TestHang stops the process of the leader. Another node becomes the leader, and the old one
// becomes a follower when it continues. It confirms nothing that the others do not have.
func TestHang(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	old := c.Leader()
	ch := dial(t, c, old)
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	var want []string
	if publish(t, ch, "before") {
		want = append(want, "before")
	}
	other := (old + 1) % 3
	passed := dial(t, c, other)
	must(t, c.Nodes[old].Pause())
	meanwhile := dial(t, c, other)
	if !publish(t, meanwhile, "meanwhile") {
		t.Fatal("two of three nodes confirm nothing")
	}
	want = append(want, "meanwhile")
	if publish(t, passed, "to a leader that stands still") {
		t.Error("a connection to the leader that stands still goes on")
	}
	must(t, c.Nodes[old].Continue())
	if publish(t, ch, "by the one that has led") {
		t.Error("a session of a leadership that is over confirms")
	}
	if !publish(t, dial(t, c, old), "after") {
		t.Fatal("the node does not serve clients any more")
	}
	same(t, drained(t, dial(t, c, other)), append(want, "after"))
}

// TestAloneBefore turns a broker with messages into a cluster, and checks that all nodes have the
// messages.
func TestAloneBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := brokertest.Start(t.Context(), dir)
	must(t, err)
	ch, err := connect(t, b)
	must(t, err)
	_, err = ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	var want []string
	for n := range 100 {
		want = append(want, fmt.Sprint(n))
		if !publish(t, ch, want[n]) {
			t.Fatal("not confirmed")
		}
	}
	must(t, b.Stop())
	c := clustertest.Found(t, dir)
	for _, down := range []int{c.Leader(), c.Leader()} {
		c.Kill(down)
		c.Leader()
		c.Up(down)
	}
	same(t, drained(t, dial(t, c, 0)), want)
}

// TestStop stops the leader as an operator does. Another node becomes the leader at once, and
// requests in flight were answered. The stopped node starts again at another address, where the
// others find it.
func TestStop(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	old := c.Leader()
	ch := dial(t, c, old)
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	if !publish(t, ch, "before") {
		t.Fatal("not confirmed")
	}
	stopped := c.Nodes[old].Broker
	must(t, stopped.Stop())
	c.Nodes[old].Broker = nil
	next := c.Leader()
	if strings.Contains(stopped.Log(), "no other node has taken the lead") {
		t.Error("the lead was not handed over")
	}
	c.Move(old)
	c.Up(old)
	c.Until("the node is known by its new address", func() bool {
		s := c.Status(next)
		m := s.Member(uint64(old + 1))
		return m.Up && m.Address == c.Nodes[old].Address
	})
	c.Kill(3 - old - next) // makes the restarted node necessary for a quorum
	if !publish(t, dial(t, c, old), "moved") {
		t.Fatal("not confirmed")
	}
	same(t, drained(t, dial(t, c, c.AnyUp())), []string{"before", "moved"})
}

// TestMembers removes a node and lets a new one take its place.
func TestMembers(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	if out := refused(t, "cluster", "remove", "2", "--yes", "--data", c.Nodes[0].Dir); !strings.Contains(out, "add a node first") {
		t.Errorf("a node of three: %s", out)
	}
	token := clustertest.Command(t, "cluster", "token", "--for", "1m", "--data", c.Nodes[1].Dir)
	c.Add()
	askTwice(t, token, c.Nodes[3])
	c.Up(3, "--cluster-join", token)
	c.Until("all nodes have a vote", func() bool { return c.Count(protocol.RoleFollower) == 3 })
	c.Kill(0)
	c.Until("another node leads", func() bool { return c.Leader() != 0 })
	if out := refused(t, "cluster", "transfer", "1", "--data", c.Nodes[1].Dir); !strings.Contains(out, "is not connected") {
		t.Errorf("to a node that is down: %s", out)
	}
	clustertest.Command(t, "cluster", "remove", "1", "--yes", "--data", c.Nodes[1].Dir)
	if got := c.Count(protocol.RoleFollower); got != 2 {
		t.Errorf("%d nodes follow", got)
	}
	clustertest.Command(t, "cluster", "transfer", "4", "--data", c.Nodes[1].Dir)
	c.Until("the new node leads", func() bool { return c.Leader() == 3 })
	clustertest.Command(t, "cluster", "transfer", "--data", c.Nodes[3].Dir)
	if c.Leader() == 3 {
		t.Error("a node that has given its lead away leads")
	}
	for _, wrong := range []struct{ args, says string }{
		{"transfer 9", "no member"}, {"transfer x", "no number"}, {"remove 1 --yes", "no member"}, {"token --for 9000h", "720h"},
	} {
		args := append([]string{"cluster"}, strings.Fields(wrong.args)...)
		if out := refused(t, append(args, "--data", c.Nodes[1].Dir)...); !strings.Contains(out, wrong.says) {
			t.Errorf("%s: %s", wrong.args, out)
		}
	}
}

// TestRemoveItself asks a follower to remove itself. It tells the operator that it has left,
// although the leader closes its connections. The node then refuses clients, and makes no tokens.
func TestRemoveItself(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	token := clustertest.Command(t, "cluster", "token", "--data", c.Nodes[0].Dir)
	c.Add()
	c.Up(3, "--cluster-join", token)
	c.Until("all nodes have a vote", func() bool { return c.Count(protocol.RoleFollower) == 3 })
	clustertest.Command(t, "cluster", "remove", "4", "--yes", "--data", c.Nodes[3].Dir)
	if got := len(c.Status(0).Members); got != 3 {
		t.Errorf("%d nodes are left", got)
	}
	if out := refused(t, "cluster", "token", "--data", c.Nodes[3].Dir); !strings.Contains(out, protocol.Removed) {
		t.Errorf("a token of a node that was removed: %s", out)
	}
	if _, err := amqp.Dial(c.Nodes[3].URL()); err == nil || !strings.Contains(err.Error(), protocol.Removed) {
		t.Errorf("a client of a node that was removed: %v", err)
	}
}

// TestRemoveTogether removes nodes that have not come up, all at once. Each removal waits for the
// others.
func TestRemoveTogether(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	tokens := strings.Fields(clustertest.Command(t, "cluster", "token", "--count", "4", "--data", c.Nodes[0].Dir))
	var nodes []string
	for _, token := range tokens {
		c.Add()
		n := c.Nodes[len(c.Nodes)-1]
		joined, err := admission.Join(t.Context(), token, n.Address, filepath.Join(n.Dir, "cluster"))
		must(t, err)
		nodes = append(nodes, fmt.Sprint(joined.Node))
	}
	t.Run("remove", func(t *testing.T) {
		for _, node := range nodes {
			t.Run(node, func(t *testing.T) {
				t.Parallel()
				clustertest.Command(t, "cluster", "remove", node, "--yes", "--data", c.Nodes[0].Dir)
			})
		}
	})
	if got := len(c.Status(0).Members); got != 3 {
		t.Errorf("%d nodes are left", got)
	}
}

// TestJoinWithoutLeader has a node join while no node leads. It is admitted once there is a leader.
func TestJoinWithoutLeader(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t)
	token := clustertest.Command(t, "cluster", "token", "--data", c.Nodes[0].Dir)
	c.Kill(1)
	c.Kill(2)
	c.Until("no node leads", func() bool { return c.Status(0).Leader == 0 })
	c.Add()
	joined := make(chan error, 1)
	go func() {
		_, err := admission.Join(t.Context(), token, c.Nodes[3].Address, filepath.Join(c.Nodes[3].Dir, "cluster"))
		joined <- err
	}()
	c.Up(1)
	must(t, <-joined)
}

// askTwice makes a new node request to join and lose the answer. It is the same node when it asks
// again, and no other node can join with its token.
func askTwice(t *testing.T, token string, n *clustertest.Node) {
	t.Helper()
	for range 2 {
		w, err := admission.Join(t.Context(), token, n.Address, filepath.Join(n.Dir, "cluster"))
		must(t, err)
		if w.Node != 4 {
			t.Errorf("it is node %d", w.Node)
		}
	}
	flags := []string{"serve", "--data", t.TempDir(), "--amqp", "off", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off", "--cluster-listen", "127.0.0.1:1"}
	if out := refused(t, append(flags, "--cluster-join", token)...); !strings.Contains(out, "used by another node") {
		t.Errorf("a token that was used: %s", out)
	}
}

// TestFoundedByItself checks that a node founds a cluster once. If it has lost its data it does not
// found another one, because a token exists, and joins with a token of another node.
func TestFoundedByItself(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	c := clustertest.Down(t, "--cluster-join-file", token, "--cluster-found", "n0")
	for i, n := range c.Nodes {
		n.Flags = append(n.Flags, "--node-name", fmt.Sprint("n", i))
	}
	c.Up(0)
	c.Until("the first node leads", func() bool { return c.Status(0).Leader == 1 })
	c.Kill(0)
	c.Move(0)
	c.Up(0)
	c.Until("the only node has a new address", func() bool { return c.Status(0).Members[0].Address == c.Nodes[0].Address })
	clustertest.Command(t, "cluster", "token", "--count", "2", "--data", c.Nodes[0].Dir, "--file", token)
	c.Up(1)
	c.Up(2)
	c.Until("all nodes have a vote", func() bool { return c.Count(protocol.RoleFollower) == 2 })
	keepsNames(t, c)
	c.Kill(0)
	c.Leader()
	must(t, os.RemoveAll(c.Nodes[0].Dir))
	again := append([]string{"serve", "--data", c.Nodes[0].Dir}, c.Nodes[0].Flags...)
	if out := refused(t, again...); !strings.Contains(out, "asking "+c.Nodes[0].Address) {
		t.Errorf("with a token that names the node itself: %s", out)
	}
	clustertest.Command(t, "cluster", "token", "--data", c.Nodes[1].Dir, "--file", token)
	c.Up(0)
	c.Until("the node is a new one of the cluster", func() bool {
		s := c.Status(0)
		return len(s.Members) == 4 && s.Members[3].Address == c.Nodes[0].Address
	})
	c.Until("the name that two nodes have is pointed out", func() bool {
		out := clustertest.Command(t, "cluster", "status", "--data", c.Nodes[1].Dir)
		return strings.Contains(out, "Nodes 1 and 4 are both called n0")
	})
}

// keepsNames starts a node while all others are down, and checks that it knows their names.
func keepsNames(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	c.Until("a node has heard the names", func() bool {
		b, err := os.ReadFile(filepath.Join(c.Nodes[1].Dir, "cluster", "names.json"))
		return err == nil && string(b) == `{"1":"n0","2":"n1","3":"n2"}`
	})
	for i := range c.Nodes {
		c.Kill(i)
	}
	c.Up(1)
	out := clustertest.Command(t, "cluster", "status", "--data", c.Nodes[1].Dir)
	if !strings.Contains(out, "n0, does not answer") || !strings.Contains(out, "n2, does not answer") {
		t.Error(out)
	}
	c.Up(0)
	c.Up(2)
	c.Leader()
}

// TestMetrics checks that each node reports its state, and exactly one that it leads.
func TestMetrics(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--metrics", "127.0.0.1:0")
	var wrong []string
	defer func() {
		if t.Failed() {
			t.Log(wrong)
		}
	}()
	c.Until("the nodes agree about themselves", func() bool { // the leader may change meanwhile
		wrong = disagreements(t, c)
		return len(wrong) == 0
	})
}

// disagreements returns what is wrong with the nodes' reports about themselves.
func disagreements(t *testing.T, c *clustertest.Cluster) (wrong []string) {
	t.Helper()
	leads := 0
	for i, n := range c.Nodes {
		if code, body := ask(t, n, "/readyz"); code != http.StatusOK {
			wrong = append(wrong, fmt.Sprintf("node %d is not ready: %s", i, body))
		}
		if code, body := ask(t, n, "/livez"); code != http.StatusOK {
			wrong = append(wrong, fmt.Sprintf("node %d does not live: %s", i, body))
		}
		code, _ := ask(t, n, "/leader")
		_, broker := ask(t, n, "/metrics")
		_, own := ask(t, n, "/metrics/cluster")
		is := strings.Contains(own, "fiveways_cluster_leader 1\n")
		if is != (code == http.StatusOK) || is != strings.Contains(broker, "rabbitmq_queues") || !strings.Contains(broker, "fiveways_cluster_voters 3\n") {
			wrong = append(wrong, fmt.Sprintf("node %d: /leader %d, leads %v, and /metrics of %d bytes", i, code, is, len(broker)))
		}
		if got := strings.Count(broker, "\nrabbitmq_disk_space_available_bytes "); got != 1 {
			wrong = append(wrong, fmt.Sprintf("node %d tells of the free space of %d disks", i, got))
		}
		if got := strings.Count(own, "fiveways_cluster_peer_connected{"); got != 2 {
			wrong = append(wrong, fmt.Sprintf("node %d tells of %d others:\n%s", i, got, own))
		}
		if is {
			leads++
		}
	}
	if leads != 1 {
		wrong = append(wrong, fmt.Sprintf("%d nodes lead", leads))
	}
	return wrong
}

// ask reads a page from the node's metrics address.
func ask(t *testing.T, n *clustertest.Node, path string) (code int, body string) {
	t.Helper()
	resp, err := http.Get("http://" + n.MetricsAddr() + path)
	must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(b)
}

// TestWrongStarts checks that wrong flags, tokens and uses of a node's folder are refused with a
// helpful message.
func TestWrongStarts(t *testing.T) {
	c := clustertest.Start(t)
	c.Add()
	for name, wrong := range map[string]struct {
		flags []string
		says  string
	}{
		"a node without its cluster":   {[]string{"--data", c.Nodes[0].Dir}, "cluster_listen"},
		"neither founded nor joining":  {append([]string{"--data", c.Nodes[3].Dir}, c.Nodes[3].Flags...), "fiveways cluster init"},
		"no fsync":                     {append([]string{"--data", c.Nodes[3].Dir, "--sync", "os"}, c.Nodes[3].Flags...), "other nodes"},
		"no token":                     {append([]string{"--data", c.Nodes[3].Dir, "--cluster-join", " "}, c.Nodes[3].Flags...), "token"},
		"a token that is none":         {append([]string{"--data", c.Nodes[3].Dir, "--cluster-join", "x"}, c.Nodes[3].Flags...), "token"},
		"an address that says nothing": {[]string{"--data", c.Nodes[3].Dir, "--cluster-listen", "0.0.0.0:5680"}, "cluster_advertise"},
	} {
		flags := append([]string{"serve", "--amqp", "127.0.0.1:0", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}, wrong.flags...)
		if out := refused(t, flags...); !strings.Contains(out, wrong.says) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if out := refused(t, "cluster", "init", "--data", c.Nodes[3].Dir, "--address", ":5680"); !strings.Contains(out, "host and port") {
		t.Errorf("an address without a host: %s", out)
	}
	c.Kill(0)
	if out := refused(t, "cluster", "init", "--data", c.Nodes[0].Dir, "--address", "n1:5680"); !strings.Contains(out, "belongs to a node of a cluster") {
		t.Errorf("a node's folder: %s", out)
	}
	if out := refused(t, "cluster", "recover", "--yes", "--data", c.Nodes[1].Dir); !strings.Contains(out, "Stop the broker") {
		t.Errorf("a node that runs is recovered: %s", out)
	}
	if out := refused(t, "cluster", "status", "--data", c.Nodes[0].Dir); !strings.Contains(out, "no node of a cluster runs") {
		t.Errorf("a node that is down: %s", out)
	}
	must(t, os.WriteFile(filepath.Join(c.Nodes[0].Dir, "cluster", "diverged"), []byte("part 1"), 0o600))
	if out := refused(t, append([]string{"serve", "--data", c.Nodes[0].Dir}, c.Nodes[0].Flags...)...); !strings.Contains(out, "Replace it") {
		t.Errorf("a node whose state was not the leader's: %s", out)
	}
	if out := refused(t, "queue", "list", "--data", c.Nodes[0].Dir); !strings.Contains(out, "node of a cluster") {
		t.Errorf("administration of a folder at rest: %s", out)
	}
}

// refused runs the program, which must fail, and returns its error message.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, brokertest.Binary(t), args...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("fiveways %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
