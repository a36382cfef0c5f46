package cluster

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"
)

// TestLocal acts as a user of `make cluster`: it serves on the addresses that it prints, ends on
// Ctrl-C, and continues with the same cluster.
func TestLocal(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cluster")
	offset := freeOffset(t)
	end := local(t, folder, offset)
	ch := dialLocal(t, offset, 3)
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	if !publish(t, ch, "before") {
		t.Fatal("not confirmed")
	}
	if out := clustertest.Command(t, "cluster", "status", "--data", filepath.Join(folder, "n2")); strings.Count(out, "follower") != 2 {
		t.Error(out)
	}
	end(syscall.SIGINT)
	local(t, folder, offset)
	same(t, drained(t, dialLocal(t, offset, 2)), []string{"before"})
}

// local starts a cluster and returns once it has printed how to stop it. end signals all its
// processes, as a terminal does, and waits for it.
func local(t *testing.T, folder string, offset int) (end func(syscall.Signal)) {
	t.Helper()
	cmd := exec.Command("../../deploy/local/cluster", brokertest.Binary(t), folder, strconv.Itoa(offset))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = cmd.Stdout
	must(t, cmd.Start())
	ended := false
	end = func(s syscall.Signal) {
		if !ended {
			ended = true
			syscall.Kill(-cmd.Process.Pid, s) //nolint:errcheck // it may have exited already
			if err := cmd.Wait(); err != nil && s == syscall.SIGINT {
				t.Error(err)
			}
		}
	}
	t.Cleanup(func() { end(syscall.SIGKILL) })
	lines, said := bufio.NewScanner(out), ""
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Stop with") {
		said += lines.Text() + "\n"
	}
	for n := range 3 {
		if want := fmt.Sprintf("node %d: AMQP 127.0.0.1:%d,", n+1, 5672+100*n+offset); !strings.Contains(said, want) {
			t.Fatalf("no %q in\n%s", want, said)
		}
	}
	return end
}

func dialLocal(t *testing.T, offset, node int) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(fmt.Sprintf("amqp://127.0.0.1:%d", 5572+100*node+offset))
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	must(t, err)
	must(t, ch.Confirm(false))
	return ch
}

// freeOffset returns an offset with which all ports of a local cluster are free, below the
// ephemeral ports.
func freeOffset(t *testing.T) int {
	t.Helper()
	for offset := 10_000; offset < 16_000; offset += 7 {
		if allFree(offset) {
			return offset
		}
	}
	t.Fatal("no ports are free")
	return 0
}

func allFree(offset int) bool {
	for node := range 3 {
		for _, port := range []int{5672 + 100*node, 5433 + 100*node, 6380 + 100*node, 2379 + 100*node, 15672 + 100*node, 15692 + 100*node, 5681 + node} {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+offset))
			if err != nil {
				return false
			}
			l.Close()
		}
	}
	return true
}
