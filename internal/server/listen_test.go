package server

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/logtest"
)

// taken returns an address that is in use.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestTakenAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		taken    []string
		optional bool
		refused  bool
		warned   bool
	}{
		"metrics that nobody asked for":           {taken: []string{"metrics"}, optional: true, warned: true},
		"metrics that were asked for":             {taken: []string{"metrics"}, refused: true},
		"a protocol":                              {taken: []string{"etcd"}, optional: true, refused: true},
		"several protocols, all named in the end": {taken: []string{"amqp", "redis", "http"}, optional: true, refused: true},
		"a protocol and metrics":                  {taken: []string{"sql", "metrics"}, optional: true, refused: true, warned: true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			at := map[string]*string{"amqp": &cfg.AMQP, "sql": &cfg.SQL, "redis": &cfg.Redis, "etcd": &cfg.Etcd, "http": &cfg.HTTP, "metrics": &cfg.Metrics}
			for _, addr := range at {
				*addr = "127.0.0.1:0"
			}
			for _, key := range c.taken {
				*at[key] = taken(t)
			}
			cfg.MetricsOptional = c.optional
			var log logtest.Text
			listeners, err := listenAll(cfg, slog.New(slog.NewTextHandler(&log, nil)))
			defer closeAll(listeners)
			if errors.Is(err, ErrAddrInUse) != c.refused {
				t.Fatal(err)
			}
			for _, key := range c.taken {
				if c.refused && key != "metrics" && !strings.Contains(err.Error(), key+": "+*at[key]) {
					t.Errorf("%q does not name %s at %s", err, key, *at[key])
				}
			}
			if got := strings.Contains(log.String(), "metrics are not served"); got != c.warned {
				t.Errorf("warned: %v, want %v: %s", got, c.warned, &log)
			}
			if want := len(at) - len(c.taken); !c.refused && len(listeners) != want {
				t.Errorf("%d listeners, want %d", len(listeners), want)
			}
		})
	}
}

// TestReachable: a listener on all addresses is reported with the host that the node advertises.
func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:2379": "127.0.0.1:2379", "10.0.0.5:2379": "10.0.0.5:2379", "0.0.0.0:2379": "n1.example:2379", "[::]:2379": "n1.example:2379", ":2379": "n1.example:2379",
	} {
		if got := reachable(address, "n1.example:5680"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
