package keyspace

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/membershippb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// memberKey is the key of the ID of this member in the cluster bucket. The value has eight bytes,
// big-endian.
var memberKey = []byte("member")

// readIdentity reads the member's ID from the buckets.
func (s *Store) readIdentity() error {
	tx := s.b.BatchTx()
	tx.LockOutsideApply()
	defer tx.Unlock()
	_, values := tx.UnsafeRange(schema.Cluster, memberKey, nil, 0)
	if len(values) == 0 {
		return nil
	}
	if len(values[0]) != 8 {
		return fmt.Errorf("keyspace: the id of the member has %d bytes instead of 8", len(values[0]))
	}
	s.identify(binary.BigEndian.Uint64(values[0]))
	return nil
}

func (s *Store) identify(id uint64) {
	s.member.Store(id)
	s.cluster.SetID(types.ID(id), types.ID(clusterOf(id)))
}

// applyIdentity stores the member's ID. The first one stays: a node keeps its ID when it is renamed
// or its folder is moved.
func (s *Store) applyIdentity(r *membershippb.ClusterMemberAttrSetRequest) {
	if s.member.Load() != 0 || r.Member_ID == 0 {
		return
	}
	tx := s.b.BatchTx()
	tx.LockInsideApply()
	tx.UnsafePut(schema.Cluster, memberKey, binary.BigEndian.AppendUint64(nil, r.Member_ID))
	tx.Unlock()
	s.identify(r.Member_ID)
}

// proposeIdentity proposes the ID of a new store.
func (s *Store) proposeIdentity() error {
	if s.member.Load() != 0 {
		return nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", s.o.Name, s.o.Place)
	set := &membershippb.ClusterMemberAttrSetRequest{Member_ID: max(h.Sum64(), 1)}
	set.MemberAttributes = &membershippb.Attributes{Name: s.o.Name}
	_, err := s.Propose(context.Background(), &pb.InternalRaftRequest{ClusterMemberAttrSet: set})
	return err
}

// clusterOf derives the ID of the cluster from that of its first member.
func clusterOf(member uint64) uint64 {
	if member == 0 {
		return 0
	}
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64([]byte("cluster"), member))
	return h.Sum64()
}
