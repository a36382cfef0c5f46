package protocol_test

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
)

func TestTry(t *testing.T) {
	for _, c := range []struct {
		of   protocol.Endpoint
		want string
	}{
		{protocol.Endpoint{Protocol: "http", Address: "127.0.0.1:15672"}, "curl -u guest:guest http://127.0.0.1:15672/api/overview"},
		{protocol.Endpoint{Protocol: "http", Address: "0.0.0.0:15672", TLS: true}, "curl -k -u guest:guest https://127.0.0.1:15672/api/overview"},
		{protocol.Endpoint{Protocol: "metrics", Address: "[::]:15692"}, "curl http://127.0.0.1:15692/metrics"},
		{protocol.Endpoint{Protocol: "etcd", Address: "[::1]:2379"}, "etcdctl --endpoints [::1]:2379 put /q/hello/p/1 hi"},
	} {
		if got := c.of.Try(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.of, got, c.want)
		}
	}
	for _, key := range config.ListenKeys() {
		for _, secure := range []bool{false, true} {
			e := protocol.Endpoint{Protocol: key, Address: "127.0.0.1:1234", TLS: secure}
			if text := e.Try(); !strings.Contains(text, "1234") || strings.ContainsAny(text, "%") {
				t.Errorf("%+v has the command %q", e, text)
			}
		}
	}
}
