package cli

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	benchetcd "fiveways.dev/fiveways/internal/bench/etcd"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/etcdd"
)

func TestBenchEtcd(t *testing.T) {
	addr := etcdd.Start(t)
	stdout, stderr, code := command(t, "bench", "etcd", addr, "--load", "queue,put", "--producers", "2", "--keys", "10", "--duration", "50ms", "--json")
	var r benchetcd.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitcode.OK || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	if len(r.Loads) != 2 || r.Loads[0].Name != "queue" || r.Loads[0].Count == 0 || r.Loads[1].Count == 0 {
		t.Errorf("%+v", r)
	}
	if _, _, code := command(t, "bench", "etcd", addr, "--load", "drink"); code != exitcode.WrongUsage {
		t.Errorf("a load that is not there: exit code %d", code)
	}
}

func TestBenchEtcdWithoutServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := l.Addr().String()
	l.Close()
	if _, stderr, code := command(t, "bench", "etcd", addr); code != exitcode.Failure || !strings.Contains(stderr, "connection refused") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
