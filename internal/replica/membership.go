package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	// membershipVersion is the first byte of an encoded membership at level 1. leveledVersion is
	// the first byte of one followed by its level. Other values are for future versions.
	membershipVersion = 1
	leveledVersion    = 2
	// maxAddress is the maximum number of bytes of an address: a DNS name and a port.
	maxAddress = 253 + len(":65535")
)

var (
	errBadMembers = errors.New("replica: malformed members")
	errOrder      = errors.New("ids are not ascending")
	errLength     = errors.New("an address is empty or too long")
)

// membership is the members of the cluster after an entry of the log. It is immutable: a change
// creates a new one.
type membership struct {
	*pb.ConfState
	// addresses are host:port of all members or, on a node that has not joined yet, of the nodes
	// that may contact it.
	addresses map[uint64]string
	// highest is the highest id that a member ever had.
	highest uint64
	level   uint64 // of the log after the entry
	used    []use  // tickets that may still be valid
}

// Founding returns the state of the first node of a cluster, its only voter. The cluster begins
// with the content of its folder, so the log is at the newest level that this version supports.
func Founding(cluster, node uint64, address string) store.RaftState {
	return FoundingWith(cluster, node, map[uint64]string{node: address})
}

// FoundingWith is like Founding, for one of several voters whose folders have the same content. All
// of them must get the same addresses.
func FoundingWith(cluster, node uint64, addresses map[uint64]string) store.RaftState {
	voters := slices.Sorted(maps.Keys(addresses))
	m := membership{ConfState: &pb.ConfState{Voters: voters}, addresses: addresses, highest: slices.Max(voters), level: level.Supported.Newest}
	return store.RaftState{
		Cluster: cluster, Node: node, Term: 1, Commit: 1, First: store.EntryID{Index: 1, Term: 1},
		Members: m.encode(nil), MembersAt: 1,
	}
}

// Joining returns the state of a node that a leader has added (Replica.Add), for an empty folder.
// The addresses are those of the other members, which may contact it. The leader sends everything
// else. Until then its level is the oldest that this version supports.
func Joining(cluster, node uint64, addresses map[uint64]string) store.RaftState {
	m := membership{ConfState: &pb.ConfState{}, addresses: addresses, level: level.Supported.Oldest}
	return store.RaftState{Cluster: cluster, Node: node, Members: m.encode(nil)}
}

// Members is the membership of a cluster as one of its nodes knows it.
type Members struct {
	Voters, Learners []uint64
	Addresses        map[uint64]string
}

// MembersOf returns the members in the state of a log, which may have later changes. Errors:
// level.ErrUnsupported, also if a later change raises the level too high, those of the store, and
// those for states that no version of this package wrote.
func MembersOf(log *store.RaftLog) (Members, error) {
	m, _, err := changesSince(log, level.Supported)
	if err != nil {
		return Members{}, err
	}
	return Members{m.Voters, m.Learners, m.addresses}, nil
}

// lists returns the nodes by role, in the order of the encoding.
func (m *membership) lists() []*[]uint64 {
	return []*[]uint64{&m.Voters, &m.Learners, &m.VotersOutgoing, &m.LearnersNext}
}

// needed returns the voters of which a majority is required. During a change, majorities of both
// the old and the new voters are required. needed then returns the old voters, so that nothing
// relies on a new voter while the failure of an old one would stop the cluster.
func (m *membership) needed() []uint64 {
	if old := m.GetVotersOutgoing(); len(old) > 0 {
		return old
	}
	return m.GetVoters()
}

// nodes returns the members, ascending.
func (m *membership) nodes() (nodes []uint64) {
	for _, list := range m.lists() {
		nodes = append(nodes, *list...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// removed reports whether a node was a member and is none any more.
func (m *membership) removed(node uint64) bool {
	nodes := m.nodes()
	return len(nodes) > 0 && node <= m.highest && !slices.Contains(nodes, node)
}

// after returns the membership after a change in the log that resulted in Raft's configuration
// conf.
func (m *membership) after(conf *pb.ConfState, change *pb.ConfChangeV2) (*membership, error) {
	to, err := raised(change)
	if err != nil {
		return nil, err
	}
	next := &membership{ConfState: conf, addresses: maps.Clone(m.addresses), highest: m.highest, level: max(m.level, to), used: m.used}
	if context := change.GetContext(); to == 0 && len(context) > 0 {
		r := codec.NewReader(context)
		node, address := readAddress(&r)
		if r.Len() > 0 {
			next.takeTicket(node, &r)
		}
		if err := r.End(); err != nil {
			return nil, fmt.Errorf("%w: %w", errBadMembers, err)
		}
		next.addresses[node] = address
	}
	nodes := next.nodes()
	maps.DeleteFunc(next.addresses, func(node uint64, _ string) bool { return !slices.Contains(nodes, node) })
	next.highest = max(next.highest, slices.Max(nodes))
	return next, next.check()
}

// check rejects inconsistent members.
func (m *membership) check() error {
	nodes := m.nodes()
	switch {
	case len(nodes) == 0:
		return nil
	case nodes[len(nodes)-1] > m.highest:
		return fmt.Errorf("%w: node %d is a member, the highest that ever was is %d", errBadMembers, nodes[len(nodes)-1], m.highest)
	case !slices.Equal(nodes, slices.Sorted(maps.Keys(m.addresses))):
		return fmt.Errorf("%w: %d, their addresses %v", errBadMembers, nodes, m.addresses)
	}
	return nil
}

// encode appends the encoded membership, see docs/format/log.md.
func (m *membership) encode(dst []byte) []byte {
	if m.level == level.First {
		dst = append(dst, membershipVersion)
	} else {
		dst = binary.AppendUvarint(append(dst, leveledVersion), m.level)
	}
	dst = binary.AppendUvarint(dst, m.highest)
	for _, list := range m.lists() {
		dst = binary.AppendUvarint(dst, uint64(len(*list)))
		dst = codec.AppendUvarints(dst, *list...)
	}
	leaves := byte(0)
	if m.GetAutoLeave() {
		leaves = 1
	}
	dst = binary.AppendUvarint(append(dst, leaves), uint64(len(m.addresses)))
	for _, node := range slices.Sorted(maps.Keys(m.addresses)) {
		dst = appendAddress(dst, node, m.addresses[node])
	}
	return m.appendUses(dst)
}

// decodeMembership decodes a membership. Errors: errBadMembers; level.ErrUnsupported if the level
// is not in supported.
func decodeMembership(b []byte, supported level.Range) (*membership, error) {
	m := &membership{ConfState: &pb.ConfState{}, addresses: map[uint64]string{}, level: level.First}
	r := codec.NewReader(b)
	switch v := r.Uint8(); v {
	case membershipVersion:
	case leveledVersion:
		if m.level = r.Uvarint(); m.level <= level.First {
			r.Fail(fmt.Errorf("level %d", m.level))
		}
	default:
		r.Fail(fmt.Errorf("version %d", v))
	}
	if err := supported.Check(m.level); err != nil && r.Err() == nil {
		return nil, err // a newer version may have another format after the level
	}
	m.highest = r.Uvarint()
	for _, list := range m.lists() {
		*list = readNodes(&r)
	}
	leaves := r.Uint8()
	if leaves > 1 {
		r.Fail(fmt.Errorf("%d where a flag is", leaves))
	}
	m.AutoLeave = new(leaves == 1)
	last := uint64(0)
	for range r.Count(minAddress) {
		node, address := readAddress(&r)
		if node <= last {
			r.Fail(errOrder)
		}
		last, m.addresses[node] = node, address
	}
	m.readUses(&r)
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadMembers, err)
	}
	return m, m.check()
}

// readNodes reads ascending, nonzero ids.
func readNodes(r *codec.Reader) (nodes []uint64) {
	last := uint64(0)
	for range r.Count(1) {
		node := r.Uvarint()
		if node <= last {
			r.Fail(errOrder)
		}
		nodes, last = append(nodes, node), node
	}
	return nodes
}

// minAddress is the minimum size of an encoded address: node, length, one byte.
const minAddress = 3

// appendAddress appends the address of a node. Membership changes use it as well.
func appendAddress(dst []byte, node uint64, address string) []byte {
	return codec.AppendPrefixed(binary.AppendUvarint(dst, node), address)
}

func readAddress(r *codec.Reader) (node uint64, address string) {
	node, address = r.Uvarint(), r.String()
	if len(address) == 0 || len(address) > maxAddress {
		r.Fail(errLength)
	}
	return node, address
}
