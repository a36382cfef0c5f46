package etcd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"time"

	"github.com/coreos/go-semver/semver"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage"
)

// The versions that clients and dashboards are told: of the API that is served.
const (
	etcdVersion    = "3.5.21"
	clusterVersion = "3.5.0"
)

// maintenanceService is the service Maintenance.
type maintenanceService struct {
	pb.UnimplementedMaintenanceServer
	srv *Server
}

// admin tells whether the caller may do what is for administrators.
func (m *maintenanceService) admin(ctx context.Context) error {
	who, err := m.srv.identify(ctx)
	if err != nil {
		return err
	}
	return reply(m.srv.mayAdminister(who))
}

// Alarm lists, raises or ends alarms.
func (m *maintenanceService) Alarm(ctx context.Context, r *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	allowed := m.admin
	if r.Action == pb.AlarmRequest_GET {
		allowed = func(ctx context.Context) error { _, err := m.srv.identify(ctx); return err }
	}
	if err := allowed(ctx); err != nil {
		return nil, err
	}
	resp, err := m.srv.keys.Alarm(ctx, r)
	if err != nil {
		return nil, reply(err)
	}
	if resp.Header == nil {
		resp.Header = &pb.ResponseHeader{}
	}
	m.srv.complete(resp.Header)
	return resp, nil
}

// Status tells how this member does. It leads, always.
func (m *maintenanceService) Status(ctx context.Context, r *pb.StatusRequest) (*pb.StatusResponse, error) {
	s := m.srv
	if _, err := s.identify(ctx); err != nil {
		return nil, err
	}
	index, be := s.keys.AppliedIndex(), s.keys.Backend()
	resp := &pb.StatusResponse{
		Header: s.keys.Header(), Version: etcdVersion, Leader: s.memberID(), RaftIndex: index, RaftAppliedIndex: index, RaftTerm: s.keys.Term(),
		DbSize: be.Size(), DbSizeInUse: be.SizeInUse(), DbSizeQuota: s.quota(), DowngradeInfo: &pb.DowngradeInfo{},
	}
	for _, a := range s.keys.Alarms(pb.AlarmType_NONE) {
		resp.Errors = append(resp.Errors, a.String())
	}
	return resp, nil
}

// quota is how many bytes the keys may take.
func (s *Server) quota() int64 {
	if s.o.QuotaBytes == 0 {
		return storage.DefaultQuotaBytes
	}
	return s.o.QuotaBytes
}

// Defragment has nothing to do: what is deleted is given back as it happens.
func (m *maintenanceService) Defragment(ctx context.Context, r *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	if err := m.srv.keys.Defragment(); err != nil {
		return nil, reply(err)
	}
	return &pb.DefragmentResponse{}, nil
}

// Hash is a sum over everything that the store holds.
func (m *maintenanceService) Hash(ctx context.Context, r *pb.HashRequest) (*pb.HashResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	resp, err := m.srv.keys.Hash(ctx, r)
	if err != nil {
		return nil, reply(err)
	}
	m.srv.complete(resp.Header)
	return resp, nil
}

// HashKV is a sum over the keys and their history up to a revision.
func (m *maintenanceService) HashKV(ctx context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	resp, err := m.srv.keys.HashKV(ctx, r)
	if err != nil {
		return nil, reply(err)
	}
	m.srv.complete(resp.Header)
	return resp, nil
}

// snapshotBlob is how much of a snapshot goes into one message.
const snapshotBlob = 32 << 10

// Snapshot sends the store as a database file of etcd, and then its SHA-256.
func (m *maintenanceService) Snapshot(r *pb.SnapshotRequest, stream pb.Maintenance_SnapshotServer) error {
	if err := m.admin(stream.Context()); err != nil {
		return err
	}
	start := time.Now()
	snapshot := m.srv.keys.Snapshot()
	defer snapshot.Close()
	out := &snapshotSender{stream: stream, sum: sha256.New(), left: snapshot.Size()}
	buffered := bufio.NewWriterSize(out, snapshotBlob)
	size, err := snapshot.WriteTo(buffered)
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return reply(err)
	}
	m.srv.log.Info("etcd: snapshot sent", "peer", peerOf(stream.Context()), "bytes", size, "took", time.Since(start))
	return stream.Send(&pb.SnapshotResponse{Blob: out.sum.Sum(nil)})
}

// snapshotSender sends what is written as parts of a snapshot.
type snapshotSender struct {
	stream pb.Maintenance_SnapshotServer
	sum    hash.Hash
	left   int64 // bytes to come
}

func (o *snapshotSender) Write(b []byte) (int, error) {
	for part := range slices.Chunk(b, snapshotBlob) {
		o.left -= int64(len(part))
		o.sum.Write(part)
		// The transport may keep what it sends.
		if err := o.stream.Send(&pb.SnapshotResponse{RemainingBytes: uint64(o.left), Blob: bytes.Clone(part)}); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// MoveLeader has no other member to move to.
func (m *maintenanceService) MoveLeader(ctx context.Context, r *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	if r.TargetID != m.srv.memberID() {
		return nil, rpctypes.ErrGRPCBadLeaderTransferee
	}
	return &pb.MoveLeaderResponse{}, nil
}

// errWrongVersion tells what is no version.
var errWrongVersion = errors.New("etcd: not a version")

// Downgrade is answered as etcd does where no older version can take over.
func (m *maintenanceService) Downgrade(ctx context.Context, r *pb.DowngradeRequest) (*pb.DowngradeResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	if r.Action == pb.DowngradeRequest_CANCEL {
		return nil, rpctypes.ErrGRPCNoInflightDowngrade
	}
	if parseVersion(r.Version) != nil {
		return nil, rpctypes.ErrGRPCWrongDowngradeVersionFormat
	}
	return nil, rpctypes.ErrGRPCInvalidDowngradeTargetVersion
}

// parseVersion fails on what is neither major.minor nor major.minor.patch.
func parseVersion(v string) error {
	if _, err := semver.NewVersion(v); err == nil {
		return nil
	}
	if _, err := semver.NewVersion(v + ".0"); err != nil {
		return errWrongVersion
	}
	return nil
}
