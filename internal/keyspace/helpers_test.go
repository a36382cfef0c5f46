package keyspace

import (
	"context"
	"slices"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// fakeLog applies recorded entries at once, in order, and keeps them.
type fakeLog struct {
	mu      sync.Mutex
	store   *Store
	entries [][]byte
}

func (l *fakeLog) Record(entry []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, slices.Clone(entry))
	index := uint64(len(l.entries))
	l.store.Apply(index, entry)
	return index, nil
}

func (l *fakeLog) RecordAll(entries [][]byte, _ bool, done func(int, uint64, error)) {
	for i, entry := range entries {
		index, err := l.Record(entry)
		done(i, index, err)
	}
}

// replay applies all entries after the first from to a new store.
func (l *fakeLog) replay(t *testing.T, s *Store, from int) {
	t.Helper()
	for i, entry := range l.entries[from:] {
		s.Apply(uint64(from+i+1), entry)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// open returns a store that accepts changes, and its log.
func open(t *testing.T, o Options) (*Store, *fakeLog) {
	t.Helper()
	s := New(o)
	l := &fakeLog{store: s}
	if err := s.Start(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, l
}

func put(t *testing.T, s *Store, key, value string) int64 {
	t.Helper()
	answer, err := s.Put(context.Background(), &pb.PutRequest{Key: []byte(key), Value: []byte(value)})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.Revision
}

func get(t *testing.T, s *Store, key string) string {
	t.Helper()
	answer, err := s.Range(context.Background(), &pb.RangeRequest{Key: []byte(key)})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Kvs) == 0 {
		return ""
	}
	return string(answer.Kvs[0].Value)
}
