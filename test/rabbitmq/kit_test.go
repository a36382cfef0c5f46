package rabbitmq

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/daemon"
)

const startPatience = 90 * time.Second

// TestNodesBesideEachOther checks that nodes of two kits run concurrently, and that a node that
// crashes leaves its dump in its own folder.
func TestNodesBesideEachOther(t *testing.T) {
	var nodes []*exec.Cmd
	var folders []string
	for range 2 {
		node, dir := startNode(t)
		nodes, folders = append(nodes, node), append(folders, dir)
	}
	node := nodes[0]
	if err := node.Process.Signal(syscall.SIGUSR1); err != nil { // makes Erlang crash
		t.Fatal(err)
	}
	node.Wait() //nolint:errcheck // it crashed
	if _, err := os.Stat(filepath.Join(folders[0], "erl_crash.dump")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("erl_crash.dump"); err == nil {
		t.Error("the dump is in the folder of the source")
		os.Remove("erl_crash.dump")
	}
	if err := nodes[1].Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other node: %v", err)
	}
}

// startNode returns a running node and its folder.
func startNode(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	kit, err := Open()
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kit.Close)
	port, err := daemon.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	node, err := kit.Command(dir, port)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	node.Stdout, node.Stderr, node.WaitDelay = &log, &log, time.Second
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		node.Process.Kill() //nolint:errcheck // it may have exited already
		node.Wait()         //nolint:errcheck // it was killed: the status says so
	})
	tick := time.NewTicker(mapperPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(startPatience); time.Now().Before(deadline); <-tick.C {
		if nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			nc.Close()
			return node, dir
		}
	}
	node.Process.Kill() //nolint:errcheck // as above
	node.Wait()         //nolint:errcheck // the log is complete then
	t.Fatalf("the node does not serve:\n%s", log.Bytes())
	return nil, ""
}
