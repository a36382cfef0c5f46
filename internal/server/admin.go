package server

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/config"
)

// AdminSocket returns the Unix socket on which a broker with this configuration serves the HTTP API
// to its own OS user (mode 0600). A process that can open it has all permissions.
func AdminSocket(cfg config.Config) string { return filepath.Join(cfg.Data, "admin.sock") }

// adminPatience is the timeout for reading a request.
var adminPatience = 10 * time.Second

// openAdmin opens the admin socket and adds it to the listeners. The server holds the lock of the
// data folder, so an existing socket is left over from a broker that was killed.
func (s *Server) openAdmin() {
	l, err := listenPrivately(AdminSocket(s.cfg))
	if err != nil {
		s.log.Warn("the admin socket cannot be opened; administration needs a stopped broker", "err", err)
		return
	}
	s.listeners["admin"] = []net.Listener{l}
}

// listenPrivately creates a socket under another name and renames it once only its owner can open
// it.
func listenPrivately(path string) (net.Listener, error) {
	fresh := path + ".new"
	for _, name := range []string{path, fresh} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
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
