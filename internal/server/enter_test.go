package server

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestFileWithoutToken checks that a node does not found a cluster if the file for tokens exists
// and is empty: it says so once, and waits for a token.
func TestFileWithoutToken(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "a line break": "\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged logtest.Text
				cfg := config.Default()
				cfg.Data, cfg.ClusterListen = filepath.Join(t.TempDir(), "data"), "n1:5680"
				cfg.NodeName, cfg.ClusterFound, cfg.ClusterJoinFile = "n1", "n1", filepath.Join(t.TempDir(), "token")
				must(t, os.WriteFile(cfg.ClusterJoinFile, []byte(text), 0o600))
				s := &Server{cfg: cfg, log: slog.New(slog.NewTextHandler(&logged, nil))}
				entered := make(chan error, 1)
				go func() { entered <- s.enter() }()
				<-time.After(3 * tokenPoll)
				synctest.Wait()
				is, err := store.LookInto(vfs.OS{}, cfg.Data)
				if err != nil || is.Replica {
					t.Fatalf("the folder is %+v, %v; a cluster has been founded", is, err)
				}
				if said := logged.String(); strings.Count(said, "level=ERROR") != 1 || !strings.Contains(said, "has no token") {
					t.Errorf("logged: %s", said)
				}
				must(t, os.WriteFile(cfg.ClusterJoinFile, []byte("not a token\n"), 0o600))
				if err := <-entered; !errors.Is(err, admission.ErrToken) {
					t.Errorf("with an invalid token: %v", err)
				}
			})
		})
	}
}
