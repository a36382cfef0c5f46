package suites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestH2spec runs the conformance suite of HTTP/2 against the etcd API. RabbitMQ has no HTTP/2.
func TestH2spec(t *testing.T) {
	s := suite{name: "h2spec", version: "2.2.1", tools: []string{"go"}, least: 130}
	if *brokerFlag != failsOnFiveways {
		t.Skip("it is for Fiveways only")
	}
	t.Parallel()
	exceptions, err := readExceptions(filepath.Join(s.name, "exceptions.txt"))
	must(t, err)
	dir, err := s.fetch(t.Context())
	if err != nil {
		giveUp(t, err)
	}
	data, err := os.MkdirTemp("", "suites-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(data) })
	b, err := brokertest.Start(t.Context(), data, "--etcd", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(b.Kill)
	host, port, _ := strings.Cut(b.EtcdAddr(), ":")
	report := filepath.Join(t.TempDir(), "report")
	out, err := s.script(t.Context(), runPatience, []string{"run", dir, report}, "ETCD_HOST="+host, "ETCD_PORT="+port)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results, err := readReport(report)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.judge(t, results, exceptions)
}
