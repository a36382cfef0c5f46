package etcd

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/coreos/go-semver/semver"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The versions that clients and dashboards see: those of the served API.
const (
	etcdVersion    = "3.5.21"
	clusterVersion = "3.5.0"
)

// maintenanceService implements the service Maintenance.
type maintenanceService struct {
	pb.UnimplementedMaintenanceServer
	srv *Server
}

// admin checks that the caller may call methods that are reserved for administrators.
func (m *maintenanceService) admin(ctx context.Context) error {
	who, err := m.srv.identify(ctx)
	if err != nil {
		return err
	}
	return reply(m.srv.mayAdminister(who))
}

// errAlarmAction is the answer to an unknown action, on which etcd fails.
var errAlarmAction = status.Error(codes.InvalidArgument, "etcdserver: unknown action for an alarm")

// Alarm lists, raises or ends alarms. Every user may list them, as in etcd since 3.5.29 and 3.6.10.
func (m *maintenanceService) Alarm(ctx context.Context, r *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	if _, known := pb.AlarmRequest_AlarmAction_name[int32(r.Action)]; !known {
		return nil, errAlarmAction
	}
	if r.Action != pb.AlarmRequest_GET {
		if err := m.admin(ctx); err != nil {
			return nil, err
		}
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

// Status returns the state of the member that the client has connected to. Every user may see it,
// as in etcd since 3.5.32 and 3.6.12: clients ask for the version before they use what is new.
func (m *maintenanceService) Status(ctx context.Context, r *pb.StatusRequest) (*pb.StatusResponse, error) {
	s := m.srv
	resp := s.keys.Status()
	resp.Version, resp.DbSizeQuota, resp.DowngradeInfo = etcdVersion, s.keys.Quota(), &pb.DowngradeInfo{}
	if s.o.Cluster != nil {
		s.showMember(resp, s.reached(ctx))
	}
	return resp, nil
}

// showMember fills in the state of a member of a cluster, as far as this member, the leader, knows
// it: the log of the other member is at least as long as reported. The sizes are the same on all
// members.
func (s *Server) showMember(resp *pb.StatusResponse, id uint64) {
	resp.Header.MemberId = id
	now := s.o.Cluster.Status()
	m := now.Member(id)
	if m == nil {
		return // it was just removed
	}
	resp.IsLearner = !m.Votes()
	resp.RaftIndex = now.Committed
	if m.Match != nil {
		resp.RaftIndex = min(*m.Match, now.Committed)
	}
	resp.RaftAppliedIndex = resp.RaftIndex
	if id == now.Node && m.About != nil {
		resp.RaftAppliedIndex = min(m.About.Applied, resp.RaftIndex)
	}
}

// Defragment has nothing to do: deleted space is returned as it is freed.
func (m *maintenanceService) Defragment(ctx context.Context, r *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	if err := m.srv.keys.Defragment(); err != nil {
		return nil, reply(err)
	}
	return &pb.DefragmentResponse{}, nil
}

// Hash returns a hash of everything that the store holds.
func (m *maintenanceService) Hash(ctx context.Context, r *pb.HashRequest) (*pb.HashResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	sum, rev, err := m.srv.keys.Hash(ctx)
	if err != nil {
		return nil, reply(err)
	}
	return &pb.HashResponse{Header: m.srv.complete(&pb.ResponseHeader{Revision: rev}), Hash: sum}, nil
}

// HashKV returns a hash of the keys and their history up to a revision.
func (m *maintenanceService) HashKV(ctx context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	sum, rev, err := m.srv.keys.HashKV(ctx, r.Revision)
	if err != nil {
		return nil, reply(err)
	}
	return &pb.HashKVResponse{
		Header: m.srv.complete(&pb.ResponseHeader{Revision: rev}), Hash: sum.Hash, CompactRevision: sum.CompactRevision, HashRevision: sum.Revision,
	}, nil
}

// snapshotBlob is how many bytes of a snapshot go into one message.
const snapshotBlob = 32 << 10

// Snapshot sends the store as a database file of etcd, followed by its SHA-256. Each message names
// the version of etcd that the file is for.
func (m *maintenanceService) Snapshot(r *pb.SnapshotRequest, stream pb.Maintenance_SnapshotServer) error {
	if err := m.admin(stream.Context()); err != nil {
		return err
	}
	start := time.Now()
	size, snapshot, err := m.srv.keys.Snapshot(stream.Context())
	if err != nil {
		return reply(err)
	}
	defer snapshot.Close()
	sum := sha256.New()
	for left := size; left > 0; {
		blob := make([]byte, min(left, snapshotBlob)) // the transport may keep the slice
		if _, err := io.ReadFull(snapshot, blob); err != nil {
			return reply(err)
		}
		left -= int64(len(blob))
		sum.Write(blob)
		if err := stream.Send(&pb.SnapshotResponse{RemainingBytes: uint64(left), Blob: blob, Version: clusterVersion}); err != nil {
			return err
		}
	}
	m.srv.log.Info("etcd: snapshot sent", "peer", peerOf(stream.Context()), "bytes", size, "took", time.Since(start))
	return stream.Send(&pb.SnapshotResponse{Blob: sum.Sum(nil), Version: clusterVersion})
}

// MoveLeader transfers the leadership to another member. The sessions of this member then end.
func (m *maintenanceService) MoveLeader(ctx context.Context, r *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	if err := m.admin(ctx); err != nil {
		return nil, err
	}
	if r.TargetID == m.srv.keys.MemberID() {
		return &pb.MoveLeaderResponse{}, nil
	}
	if m.srv.o.Cluster == nil {
		return nil, rpctypes.ErrGRPCBadLeaderTransferee
	}
	err := m.srv.manage(ctx, "leader moved", strconv.FormatUint(r.TargetID, 10), func() error {
		now := m.srv.o.Cluster.Status()
		switch to := now.Member(r.TargetID); {
		case to == nil || !to.Votes():
			return etcderrors.ErrBadLeaderTransferee
		case !to.Up || m.srv.o.Cluster.Transfer(ctx, r.TargetID) != nil:
			return etcderrors.ErrTimeoutLeaderTransfer
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &pb.MoveLeaderResponse{}, nil
}

// errWrongVersion is returned for a string that is not a version.
var errWrongVersion = errors.New("etcd: not a version")

// Downgrade answers as etcd does when no older version can take over.
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

// parseVersion fails unless v is major.minor or major.minor.patch.
func parseVersion(v string) error {
	if _, err := semver.NewVersion(v); err == nil {
		return nil
	}
	if _, err := semver.NewVersion(v + ".0"); err != nil {
		return errWrongVersion
	}
	return nil
}
