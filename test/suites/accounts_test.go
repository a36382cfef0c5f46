package suites

import (
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestAccountsOnFiveways(t *testing.T) {
	dir := t.TempDir()
	b, err := brokertest.Start(t.Context(), dir)
	must(t, err)
	t.Cleanup(b.Kill)
	must(t, (server{addr: b.Addr(), ctl: (&standIn{binary: brokertest.Binary(t), data: dir}).ctl}).open(bunnyAccounts))
	out, err := exec.Command(brokertest.Binary(t), "permission", "list", "--data", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, a := range bunnyAccounts {
		if want := strings.Join(append([]string{a.user, a.vhost}, a.permissions[:]...), " "); !lines[want] {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}
