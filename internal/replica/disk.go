package replica

import (
	"errors"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/storage/store"
)

// recentBytes bounds the entries that are cached in memory for peers that are slightly behind.
const recentBytes = 16 << 20

// disk is Raft's view of the store. It belongs to the core.
type disk struct {
	log     *store.RaftLog
	members *membership
	// snapshot returns the snapshot for Raft, which it reads when a node needs entries before the
	// log.
	snapshot func() (*pb.Snapshot, error)

	// recent caches the last entries of the log, without a gap.
	recent []*pb.Entry
	bytes  int
}

// wrote caches appended entries. They follow the cached ones, or replace some of them.
func (d *disk) wrote(entries []*pb.Entry) {
	d.cut(entries[0].GetIndex())
	d.recent = append(d.recent, entries...)
	for _, e := range entries {
		d.bytes += len(e.GetData())
	}
	for d.bytes > recentBytes && len(d.recent) > 1 {
		d.bytes -= len(d.recent[0].GetData())
		d.recent[0] = nil
		d.recent = d.recent[1:]
	}
}

// cut drops the cached entries from index on.
func (d *disk) cut(index uint64) {
	for n := len(d.recent); n > 0 && d.recent[n-1].GetIndex() >= index; n-- {
		d.bytes -= len(d.recent[n-1].GetData())
		d.recent[n-1] = nil
		d.recent = d.recent[:n-1]
	}
}

func (d *disk) InitialState() (*pb.HardState, *pb.ConfState, error) {
	st := d.log.State()
	return &pb.HardState{Term: new(st.Term), Vote: new(st.Vote), Commit: new(d.log.Committed())}, d.members.ConfState, nil
}

func (d *disk) FirstIndex() (uint64, error) { return d.log.First(), nil }

func (d *disk) LastIndex() (uint64, error) { return d.log.Last().Index, nil }

func (d *disk) Term(index uint64) (uint64, error) {
	switch term, err := d.log.Term(index); {
	case err == nil:
		return term, nil
	case !errors.Is(err, store.ErrNotFound):
		return 0, err
	case index < d.log.First():
		return 0, raft.ErrCompacted
	}
	return 0, raft.ErrUnavailable
}

func (d *disk) Entries(lo, hi, maxBytes uint64) ([]*pb.Entry, error) {
	if lo < d.log.First() {
		return nil, raft.ErrCompacted
	}
	if len(d.recent) > 0 && lo >= d.recent[0].GetIndex() {
		from := lo - d.recent[0].GetIndex()
		if to := hi - d.recent[0].GetIndex(); to <= uint64(len(d.recent)) {
			return limit(append([]*pb.Entry(nil), d.recent[from:to]...), maxBytes), nil
		}
		return nil, raft.ErrUnavailable
	}
	entries, err := d.log.Entries(lo, hi, int64(min(maxBytes, 1<<40)))
	if errors.Is(err, store.ErrNotWritten) {
		return nil, raft.ErrUnavailable
	}
	if err != nil {
		return nil, err
	}
	out := make([]*pb.Entry, len(entries))
	for i := range entries {
		out[i] = toRaft(&entries[i])
	}
	return limit(out, maxBytes), nil
}

// limit keeps the first entries that together take up to maxBytes, and at least one.
func limit(entries []*pb.Entry, maxBytes uint64) []*pb.Entry {
	size := uint64(0)
	for i, e := range entries {
		if size += uint64(proto.Size(e)); size > maxBytes && i > 0 {
			return entries[:i:i]
		}
	}
	return entries
}

func (d *disk) Snapshot() (*pb.Snapshot, error) { return d.snapshot() }
