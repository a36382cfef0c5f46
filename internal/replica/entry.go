package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/storage/store"
)

// batchVersion is the first byte of an entry for shards. Other values are for future versions.
const batchVersion = 1

// minBatchEntry is the minimum size of an entry in a batch: shard, index, refs, length.
const minBatchEntry = 4

var errMalformed = errors.New("replica: malformed entry")

// appendBatch appends entries of shards to the data of an entry, which starts with the version.
func appendBatch(dst []byte, group []store.Entry) []byte {
	if len(dst) == 0 {
		dst = append(dst, batchVersion)
	}
	for i := range group {
		e := &group[i]
		dst = codec.AppendUvarints(dst, uint64(e.Shard), e.Index, uint64(max(e.Refs, 0)))
		dst = codec.AppendPrefixed(dst, e.Data)
	}
	return dst
}

func batchSize(group []store.Entry) (n int) {
	for i := range group {
		n += 4*binary.MaxVarintLen64 + len(group[i].Data)
	}
	return n
}

func groupData(group []store.Entry) (n int) {
	for i := range group {
		n += len(group[i].Data)
	}
	return n
}

// decodeBatch returns the entries in the data of an entry. They alias data.
func decodeBatch(data []byte) ([]store.Entry, error) {
	r := codec.NewReader(data)
	if v := r.Uint8(); v != batchVersion {
		return nil, fmt.Errorf("%w: version %d", errMalformed, v)
	}
	out := make([]store.Entry, 0, min(r.Len()/minBatchEntry, 64))
	for r.Len() > 0 && r.Err() == nil {
		shard := r.Uvarint()
		e := store.Entry{Shard: uint32(shard), Index: r.Uvarint(), Refs: int(r.Uvarint()), Data: r.Prefixed()}
		if shard >= math.MaxUint32 || e.Refs < 0 {
			return nil, fmt.Errorf("%w: shard %d", errMalformed, shard)
		}
		out = append(out, e)
	}
	if r.Err() != nil || len(out) == 0 {
		return nil, fmt.Errorf("%w: %w", errMalformed, r.Err())
	}
	return out, nil
}

// toStore converts an entry of Raft to one of the store.
func toStore(e *pb.Entry) (store.RaftEntry, error) {
	out := store.RaftEntry{EntryID: store.EntryID{Index: e.GetIndex(), Term: e.GetTerm()}, Type: uint8(e.GetType())}
	if e.GetType() != pb.EntryNormal || len(e.GetData()) == 0 || isOwn(e.GetData()) {
		out.Data = e.GetData()
		return out, nil
	}
	var err error
	if out.Batch, err = decodeBatch(e.GetData()); err != nil {
		return out, fmt.Errorf("entry %d of term %d: %w", e.GetIndex(), e.GetTerm(), err)
	}
	return out, nil
}

// toRaft is the inverse of toStore.
func toRaft(e *store.RaftEntry) *pb.Entry {
	out := &pb.Entry{Index: new(e.Index), Term: new(e.Term), Type: pb.EntryType(e.Type).Enum(), Data: e.Data}
	if len(e.Batch) > 0 {
		out.Data = appendBatch(make([]byte, 0, 1+batchSize(e.Batch)), e.Batch)
	}
	return out
}
