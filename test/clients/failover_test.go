package clients

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/test/clustertest"
)

// atWork is a client that works on a cluster until it is told to finish.
type atWork struct {
	again chan struct{}  // asks the client to show that it works; closed: it must finish
	works chan time.Time // since when it works: sent at the beginning, then on each request; capacity 1
	ended chan error     // sent when it has finished; capacity 1
	stop  context.CancelFunc
}

func newAtWork(t *testing.T) (w *atWork, ctx context.Context) {
	w = &atWork{again: make(chan struct{}, 1), works: make(chan time.Time, 1), ended: make(chan error, 1)}
	ctx, w.stop = context.WithCancel(t.Context())
	return w, ctx
}

// await waits until the client shows that it works.
func (w *atWork) await(t *testing.T) (since time.Time) {
	t.Helper()
	select {
	case since = <-w.works:
	case err := <-w.ended:
		t.Fatalf("it has ended: %v", err)
	case <-time.After(clustertest.Patience):
		w.stop()
		t.Fatalf("it does not work: %v", <-w.ended)
	}
	return since
}

// finish lets the client take what is left, and reports its error.
func (w *atWork) finish(t *testing.T) {
	t.Helper()
	defer time.AfterFunc(clustertest.Patience, w.stop).Stop()
	close(w.again)
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
}

// TestFailover lets clients of all kinds work on a cluster, each with the addresses of all nodes as
// a user would configure them, while the lead is transferred and then two leaders are killed in
// turn. Each client must continue, get everything that was confirmed to it, and get nothing again
// that it has settled.
func TestFailover(t *testing.T) {
	c := clustertest.Start(t, "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0")
	for _, n := range c.Nodes { // nodes come back at the addresses that the clients know
		n.Flags = append(n.Flags, "--amqp", n.Addr(), "--sql", n.SQLAddr(), "--redis", n.RedisAddr(), "--etcd", n.EtcdAddr())
	}
	busy := map[string]*atWork{}
	for name, begin := range beginners(c) {
		t.Run(name+" begins", func(s *testing.T) {
			w := begin(s, t)
			w.await(s)
			busy[name] = w
		})
	}
	goOn := func(t *testing.T) {
		lost := time.Now()
		for _, w := range busy {
			w.again <- struct{}{}
		}
		for name, w := range busy {
			t.Run(name, func(t *testing.T) {
				t.Logf("it works after %v", w.await(t).Sub(lost).Round(time.Millisecond))
			})
		}
	}
	t.Run("transfer", func(t *testing.T) {
		leader, to := c.Leader(), "2"
		if leader == 1 {
			to = "1"
		}
		clustertest.Command(t, "cluster", "transfer", to, "--data", c.Nodes[0].Dir)
		c.Until("another node leads", func() bool { return c.Leader() != leader })
		goOn(t)
	})
	for _, loss := range []string{"kill", "another kill"} {
		t.Run(loss, func(t *testing.T) {
			leader := c.Leader()
			c.Kill(leader)
			goOn(t)
			c.Up(leader)
			c.Until("the node follows", func() bool { return c.Count(protocol.RoleFollower) == 2 })
		})
	}
	for name, w := range busy {
		t.Run(name+" has all", w.finish)
	}
}

// beginners returns functions that start a client of each kind. s skips if a client is not
// installed. The client may work until t ends.
func beginners(c *clustertest.Cluster) map[string]func(s, t *testing.T) *atWork {
	nodes := func(address func(*clustertest.Node) string) []string {
		var all []string
		for _, n := range c.Nodes {
			all = append(all, address(n))
		}
		return all
	}
	urls := strings.Join(nodes(func(n *clustertest.Node) string { return n.URL() }), " ")
	amqp := strings.Join(nodes(func(n *clustertest.Node) string { return n.Addr() }), ",")
	sql := nodes(func(n *clustertest.Node) string { return n.SQLAddr() })
	redis := nodes(func(n *clustertest.Node) string { return n.RedisAddr() })
	etcd := nodes(func(n *clustertest.Node) string { return n.EtcdAddr() })
	return map[string]func(s, t *testing.T) *atWork{
		"pika": func(s, t *testing.T) *atWork {
			setUp(s, "python", "python3")
			return scriptAtWork(t, []string{"NODES=" + urls}, ".venv/bin/python", "python/failover.py")
		},
		"amqplib": func(s, t *testing.T) *atWork {
			setUp(s, "node", "node", "npm")
			return scriptAtWork(t, []string{"NODES=" + urls}, "node", "node/failover.js")
		},
		"amqp-client": func(s, t *testing.T) *atWork {
			setUp(s, "java", "java", "javac", "mvn")
			return scriptAtWork(t, []string{"NODES=" + amqp, classPath(s)}, "java", "Failover")
		},
		"Celery": func(s, t *testing.T) *atWork {
			setUp(s, "celery", "python3")
			return scriptAtWork(t, []string{"NODES=" + urls}, ".venv-celery/bin/python", "celery/failover.py")
		},
		"pgx":       func(s, t *testing.T) *atWork { return goAtWork(s, t, newPGX, sql) },
		"go-redis":  func(s, t *testing.T) *atWork { return goAtWork(s, t, newGoRedis, redis) },
		"clientv3":  func(s, t *testing.T) *atWork { return goAtWork(s, t, newClientV3, etcd) },
		"worker":    func(s, t *testing.T) *atWork { return goAtWork(s, t, newWorker, redis) },
		"semaphore": func(s, t *testing.T) *atWork { return goAtWork(s, t, newSemaphore, redis) },
	}
}

// scriptAtWork runs a script that prints "works" to show that it works, again for each line of its
// input, and finishes at the end of the input.
func scriptAtWork(t *testing.T, env []string, interpreter, script string) *atWork {
	w, ctx := newAtWork(t)
	cmd := exec.CommandContext(ctx, interpreter, script)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it end what it started
	cmd.WaitDelay = endPatience
	cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = cmd.Stdout
	must(t, cmd.Start())
	go func() {
		defer input.Close()
		for range w.again {
			fmt.Fprintln(input, "again")
		}
	}()
	go func() {
		said := w.listen(output)
		if err := cmd.Wait(); err != nil {
			w.ended <- fmt.Errorf("%w\n%s", err, said)
		}
		close(w.ended)
	}()
	return w
}

// listen passes on that a script works, and returns its other output until it ends.
func (w *atWork) listen(output io.Reader) (said string) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if lines.Text() != "works" {
			said += lines.Text() + "\n"
			continue
		}
		w.works <- time.Now()
	}
	return said
}
