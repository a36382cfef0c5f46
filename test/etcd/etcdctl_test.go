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

// TestEtcdctlAuth runs etcdctl commands about users, roles and access control on a real etcd and on
// a broker, and compares the output with the one recorded after each command.
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

// run returns the output of etcdctl for a command. The text after < is its input.
func run(t *testing.T, etcdctl, addr, command string) string {
	t.Helper()
	command, input, _ := strings.Cut(command, " < ")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, etcdctl, append([]string{"--endpoints=" + addr}, strings.Fields(command)...)...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	cmd.Stdin = strings.NewReader(input + "\n")
	output, _ := cmd.CombinedOutput() // the output shows whether it failed
	var lines []string
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "{") { // not a line of its log
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
