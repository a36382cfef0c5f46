package keyspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/lease"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/etcdd"
)

// snapshotFile saves a snapshot as `etcdctl snapshot save` does: the database, then its checksum.
func snapshotFile(t *testing.T, s *Store) string {
	t.Helper()
	size, from, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	db, err := io.ReadAll(from)
	if err != nil || int64(len(db)) != size {
		t.Fatalf("%d bytes instead of %d, %v", len(db), size, err)
	}
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(db)
	path := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(path, append(db, sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled returns a store with keys of several revisions, deleted ones, leases and an alarm.
func filled(t *testing.T) *Store {
	folder := t.TempDir()
	s, _ := open(t, Options{Folder: folder})
	ctx := context.Background()
	if _, err := s.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: 7, TTL: 1000}); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		put(t, s, fmt.Sprint("key/", i%100), fmt.Sprint("value ", i))
	}
	if _, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("key/5"), RangeEnd: []byte("key/6")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, &pb.PutRequest{Key: []byte("leased"), Value: bytes.Repeat([]byte("x"), 100_000), Lease: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: 150, Physical: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("files are left: %v", left)
		}
	})
	return s
}

// etcd's own code opens a snapshot and finds the same keys, leases and hash.
func TestSnapshotIsAnEtcdDatabase(t *testing.T) {
	s := filled(t)
	sameDatabase(t, s, snapshotFile(t, s))
}

func sameDatabase(t *testing.T, s *Store, path string) {
	t.Helper()
	lg := zap.NewNop()
	cfg := etcdbackend.DefaultBackendConfig(lg)
	cfg.Path = path
	be := etcdbackend.New(cfg)
	defer be.Close()
	got, err := be.Hash(schema.DefaultIgnores)
	if err != nil {
		t.Fatal(err)
	}
	if want, _, _ := s.Hash(context.Background()); got != want {
		t.Errorf("hash of the database %08x, want %08x", got, want)
	}
	le := lease.NewLessor(lg, be, version{}, lease.LessorConfig{})
	defer le.Stop()
	kv := mvcc.New(lg, be, le, mvcc.StoreConfig{})
	defer kv.Close()
	if got, want := hashKV(t, kv), hashKV(t, s.KV()); got != want {
		t.Errorf("keys %+v, want %+v", got, want)
	}
	if l := le.Lookup(7); l == nil || len(l.Keys()) != 1 {
		t.Errorf("the lease is %v", l)
	}
}

// etcdctl of a real etcd accepts a snapshot: status reads it, restore creates a data folder from
// it, and an etcd that is started there has the same keys, history and leases.
func TestSnapshotForEtcdctl(t *testing.T) {
	if os.Getenv("CI") == "true" {
		if err := etcdd.Install(io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := exec.LookPath("etcdctl")
	if err != nil {
		t.Skip("no etcdctl here (on Debian: apt-get install etcd-client)")
	}
	s := filled(t)
	path := snapshotFile(t, s)
	run := func(args ...string) []byte {
		cmd := exec.Command(tool, append([]string{"snapshot"}, args...)...)
		cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("%v: %v: %s", args, err, out) // newer versions have moved this to etcdutl
		}
		return out
	}
	var status struct {
		Revision int64 `json:"revision"`
		TotalKey int   `json:"totalKey"`
	}
	if err := json.Unmarshal(run("status", path, "-w", "json"), &status); err != nil {
		t.Fatal(err)
	}
	if status.Revision != s.KV().Rev() || status.TotalKey == 0 {
		t.Errorf("status %+v at revision %d", status, s.KV().Rev())
	}
	folder := filepath.Join(t.TempDir(), "restored")
	run("restore", path, "--data-dir", folder)
	if os.Getenv("ETCD_BIN") != "" {
		t.Skip("ETCD_BIN names an etcd that may be of another version than etcdctl")
	}
	addr := etcdd.Start(t, "--data-dir", folder)
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.HashKV(context.Background(), addr, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := hashKV(t, s.KV()); got.Hash != want.Hash || got.Header.Revision != s.KV().Rev() {
		t.Errorf("etcd has hash %08x at %d, want %08x at %d", got.Hash, got.Header.Revision, want.Hash, s.KV().Rev())
	}
	if left, err := c.TimeToLive(context.Background(), 7, clientv3.WithAttachedKeys()); err != nil || left.GrantedTTL != 1000 || len(left.Keys) != 1 {
		t.Errorf("the lease in etcd: %+v, %v", left, err)
	}
}

// Sweep removes the snapshot files of a killed process, and nothing else.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"keyspace-snapshot-123.db", "other.db"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, Options{Folder: folder})
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || left[0].Name() != "other.db" {
		t.Errorf("left are %v, %v", left, err)
	}
}
