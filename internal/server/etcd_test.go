package server

import (
	"context"
	"log/slog"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/config"
)

// serveOn starts a server on a folder with the etcd API on a free port, or without it.
func serveOn(t *testing.T, dir string, etcd string) (addr string, stop func()) {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = dir, config.Off, config.Off, config.Off, etcd, config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	return s.Addrs()["etcd"], func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Error(err)
		}
	}
}

// Keys and the member ID survive a restart, even one in which the API was off.
func TestKeysOutliveRestarts(t *testing.T) {
	dir := t.TempDir()
	var last *clientv3.PutResponse
	for round, etcd := range []string{"127.0.0.1:0", "127.0.0.1:0", config.Off, "127.0.0.1:0"} {
		addr, stop := serveOn(t, dir, etcd)
		if etcd == config.Off {
			stop()
			continue
		}
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
		must(t, err)
		if round > 0 {
			got, err := c.Get(t.Context(), "a")
			if err != nil || got.Count != 1 || got.Header.Revision != last.Header.Revision || got.Header.MemberId != last.Header.MemberId {
				t.Errorf("round %d: %v, %v; before %v", round, got, err, last.Header)
			}
		}
		if last, err = c.Put(t.Context(), "a", "1"); err != nil {
			t.Fatal(err)
		}
		c.Close()
		stop()
	}
}
