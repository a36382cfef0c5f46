package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/config"
)

// The file is imported at every start. An error aborts the start.
func TestDefinitionsAtTheStart(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Data, cfg.LoadDefinitions = filepath.Join(dir, "data"), filepath.Join(dir, "definitions.json")
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP = config.Off, config.Off, config.Off, config.Off, config.Off
	start := func(file string) (*Server, error) {
		t.Helper()
		must(t, os.WriteFile(cfg.LoadDefinitions, []byte(file), 0o600))
		return Start(cfg, "test", slog.New(slog.DiscardHandler))
	}
	if _, err := start(`{"queues":[{"name":"q","vhost":"/","arguments":{"x-max-length":-1}}]}`); err == nil || !strings.Contains(err.Error(), "invalid arg 'x-max-length' for queue 'q'") {
		t.Errorf("a file that cannot be: %v", err)
	}
	for range 2 {
		s, err := start(`{"users":[{"name":"u","password":"pass","tags":""}],"queues":[{"name":"q","vhost":"/","durable":true}]}`)
		must(t, err)
		if err := s.Broker().Authenticate("u", "pass", true); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Error(err)
		}
	}
	must(t, os.Remove(cfg.LoadDefinitions))
	if _, err := Start(cfg, "test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "load_definitions") {
		t.Errorf("a file that is not there: %v", err)
	}
}
