package replica

import (
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

// The level of the log is a part of the membership. It is raised by a membership change that
// changes no member. So no node can join at the same time: Raft refuses a change while an earlier
// one is not applied.

// encodeRaise returns the context of a change that raises the level. It starts with 0, which is not
// the number of any node.
func encodeRaise(to uint64) []byte { return codec.AppendUvarints(nil, 0, to) }

// raised returns the level to which a membership change raises the log, or 0 if it does not.
func raised(change *pb.ConfChangeV2) (to uint64, err error) {
	r := codec.NewReader(change.GetContext())
	if r.Len() == 0 || r.Uvarint() != 0 {
		return 0, nil
	}
	if to = r.Uvarint(); to <= level.First {
		r.Fail(fmt.Errorf("level %d", to))
	}
	if err := r.End(); err != nil {
		return 0, fmt.Errorf("%w: %w", errBadMembers, err)
	}
	return to, nil
}

// raise raises the level of the log once all members support the next one. Afterwards older
// versions are rejected.
func (c *core) raise() {
	m := c.disk.members
	if c.leading == nil || c.changing() || m.level >= c.levels.Newest {
		return
	}
	for _, node := range m.nodes() {
		if node != c.self && c.out.newest(node) <= m.level {
			return
		}
	}
	to := m.level + 1
	c.change(func(err error) {
		if err == nil {
			c.logger.Info("replica: all nodes support a higher level of the log, which is used from now on; nodes of older versions are refused", "level", to)
		}
	}, &pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{single(pb.ConfChangeUpdateNode, c.self)}, Context: encodeRaise(to)})
}

// checkRaise rejects an entry that raises the log to a level that this version does not support. No
// later entry enters this node's log, so the node never sees unknown entries, whatever the leader
// assumed. A new node may receive entries that are older than its version.
func checkRaise(e *pb.Entry, supported level.Range) error {
	if e.GetType() == pb.EntryNormal {
		return nil
	}
	change, err := decodeChange(e)
	if err != nil {
		return err
	}
	to, err := raised(change.AsV2())
	if err != nil || to <= supported.Newest {
		return err
	}
	return supported.Check(to)
}

// changesSince returns the members in the state of a log, and the later changes in the log,
// committed or not. Errors: those of decodeMembership and of the store, and level.ErrUnsupported if
// one of the changes raises the log too high.
func changesSince(log *store.RaftLog, supported level.Range) (m *membership, changes []*pb.Entry, err error) {
	state := log.State()
	if m, err = decodeMembership(state.Members, supported); err != nil {
		return nil, nil, err
	}
	special, err := log.Special(state.MembersAt, log.Last().Index)
	for i := range special {
		e := toRaft(&special[i])
		if err := checkRaise(e, supported); err != nil {
			return nil, nil, err
		}
		changes = append(changes, e)
	}
	return m, changes, err
}

// CheckLevel returns level.ErrUnsupported if this version does not support the level of the members
// in RaftState.Members. The log may have raised the level since then; Start detects that.
func CheckLevel(members []byte) error {
	_, err := decodeMembership(members, level.Supported)
	return err
}

// decodeChange returns the membership change in an entry.
func decodeChange(e *pb.Entry) (change pb.ConfChangeI, err error) {
	if e.GetType() == pb.EntryConfChange {
		cc := &pb.ConfChange{}
		err, change = proto.Unmarshal(e.GetData(), cc), cc
	} else {
		cc := &pb.ConfChangeV2{}
		err, change = proto.Unmarshal(e.GetData(), cc), cc
	}
	if err != nil {
		return nil, fmt.Errorf("replica: entry %d: %w: %w", e.GetIndex(), errMalformed, err)
	}
	return change, nil
}
