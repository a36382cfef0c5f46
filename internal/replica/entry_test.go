package replica

import (
	"errors"
	"slices"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/storage/store"
)

func sameBatch(a, b []store.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y store.Entry) bool {
		return x.Shard == y.Shard && x.Index == y.Index && x.Refs == y.Refs && string(x.Data) == string(y.Data)
	})
}

func TestEntryCodec(t *testing.T) {
	batch := []store.Entry{{Shard: 0, Index: 1, Data: []byte{}}, {Shard: 7, Index: 1 << 50, Refs: 3, Data: []byte("facts")}}
	data := appendBatch(nil, batch)
	if got, err := decodeBatch(data); err != nil || !sameBatch(got, batch) {
		t.Fatalf("%v, %v", got, err)
	}
	if n := 1 + batchSize(batch); n < len(data) {
		t.Fatalf("batchSize says %d, it takes %d", n, len(data))
	}
	for cut := range len(data) {
		if got, err := decodeBatch(data[:cut]); err == nil && len(got) == len(batch) {
			t.Fatalf("%d of %d bytes: %v", cut, len(data), got)
		}
	}
	newer := append([]byte{batchVersion + 1}, data[1:]...)
	if _, err := decodeBatch(newer); !errors.Is(err, errMalformed) {
		t.Fatal(err)
	}
	for _, e := range []*pb.Entry{
		{Index: new(uint64(5)), Term: new(uint64(2)), Type: pb.EntryNormal.Enum(), Data: data},
		{Index: new(uint64(6)), Term: new(uint64(2)), Type: pb.EntryNormal.Enum()},
		{Index: new(uint64(7)), Term: new(uint64(3)), Type: pb.EntryConfChangeV2.Enum(), Data: []byte("change")},
	} {
		se, err := toStore(e)
		if err != nil {
			t.Fatal(err)
		}
		back := toRaft(&se)
		if back.GetIndex() != e.GetIndex() || back.GetTerm() != e.GetTerm() || back.GetType() != e.GetType() || string(back.GetData()) != string(e.GetData()) {
			t.Fatalf("%v became %v", e, back)
		}
	}
}

func FuzzDecodeBatch(f *testing.F) {
	f.Add(appendBatch(nil, []store.Entry{{Shard: 7, Index: 9, Refs: 3, Data: []byte("facts")}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		batch, err := decodeBatch(data)
		if err != nil {
			return
		}
		again, err := decodeBatch(appendBatch(nil, batch))
		if err != nil || !sameBatch(again, batch) {
			t.Fatalf("%v became %v, %v", batch, again, err)
		}
	})
}
