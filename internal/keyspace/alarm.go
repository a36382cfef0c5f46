package keyspace

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"go.uber.org/zap"
)

// tell passes a result to its waiter. If it is the first result without space, the alarm is raised
// before.
func (s *Store) tell(w *waiter, x *Result) {
	switch {
	case w == nil:
	case !errors.Is(x.Err, etcderrors.ErrNoSpace) || len(s.alarmsOf(pb.AlarmType_NOSPACE)) > 0:
		w.tell(x)
	case w.exclusive:
		w.tell(x)
		s.spawn(s.raiseNoSpace)
	default:
		s.spawn(func() {
			s.raiseNoSpace()
			w.tell(x)
		})
	}
}

// room refuses a request that exceeds the quota, and raises the alarm.
func (s *Store) room(request any) error {
	if s.quota.Available(request) {
		return nil
	}
	s.raiseNoSpace()
	return etcderrors.ErrNoSpace
}

func (s *Store) raiseNoSpace() {
	r := &pb.AlarmRequest{MemberID: s.MemberID(), Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE}
	if _, err := s.Propose(context.Background(), &pb.InternalRaftRequest{Alarm: r}); err != nil {
		s.lg.Warn("the alarm of the quota could not be recorded", zap.Error(err))
	}
}

// spawn runs f on a goroutine. Close waits for it.
func (s *Store) spawn(f func()) {
	s.done.Go(func() {
		f()
	})
}

// Alarms returns the raised alarms.
func (s *Store) Alarms() []*pb.AlarmMember { return s.alarmsOf(pb.AlarmType_NONE) }

func (s *Store) alarmsOf(kind pb.AlarmType) []*pb.AlarmMember {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	e := s.engine.Load()
	if e == nil {
		return nil
	}
	return e.alarms.Get(kind)
}

// Alarm lists, raises or clears alarms.
func (s *Store) Alarm(ctx context.Context, r *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	if r.Action == pb.AlarmRequest_GET {
		return &pb.AlarmResponse{Header: s.Header(), Alarms: s.alarmsOf(r.Alarm)}, nil
	}
	return proposed[*pb.AlarmResponse](s, ctx, &pb.InternalRaftRequest{Alarm: r})
}
