package etcd

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcdd"
)

// TestEtcdctlAuth plays commands of etcdctl about users, roles and access control to a real etcd
// and to a broker, and compares what is printed with what follows each.
func TestEtcdctlAuth(t *testing.T) {
	etcdctl, err := exec.LookPath("etcdctl")
	if err != nil {
		t.Skip("no etcdctl here (on Debian: apt-get install etcd-client)")
	}
	session, err := os.ReadFile("testdata/etcdctl/auth.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, addr := range map[string]string{
		"etcd": etcdd.Start(t), "Fiveways": brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step := range strings.SplitSeq(strings.TrimPrefix(string(session), "$ "), "\n$ ") {
				command, want, _ := strings.Cut(step, "\n")
				if got := run(t, etcdctl, addr, command); got != strings.TrimSpace(want) {
					t.Fatalf("etcdctl %s\n%s\nwant\n%s", command, got, want)
				}
			}
		})
	}
}

// run is what etcdctl prints for a command; behind < is its input.
func run(t *testing.T, etcdctl, addr, command string) string {
	t.Helper()
	command, input, _ := strings.Cut(command, " < ")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, etcdctl, append([]string{"--endpoints=" + addr}, strings.Fields(command)...)...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	cmd.Stdin = strings.NewReader(input + "\n")
	output, _ := cmd.CombinedOutput() // how it ended shows in what it prints
	var lines []string
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "{") { // its log
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
