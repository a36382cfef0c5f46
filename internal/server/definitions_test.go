package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
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

// user returns a file with a user.
func user(name, password string) *definitionsFile {
	return &definitionsFile{"definitions.json", fmt.Appendf(nil, `{"users":[{"name":%q,"password":%q,"tags":""}]}`, name, password)}
}

// openInMemory opens a broker without files, and closes it at the end of the test.
func openInMemory(t *testing.T) *broker.Broker {
	t.Helper()
	b := enginetest.Open(t, vfs.NewMem(), func(*broker.Options) {})
	t.Cleanup(func() { enginetest.Close(t, b) })
	return b
}

// TestDefinitionsAtAChangeOfTheLead checks that a node that begins to lead loads only what its
// cluster has not loaded before, so that it does not undo what operators have changed since.
func TestDefinitionsAtAChangeOfTheLead(t *testing.T) {
	b := openInMemory(t)
	var logged logtest.Text
	log := slog.New(slog.NewTextHandler(&logged, nil))
	lead := func(f *definitionsFile, password, says string) {
		t.Helper()
		must(t, f.loadOnce(b, log))
		must(t, b.Authenticate("u", password, true))
		if said := logged.Take(); !strings.Contains(said, says) || strings.Contains(said, "level=ERROR") {
			t.Errorf("logged %s, not %s", said, says)
		}
	}
	lead(user("u", "first"), "first", "definitions loaded")
	_, err := b.PutUser(catalog.UserSpec{Name: "u", Password: "changed"})
	must(t, err)
	lead(user("u", "first"), "changed", "level=INFO msg=\"definitions not loaded")
	lead(user("u", "second"), "second", "definitions loaded")
	lead(user("u", "first"), "second", "level=WARN msg=\"definitions not loaded")
	lead(user("u", "second"), "second", "level=INFO msg=\"definitions not loaded")
	for i := range maxLoaded {
		lead(user("other", fmt.Sprint(i)), "second", "definitions loaded")
	}
	if hashes := loadedBefore(b); len(hashes) != maxLoaded {
		t.Errorf("%d hashes are kept", len(hashes))
	}
	if all := b.Parameters("", "global"); len(all) != 0 {
		t.Errorf("the API shows %v", all)
	}
}

// TestDefinitionsLoadedInPart checks that an error in a file does not keep a node from leading, and
// that the part that could be loaded does not undo later changes.
func TestDefinitionsLoadedInPart(t *testing.T) {
	b := openInMemory(t)
	var logged logtest.Text
	log := slog.New(slog.NewTextHandler(&logged, nil))
	f := &definitionsFile{"definitions.json", []byte(`{"users":[{"name":"u","password":"first","tags":""}],"queues":[{"name":"q","vhost":"none"}]}`)}
	must(t, f.loadOnce(b, log))
	if said := logged.Take(); strings.Count(said, "level=ERROR") != 1 || !strings.Contains(said, "no such virtual host") || !strings.Contains(said, "fiveways definitions import") {
		t.Errorf("logged: %s", said)
	}
	_, err := b.PutUser(catalog.UserSpec{Name: "u", Password: "changed"})
	must(t, err)
	must(t, f.loadOnce(b, log))
	must(t, b.Authenticate("u", "changed", true))
}

// TestDefinitionsOfALostLead checks that a lead that is lost meanwhile is not taken for an error of
// the file.
func TestDefinitionsOfALostLead(t *testing.T) {
	n := startFaulty(t, t.TempDir())
	n.log.Lose(0, store.ErrLost)
	var logged logtest.Text
	if err := user("u", "pass").loadOnce(n.s.Broker(), slog.New(slog.NewTextHandler(&logged, nil))); err == nil || strings.Contains(logged.String(), "level=ERROR") {
		t.Errorf("%v; logged: %s", err, logged.String())
	}
	n.end(true)
}

// TestDefinitionsOfANode checks that a node of a cluster reads the file at its start: if it is
// invalid or missing, the node neither starts nor founds a cluster.
func TestDefinitionsOfANode(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Data, cfg.ClusterListen, cfg.ClusterFound, cfg.ClusterJoinFile = filepath.Join(dir, "data"), "127.0.0.1:0", cfg.NodeName, filepath.Join(dir, "token")
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = config.Off, config.Off, config.Off, config.Off, config.Off, config.Off
	cfg.LoadDefinitions = filepath.Join(dir, "definitions.json")
	for name, file := range map[string]string{"missing": "", "no JSON": "{", "invalid": `{"queues":[{"name":"q","vhost":"/","arguments":{"x-max-length":-1}}]}`} {
		if file != "" {
			must(t, os.WriteFile(cfg.LoadDefinitions, []byte(file), 0o600))
		}
		if _, err := Start(cfg, "test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "load_definitions: ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(cfg.LoadDefinitions); file != "" {
			must(t, err)
		}
		is, err := store.LookInto(vfs.OS{}, cfg.Data)
		if err != nil || is.Replica {
			t.Errorf("%s: a cluster was founded: %+v, %v", name, is, err)
		}
	}
}
