package packaging

import (
	"flag"
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

var update = flag.Bool("update", false, "write the files that these tests compare with")

func TestMain(m *testing.M) { brokertest.Main(m) }

// output runs a command and returns its output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// needs skips a test if a program is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("no %s here", p)
		}
	}
}
