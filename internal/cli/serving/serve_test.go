package serving

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/server"
)

func TestBannerIsHonest(t *testing.T) {
	cfg := config.Default()
	cfg.SQL = config.Off
	var out bytes.Buffer
	cfg.TLSCert, cfg.TLSPlain = "server.pem", config.PlainNever
	banner(&out, "1.2.3", cfg, []server.Endpoint{
		{Protocol: "amqp", Address: "127.0.0.1:40001"}, {Protocol: "amqp", Address: "127.0.0.1:40002"}, {Protocol: "redis", Address: "127.0.0.1:40003"},
		{Protocol: "etcd", Address: "127.0.0.1:40004"}, {Protocol: "http", Address: "127.0.0.1:40005"}, {Protocol: "metrics", Address: "127.0.0.1:40006"},
	})
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"Fiveways ", "amqp  127.0.0.1:40001, 127.0.0.1:40002 ", "sql   off", "redis 127.0.0.1:40003   try: redis-cli -u redis://127.0.0.1:40003 ", "etcd  127.0.0.1:40004   try: etcdctl --endpoints 127.0.0.1:40004 ", "http  127.0.0.1:40005   try: curl -u guest:guest http://127.0.0.1:40005/api/overview", "metrics 127.0.0.1:40006   try: curl http://127.0.0.1:40006/metrics", "Web page: http://127.0.0.1:40005/ (", "TLS is accepted on every address; plain connections are rejected", "Stop with"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want it to start with %q", i, lines[i], want)
		}
	}
	if !strings.Contains(lines[1], "amqp://127.0.0.1:40001'") {
		t.Errorf("no command to try in %q", lines[1])
	}
}

// TestLogIsInWords checks that no log format shows values as Go structs or numbers.
func TestLogIsInWords(t *testing.T) {
	for form, want := range map[string]string{
		"json": `"peer":"10.0.0.1:5","took":"1.5s","err":"gone","bytes":7`, "text": "peer=10.0.0.1:5 took=1.5s err=gone bytes=7",
	} {
		cfg := config.Default()
		cfg.LogFormat = form
		var out bytes.Buffer
		NewLogger(cfg, &out).Warn("closed", "peer", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 5}, "took", 1500*time.Millisecond, "err", errors.New("gone"), "bytes", 7)
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "WARN") {
			t.Errorf("%s: %s", form, &out)
		}
	}
}
