package keyspace

import (
	"bytes"
	"context"
	"testing"

	"go.etcd.io/bbolt"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/keyspace/backend"
)

// A store has an engine once it is used: at once after a restart, so that its leases expire.
func TestEngineWhenUsed(t *testing.T) {
	ctx := context.Background()
	for name, use := range map[string]func(s *Store) error{
		"": func(*Store) error { return nil },
		"a key": func(s *Store) error {
			_, err := s.Put(ctx, &pb.PutRequest{Key: []byte("k")})
			return err
		},
		"a key that is gone": func(s *Store) error {
			put(t, s, "k", "v")
			deleted, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("k")})
			if err != nil {
				return err
			}
			_, err = s.Compact(ctx, &pb.CompactionRequest{Revision: deleted.Header.Revision, Physical: true})
			return err
		},
		"a lease": func(s *Store) error {
			_, err := s.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: -1, TTL: 100})
			return err
		},
		"an alarm": func(s *Store) error {
			_, err := s.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE})
			return err
		},
	} {
		s, log := open(t, Options{})
		if s.engine.Load() != nil {
			t.Error("a new store has an engine")
		}
		if err := use(s); err != nil {
			t.Fatal(name, err)
		}
		used := name != ""
		if got := s.engine.Load() != nil; got != used {
			t.Errorf("with %q: an engine: %v, want %v", name, got, used)
		}
		var dump bytes.Buffer
		_, write := s.Freeze()
		if err := write(&dump); err != nil {
			t.Fatal(err)
		}
		sum, _ := Hashed{s}.Sum()
		if s.engine.Load() != nil != used {
			t.Errorf("with %q: the sum has made an engine", name)
		}
		if s.etcd(); !used {
			if full, _ := (Hashed{s}).Sum(); sum != full {
				t.Errorf("the sum is %x without an engine, %x with one", sum, full)
			}
		}
		for how, again := range map[string]*Store{"a dump": restored(t, &dump, log, len(log.entries)), "the log": restored(t, nil, log, 0)} {
			if got := again.engine.Load() != nil; got != used {
				t.Errorf("with %q, restored from %s: an engine: %v, want %v", name, how, got, used)
			}
			if got, want := again.KV().Rev(), s.KV().Rev(); got != want {
				t.Errorf("with %q, restored from %s: revision %d, want %d", name, how, got, want)
			}
		}
	}
}

// A dump and a snapshot of a store that was never used have all buckets: brokers that had an engine
// from the start, and etcd's tools, use them without looking.
func TestUnusedStoreHasBuckets(t *testing.T) {
	s, _ := open(t, Options{Folder: t.TempDir()})
	var dump bytes.Buffer
	_, write := s.Freeze()
	if err := write(&dump); err != nil {
		t.Fatal(err)
	}
	again := backend.New(t.TempDir())
	if _, err := again.Load(&dump); err != nil {
		t.Fatal(err)
	}
	tx := again.BatchTx()
	tx.LockOutsideApply()
	for _, bucket := range engineBuckets {
		tx.UnsafePut(bucket, []byte("k"), []byte("v")) // panics without the bucket
	}
	tx.Unlock()

	db, err := bbolt.Open(snapshotFile(t, s), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		for _, bucket := range engineBuckets {
			if tx.Bucket(bucket.Name()) == nil {
				t.Errorf("the snapshot has no bucket %s", bucket.Name())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Stores end when nothing was ever done with them, and can be read afterwards.
func TestCloseUnused(t *testing.T) {
	s := New(Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.KV().Rev() != 1 || len(s.Alarms()) != 0 {
		t.Errorf("revision %d, alarms %v", s.KV().Rev(), s.Alarms())
	}
}
