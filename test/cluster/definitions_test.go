package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/clustertest"
)

// TestLoadDefinitions checks that a change of the lead does not undo what operators have changed
// since the file of load_definitions was loaded, and that a broken file does not keep a node that
// runs from leading. A new content is loaded once a node that was started with it leads.
func TestLoadDefinitions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "definitions.json")
	write := func(text string) { must(t, os.WriteFile(file, []byte(text), 0o600)) }
	limit := func(max string) string {
		return `{"policies":[{"vhost":"/","name":"p","pattern":"x","definition":{"max-length":` + max + `}}]}`
	}
	write(limit("111"))
	c := clustertest.Start(t, "--load-definitions", file)
	holds := func(max string) {
		t.Helper()
		if out := clustertest.Command(t, "policy", "list", "--data", c.Nodes[c.Leader()].Dir); !strings.Contains(out, max) {
			t.Errorf("not %s: %s", max, out)
		}
	}
	holds("111")
	clustertest.Command(t, "policy", "set", "p", "x", `{"max-length":222}`, "--data", c.Nodes[0].Dir)
	write("{")
	c.Stop(c.Leader())
	holds("222")
	down := 0
	for c.Nodes[down].Broker != nil {
		down++
	}
	flags := append([]string{"serve", "--data", c.Nodes[down].Dir}, c.Nodes[down].Flags...)
	for _, protocol := range []string{"amqp", "sql", "redis", "etcd", "http", "metrics"} {
		flags = append(flags, "--"+protocol, "off") // otherwise it needs the default ports
	}
	if out := refused(t, flags...); !strings.Contains(out, "load_definitions") {
		t.Errorf("with a broken file: %s", out)
	}
	write(limit("333"))
	c.Up(down)
	holds("222")
	for i := range c.Nodes {
		if i != down {
			c.Stop(i)
			c.Up(i)
		}
	}
	holds("333")
}
