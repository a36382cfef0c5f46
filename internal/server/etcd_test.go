package server

import (
	"bytes"
	"context"
	"log/slog"
	"runtime/pprof"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/statemachine"
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

// The clocks of etcd's code, which wake an idle process, run only if the keys are used. All
// protocols are served, since each of them could use the keys at the start.
func TestUnusedKeysRest(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Data = dir
	for _, addr := range []*string{&cfg.AMQP, &cfg.SQL, &cfg.Redis, &cfg.Etcd, &cfg.HTTP, &cfg.Metrics} {
		*addr = "127.0.0.1:0"
	}
	for round, want := range []bool{false, false, true} { // whether there are keys at the start
		s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
		must(t, err)
		if got := keysWork(t); got != want {
			t.Errorf("start %d: etcd's code works: %v, want %v", round, got, want)
		}
		if round == 1 {
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Addrs()["etcd"]}, Logger: zap.NewNop()})
			must(t, err)
			if _, err := c.Put(t.Context(), "a", "1"); err != nil {
				t.Fatal(err)
			}
			c.Close()
			if !keysWork(t) {
				t.Error("etcd's code does not work with a key")
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		must(t, s.Drain(ctx))
		cancel()
	}
}

// keysWork reports whether a goroutine runs the clock of etcd's store.
func keysWork(t *testing.T) bool {
	var stacks bytes.Buffer
	must(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
	return bytes.Contains(stacks.Bytes(), []byte("mvcc.(*watchableStore).syncWatchersLoop"))
}

// A node of a cluster keeps the keys of the other nodes even if its own API is off: only then can
// it write a checkpoint of them, and free segments of the log.
func TestKeysOfOtherNodes(t *testing.T) {
	for _, c := range []struct {
		etcd, cluster string
		keeps         bool
	}{{config.Off, config.Off, false}, {config.Off, "127.0.0.1:0", true}, {"127.0.0.1:0", config.Off, true}} {
		cfg := config.Default()
		cfg.Data, cfg.Etcd, cfg.ClusterListen = t.TempDir(), c.etcd, c.cluster
		m := newMachines(cfg, slog.New(slog.DiscardHandler))
		if _, keeps := m.byShard()[statemachine.Keys]; keeps != c.keeps {
			t.Errorf("etcd %s, cluster_listen %s: keeps the keys: %t", c.etcd, c.cluster, keeps)
		}
		must(t, m.close())
	}
}
