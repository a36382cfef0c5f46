package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/config"
)

// get reads a page of the HTTP API or of the metrics as guest.
func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	must(t, err)
	req.SetBasicAuth("guest", "guest")
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, res.StatusCode, err)
	}
	return string(body)
}

// Wherever RabbitMQ reports a version, clients parse three numbers, also for a build that is
// identified only by its commit.
func TestVersionsAreNumbers(t *testing.T) {
	const build = "16dcefc"
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit, cfg.RabbitMQVersion = t.TempDir(), 0, "3.12.14"
	cfg.AMQP, cfg.HTTP, cfg.Metrics = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.SQL, cfg.Redis, cfg.Etcd = config.Off, config.Off, config.Off
	s, err := Start(cfg, build, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { drainPolicyNode(t, s) })
	at := s.Addrs()
	conn, err := amqp091.Dial("amqp://guest:guest@" + at["amqp"])
	must(t, err)
	defer func() { _ = conn.Close() }()
	told := map[string]any{"amqp version": conn.Properties["version"]}
	if got := conn.Properties["fiveways_version"]; got != build {
		t.Errorf("the server properties tell build %v", got)
	}
	for path, fields := range map[string][]string{
		"/api/overview":    {"rabbitmq_version", "management_version", "product_version"},
		"/api/definitions": {"rabbitmq_version", "rabbit_version", "product_version"},
	} {
		var page map[string]any
		must(t, json.Unmarshal([]byte(get(t, "http://"+at["http"]+path)), &page))
		for _, f := range fields {
			told[path+" "+f] = page[f]
		}
	}
	for _, line := range strings.Split(get(t, "http://"+at["metrics"]+"/metrics"), "\n") {
		if strings.HasPrefix(line, "rabbitmq_build_info{") {
			for _, m := range regexp.MustCompile(`(rabbitmq_version|product_version)="([^"]*)"`).FindAllStringSubmatch(line, -1) {
				told["metrics "+m[1]] = m[2]
			}
		}
	}
	if len(told) != 9 {
		t.Errorf("told %v", told)
	}
	for where, version := range told {
		want := "3.12.14"
		if strings.HasSuffix(where, "product_version") {
			want = "0.0.0"
		}
		if version != want {
			t.Errorf("%s is %v, want %s", where, version, want)
		}
	}
}
