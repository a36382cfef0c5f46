package replica

import (
	"errors"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

// The levels of two versions in tests.
var (
	oneLevel  = level.Range{Oldest: 1, Newest: 1}
	twoLevels = level.Range{Oldest: 1, Newest: 2}
)

func TestRaised(t *testing.T) {
	for name, tc := range map[string]struct {
		context []byte
		to      uint64
		err     error
	}{
		"nothing":             {nil, 0, nil},
		"an address":          {appendAddress(nil, 1, "a:1"), 0, nil},
		"a level":             {encodeRaise(300), 300, nil},
		"no level":            {[]byte{0}, 0, errBadMembers},
		"the first level":     {encodeRaise(1), 0, errBadMembers},
		"more than the level": {append(encodeRaise(2), 1), 0, errBadMembers},
	} {
		if to, err := raised(&pb.ConfChangeV2{Context: tc.context}); to != tc.to || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d, %v", name, to, err)
		}
	}
	for supported, want := range map[level.Range]error{oneLevel: level.ErrUnsupported, twoLevels: nil, {Oldest: 3, Newest: 4}: nil} {
		data, err := proto.Marshal(&pb.ConfChangeV2{Context: encodeRaise(2)})
		if err != nil {
			t.Fatal(err)
		}
		if err := checkRaise(&pb.Entry{Type: pb.EntryConfChangeV2.Enum(), Data: data}, supported); !errors.Is(err, want) {
			t.Errorf("a log is raised to level 2, where %s are supported: %v", supported, err)
		}
	}
	m := joint()
	m.level = 1
	next, err := m.after(m.ConfState, &pb.ConfChangeV2{Context: encodeRaise(2)})
	if err != nil || !sameMembers(next, joint()) || m.level != 1 {
		t.Errorf("%v, %v", next, err)
	}
}

// TestUnsupportedMembership checks that nothing after an unsupported level is decoded.
func TestUnsupportedMembership(t *testing.T) {
	if _, err := decodeMembership([]byte{leveledVersion, 2, 0xff}, oneLevel); !errors.Is(err, level.ErrUnsupported) {
		t.Errorf("of a folder: %v", err)
	}
	m := joint()
	payload, err := proto.Marshal(&pb.Message{
		Type: pb.MsgSnap.Enum(), From: new(uint64(1)), To: new(uint64(2)),
		Snapshot: &pb.Snapshot{Data: m.encode(codec.AppendUvarints(nil, 1, 1)), Metadata: &pb.SnapshotMetadata{ConfState: m.ConfState, Index: new(uint64(9)), Term: new(uint64(1))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := &incoming{from: 1, self: 2, levels: oneLevel}
	if err := in.begin(payload); !errors.Is(err, level.ErrUnsupported) || in.staged != nil {
		t.Errorf("of a snapshot: %v", err)
	}
}

// TestJoinAtLevel checks that a node that does not support the level of the log cannot join.
func TestJoinAtLevel(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		for _, levels := range []level.Range{{}, {Oldest: level.Supported.Newest + 1, Newest: level.Supported.Newest + 2}} {
			done := make(chan error, 1)
			ticket := Ticket{ID: [16]byte{1}, Key: [32]byte{1}, Until: time.Now().Add(time.Hour), Levels: levels}
			tm.replicas[0].Join("a:1", ticket, func(_ uint64, _ map[uint64]string, err error) { done <- err })
			if err := <-done; !errors.Is(err, level.ErrUnsupported) {
				t.Errorf("%v: %v", levels, err)
			}
		}
	})
}

// install restarts a node of a simulation with another version.
func (n *simNode) install(levels level.Range) {
	n.levels = levels
	n.crash(0)
}

// begin starts all nodes with a version of level 1, without faults.
func (s *sim) begin() {
	s.calm = true
	for _, n := range s.nodes {
		n.install(oneLevel)
	}
}

// until advances the simulation until a condition holds.
func (s *sim) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if s.step(); s.wrong != nil {
			t.Fatal(s.wrong)
		}
		if ok() {
			return
		}
	}
	t.Fatalf("not so in time: %s", what)
}

// at reports whether all members of the cluster are up, with their logs at the given level.
func (s *sim) at(level uint64) bool {
	for _, n := range s.nodes[:s.joined] {
		if n.core == nil || n.core.disk.members.level != level {
			return false
		}
	}
	return s.leader() != nil
}

// TestGate upgrades a cluster node by node, with one downgrade. It checks that the level is raised
// only once all nodes support it, and that a version that does not support the level then refuses
// to start.
func TestGate(t *testing.T) {
	err := inBubble(t, 1, noBug, func(s *sim) {
		s.begin()
		for i, n := range s.nodes[:s.joined] {
			for _, levels := range []level.Range{twoLevels, oneLevel, twoLevels} {
				s.until(t, "all nodes are up", func() bool { return s.at(1) })
				n.install(levels)
			}
			if i < s.joined-1 {
				for range 200 {
					if s.step(); s.nodes[0].core != nil && s.nodes[0].core.disk.members.level != 1 {
						t.Fatalf("with %d of %d nodes: %v", i+1, s.joined, s.nodes[0].core.disk.members)
					}
				}
			}
		}
		s.until(t, "the level is raised", func() bool { return s.at(2) })
		s.until(t, "what level 1 does not know is logged", func() bool { return s.noted > 0 })
		n := s.nodes[0]
		n.crash(time.Hour)
		n.levels = oneLevel
		if n.start(); n.core != nil || !errors.Is(n.refused, level.ErrUnsupported) {
			t.Fatalf("a version that does not support the level starts: %v", n.refused)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGateOfOneThatGoesBack checks a downgrade that the leader does not know of yet. The node stops
// before an entry that it does not know enters its log.
func TestGateOfOneThatGoesBack(t *testing.T) {
	err := inBubble(t, 1, noBug, func(s *sim) {
		s.begin()
		s.until(t, "all nodes are up", func() bool { return s.at(1) })
		back := s.nodes[s.leader().id%simFounder]
		s.believed = func(*simNode) uint64 { return 2 }
		for _, n := range s.nodes {
			if n != back {
				n.install(twoLevels)
			}
		}
		s.until(t, "the node stops", func() bool {
			if s.leader() == back { // it raises no level
				back.core.transferTo(uint64(back.id%simFounder + 1))
				back.core.work()
			}
			return errors.Is(back.refused, level.ErrUnsupported)
		})
		s.until(t, "the level is raised", func() bool { return s.at(2) })
	})
	if err != nil {
		t.Fatal(err)
	}
}
