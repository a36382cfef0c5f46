package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"fiveways/internal/broker/enginetest"

	"fiveways/internal/config"
	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/storage/vfs"
)

// A client that does not send all of its request is let go, so that it cannot hold up a stop.
func TestAdminPatience(t *testing.T) {
	old := adminPatience
	adminPatience = 50 * time.Millisecond
	defer func() { adminPatience = old }()
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	cfg := config.Config{Data: t.TempDir()}
	a, err := startAdmin(httpapi.New(b, httpapi.Options{}), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(AdminSocket(cfg)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	c, err := net.Dial("unix", AdminSocket(cfg))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("PUT /api/vhosts/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // the read tells
	for buf := make([]byte, 4096); err == nil; {
		_, err = c.Read(buf)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the request is still waited for")
	}
	if err := a.stop(t.Context()); err != nil {
		t.Error(err)
	}
}
