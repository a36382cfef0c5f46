package server

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/config"
)

// A client that does not send all of its request is disconnected, so that it cannot delay a stop.
func TestAdminPatience(t *testing.T) {
	old := adminPatience
	adminPatience = 50 * time.Millisecond
	defer func() { adminPatience = old }()
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit = t.TempDir(), 0
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = config.Off, config.Off, config.Off, config.Off, config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	if info, err := os.Stat(AdminSocket(cfg)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	c, err := net.Dial("unix", AdminSocket(cfg))
	must(t, err)
	defer c.Close()
	if _, err := c.Write([]byte("PUT /api/vhosts/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // otherwise the read fails
	for buf := make([]byte, 4096); err == nil; {
		_, err = c.Read(buf)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the request is still waited for")
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(AdminSocket(cfg)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
