package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"fiveways/internal/config"
	"fiveways/internal/protocol/httpapi"
)

// AdminSocket is the Unix socket on which a broker with this configuration serves the HTTP API to
// its own OS user (mode 0600): a process that can open it may do everything.
func AdminSocket(cfg config.Config) string { return filepath.Join(cfg.Data, "admin.sock") }

// adminPatience bounds how long a request may take to come in.
var adminPatience = 10 * time.Second

// admin is the HTTP API on the admin socket.
type admin struct {
	http *httpapi.Server
	path string
	done chan struct{}
}

// startAdmin serves the admin socket. The data folder's lock is held, so that a
// socket that is there is a leftover of a broker that was killed.
func startAdmin(api *httpapi.API, cfg config.Config, log *slog.Logger) (*admin, error) {
	path := AdminSocket(cfg)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	a := &admin{path: path, done: make(chan struct{})}
	a.http = httpapi.NewServer(api, httpapi.ServerOptions{Operator: true, Patience: adminPatience, Log: log})
	go func() {
		defer close(a.done)
		if err := a.http.Serve(l); err != nil {
			log.Error("admin socket stopped", "path", path, "err", err)
		}
	}()
	return a, nil
}

// listenPrivately makes the socket under another name and renames it when only
// its owner can open it.
func listenPrivately(path string) (net.Listener, error) {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", fresh)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(fresh, 0o600), os.Rename(fresh, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// stop ends the socket; requests under way are answered until ctx ends.
func (a *admin) stop(ctx context.Context) error {
	err := a.http.Drain(ctx)
	<-a.done
	return errors.Join(err, os.Remove(a.path))
}
