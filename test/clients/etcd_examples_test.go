package clients

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// summed is the output of every program in examples/etcd.
const summed = `ann asks 1: 1 2
ann asks 2: 20 22
ann asks 3: 300 400
eve takes ann.1 and goes home
bob answers ann.1
bob answers ann.2
bob answers ann.3
answer 1: 3
answer 2: 42
answer 3: 700
`

// TestEtcdExamples runs the programs of examples/etcd, each twice on one broker, and checks that
// they print summed and leave nothing behind. A program whose tools are missing is skipped.
func TestEtcdExamples(t *testing.T) {
	const folder = "../../examples/etcd/"
	check := func(name string, command func(t *testing.T) []string) {
		t.Run(name, func(t *testing.T) {
			words := command(t)
			b := brokertest.Run(t, "--etcd", "127.0.0.1:0")
			ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
			defer cancel()
			for range 2 {
				cmd := exec.CommandContext(ctx, words[0], words[1:]...)
				cmd.Env = append(os.Environ(), "ETCDCTL_ENDPOINTS="+b.EtcdAddr(), "PYTHONDONTWRITEBYTECODE=1")
				var log strings.Builder
				cmd.Stderr = &log
				if out, err := cmd.Output(); err != nil || string(out) != summed {
					t.Fatalf("%v; it printed\n%s\n%s", err, out, log.String())
				}
			}
		})
	}
	check("go", func(*testing.T) []string { return []string{"go", "run", folder + "go"} })
	check("python", func(t *testing.T) []string {
		setUp(t, "etcd_python", "python3")
		return []string{".venv-etcd/bin/python", folder + "python/sums.py"}
	})
	check("java", func(t *testing.T) []string {
		setUp(t, "java", "java", "javac", "mvn")
		classPath, err := os.ReadFile("java/.build/classpath")
		must(t, err)
		return []string{"java", "-cp", string(classPath), folder + "java/Sums.java"}
	})
}
