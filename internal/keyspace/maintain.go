package keyspace

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
)

// Hash returns etcd's hash of all buckets and the revision.
func (s *Store) Hash(context.Context, *pb.HashRequest) (*pb.HashResponse, error) {
	hash, revision, err := s.kv.HashStorage().Hash()
	if err != nil {
		return nil, err
	}
	return &pb.HashResponse{Header: &pb.ResponseHeader{Revision: revision}, Hash: hash}, nil
}

// HashKV returns etcd's hash of all keys up to a revision; 0 means the current one.
func (s *Store) HashKV(_ context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	hash, revision, err := s.kv.HashStorage().HashByRev(r.Revision)
	if err != nil {
		return nil, err
	}
	return &pb.HashKVResponse{
		Header:          &pb.ResponseHeader{Revision: revision},
		Hash:            hash.Hash,
		CompactRevision: hash.CompactRevision,
		HashRevision:    hash.Revision,
	}, nil
}

// Snapshot returns the buckets of now as a database file of etcd. Close it.
func (s *Store) Snapshot() etcdbackend.Snapshot { return s.b.Snapshot() }

// Defragment gives back the memory of all that is deleted.
func (s *Store) Defragment() error { return s.b.Defrag() }

// Status tells how large the store is and how far it is. The caller puts the server's version.
func (s *Store) Status() *pb.StatusResponse {
	answer := &pb.StatusResponse{
		Header:           s.Header(),
		DbSize:           s.b.Size(),
		DbSizeInUse:      s.b.SizeInUse(),
		Leader:           uint64(s.MemberID()),
		RaftIndex:        s.AppliedIndex(),
		RaftAppliedIndex: s.AppliedIndex(),
		RaftTerm:         s.Term(),
	}
	for _, alarm := range s.Alarms(pb.AlarmType_NONE) {
		answer.Errors = append(answer.Errors, alarm.String())
	}
	return answer
}
