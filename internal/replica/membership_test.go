package replica

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

// testAddress returns the address of a node in a test.
func testAddress(node int) string { return fmt.Sprintf("node%d:7000", node) }

// testAddresses returns the addresses of nodes 1 to count.
func testAddresses(count int) map[uint64]string {
	addresses := map[uint64]string{}
	for node := 1; node <= count; node++ {
		addresses[uint64(node)] = testAddress(node)
	}
	return addresses
}

func add(r *Replica, node uint64, address string) error {
	done := make(chan error, 1)
	r.Add(node, address, func(err error) { done <- err })
	return <-done
}

func remove(r *Replica, node uint64) error {
	done := make(chan error, 1)
	r.Remove(node, func(err error) { done <- err })
	return <-done
}

// joint returns a membership with all fields set.
func joint() *membership {
	return &membership{
		ConfState: &pb.ConfState{
			Voters: []uint64{1, 2, 5}, VotersOutgoing: []uint64{1, 300}, Learners: []uint64{4}, LearnersNext: []uint64{300}, AutoLeave: new(true),
		},
		addresses: map[uint64]string{1: "a:1", 2: "b:2", 4: "[::1]:7000", 5: "e:5", 300: strings.Repeat("x", maxAddress)},
		highest:   1000,
		level:     2,
		used:      []use{{300, [16]byte{1, 2}, [32]byte{3, 4}, 5000}, {999, [16]byte{5}, [32]byte{6}, 7000}},
	}
}

func (m *membership) String() string {
	return fmt.Sprintf("%v; addresses %v; highest %d; level %d", m.ConfState, m.addresses, m.highest, m.level)
}

func sameMembers(a, b *membership) bool {
	return a.Equivalent(b.ConfState) == nil && maps.Equal(a.addresses, b.addresses) && a.highest == b.highest && a.level == b.level && slices.Equal(a.used, b.used)
}

func TestMembershipCodec(t *testing.T) {
	none := &membership{ConfState: &pb.ConfState{}, addresses: testAddresses(2), level: 1}
	for _, m := range []*membership{joint(), none} {
		b := m.encode(nil)
		if got, err := decodeMembership(b, twoLevels); err != nil || !sameMembers(got, m) {
			t.Fatalf("%v became %v, %v", m, got, err)
		}
		for cut := range b {
			if _, err := decodeMembership(b[:cut], twoLevels); !errors.Is(err, errBadMembers) {
				t.Fatalf("%d of %d bytes: %v", cut, len(b), err)
			}
		}
	}
}

// TestMembershipBytes pins the encoding that docs/format/log.md describes.
func TestMembershipBytes(t *testing.T) {
	m := &membership{
		ConfState: &pb.ConfState{Voters: []uint64{1, 200}, Learners: []uint64{3}},
		addresses: map[uint64]string{1: "a:1", 3: "c:3", 200: "b:2"}, highest: 201, level: 1,
		used: []use{{3, [16]byte{0: 'i', 15: 'd'}, [32]byte{0: 'k', 31: 'y'}, 200}},
	}
	want := "\xc9\x01" + "\x02\x01\xc8\x01" + "\x01\x03" + "\x00\x00\x00" + "\x03\x01\x03a:1\x03\x03c:3\xc8\x01\x03b:2" +
		"\x01\x03" + "i" + strings.Repeat("\x00", 14) + "d" + "k" + strings.Repeat("\x00", 30) + "y" + "\xc8\x01"
	if got := m.encode(nil); string(got) != "\x01"+want {
		t.Fatalf("%q, want %q", got, want)
	}
	m.level = 2
	if got := m.encode(nil); string(got) != "\x02\x02"+want {
		t.Fatalf("at level 2: %q, want %q", got, want)
	}
}

func TestMalformedMembership(t *testing.T) {
	for name, spoil := range map[string]func(*membership){
		"a member without an address":   func(m *membership) { delete(m.addresses, 4) },
		"an address of no member":       func(m *membership) { m.addresses[6] = "f:6" },
		"a member above the highest id": func(m *membership) { m.highest = 299 },
		"node 0":                        func(m *membership) { m.Voters[0], m.addresses[0] = 0, "z:0" },
		"nodes out of order":            func(m *membership) { slices.Reverse(m.Voters) },
		"a node twice":                  func(m *membership) { m.Learners = []uint64{4, 4} },
		"a ticket of a node above it":   func(m *membership) { m.used[0].node = 1001 },
		"a ticket of no node":           func(m *membership) { m.used[0].node = 0 },
		"an empty address":              func(m *membership) { m.addresses[4] = "" },
		"an address that is too long":   func(m *membership) { m.addresses[300] += "x" },
	} {
		m := joint()
		spoil(m)
		if _, err := decodeMembership(m.encode(nil), twoLevels); !errors.Is(err, errBadMembers) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := joint().encode(nil)
	for name, b := range map[string][]byte{
		"a newer version": append([]byte{leveledVersion + 1}, whole[1:]...),
		"level 1, said":   append([]byte{leveledVersion, 1}, whole[2:]...),
		"level 0":         append([]byte{leveledVersion, 0}, whole[2:]...),
		"bytes left":      append(slices.Clone(whole), 0),
		"another flag":    bytes.Replace(whole, []byte("\x01\x05\x01\x03a:1"), []byte("\x02\x05\x01\x03a:1"), 1),
		"an address twice": append([]byte{membershipVersion, 0, 0, 0, 0, 0, 0, 2},
			appendAddress(appendAddress(nil, 1, "a:1"), 1, "b:1")...),
	} {
		if _, err := decodeMembership(b, twoLevels); !errors.Is(err, errBadMembers) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeMembership(f *testing.F) {
	f.Add(joint().encode(nil))
	f.Add(Joining(1, 4, testAddresses(3)).Members)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMembership(b, twoLevels)
		if err != nil {
			return
		}
		if again, err := decodeMembership(m.encode(nil), twoLevels); err != nil || !sameMembers(again, m) {
			t.Fatalf("%v became %v, %v", m, again, err)
		}
	})
}

func TestMembershipAfter(t *testing.T) {
	m := joint()
	conf := &pb.ConfState{Voters: []uint64{1, 2, 5}, Learners: []uint64{4, 1001}}
	next, err := m.after(conf, &pb.ConfChangeV2{Context: appendAddress(nil, 1001, "new:1")})
	if err != nil || next.highest != 1001 || next.level != 2 {
		t.Fatalf("%v, %v", next, err)
	}
	if want := map[uint64]string{1: "a:1", 2: "b:2", 4: "[::1]:7000", 5: "e:5", 1001: "new:1"}; !maps.Equal(next.addresses, want) {
		t.Fatalf("%v, want %v", next.addresses, want)
	}
	if !sameMembers(m, joint()) {
		t.Fatalf("what was before became %v", m)
	}
	for name, context := range map[string][]byte{
		"no address": nil, "that of another node": appendAddress(nil, 1002, "other:1"), "malformed": {1},
		"a ticket that is cut off": append(appendAddress(nil, 1001, "new:1"), 1, 2),
	} {
		if _, err := m.after(conf, &pb.ConfChangeV2{Context: context}); !errors.Is(err, errBadMembers) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTickets checks that a ticket admits one node, which may ask again, also with another ticket,
// while it is a learner. Expired tickets are forgotten when a later node joins.
func TestTickets(t *testing.T) {
	start := time.Unix(1e9, 0)
	ticket := func(id, key byte, until time.Duration) Ticket {
		return Ticket{ID: [16]byte{id}, Key: [32]byte{key}, Until: start.Add(until), Levels: twoLevels}
	}
	m := &membership{ConfState: &pb.ConfState{Voters: []uint64{1}}, addresses: testAddresses(1), highest: 1, level: 1}
	joins := func(tk Ticket, at time.Duration) {
		t.Helper()
		node := m.highest + 1
		conf := &pb.ConfState{Voters: []uint64{1}, Learners: append(slices.Clone(m.Learners), node)}
		next, err := m.after(conf, &pb.ConfChangeV2{Context: appendTicket(appendAddress(nil, node, "n:1"), tk, start.Add(at))})
		if err != nil {
			t.Fatal(err)
		}
		m = next
	}
	asks := func(what string, tk Ticket, want uint64, wantErr error) {
		t.Helper()
		if node, err := m.admitted(tk); node != want || !errors.Is(err, wantErr) {
			t.Errorf("%s: node %d, %v", what, node, err)
		}
	}
	one, two := ticket(1, 1, time.Hour), ticket(2, 2, 2*time.Hour)
	asks("a new one", one, 0, nil)
	joins(one, 0)
	asks("the same again", one, 2, nil)
	asks("another with the ticket", ticket(1, 9, time.Hour), 0, ErrTicketUsed)
	asks("the same with a new ticket", ticket(3, 1, time.Hour), 2, nil)
	joins(two, time.Minute)
	asks("the first again", one, 2, nil)
	asks("the second again", two, 3, nil)
	asks("the second with the ticket of the first", ticket(1, 2, time.Hour), 3, nil)

	conf := &pb.ConfState{Voters: []uint64{1}, Learners: []uint64{3}}
	gone, err := m.after(conf, &pb.ConfChangeV2{})
	if err != nil {
		t.Fatal(err)
	}
	voter, err := m.after(&pb.ConfState{Voters: []uint64{1, 2, 3}}, &pb.ConfChangeV2{})
	if err != nil {
		t.Fatal(err)
	}
	before := m
	m = voter
	asks("one that has a vote", one, 0, ErrTicketUsed)
	asks("one that has a vote, with a new ticket", ticket(3, 1, time.Hour), 0, nil)
	m = gone
	asks("one that was removed", one, 0, ErrTicketUsed)
	asks("one that was removed, with a new ticket", ticket(3, 1, time.Hour), 0, nil)
	m = before

	joins(ticket(4, 4, 48*time.Hour), time.Hour+ticketKept)
	if len(m.used) != 3 {
		t.Errorf("%d tickets are known", len(m.used))
	}
	joins(ticket(5, 5, 48*time.Hour), time.Hour+ticketKept+time.Second)
	if len(m.used) != 3 || m.used[0].id != two.ID || len(before.used) != 2 {
		t.Errorf("%v are known, of %v", m.used, before.used)
	}
}

// TestSnapshotMembers checks that a snapshot with invalid members is refused before anything is
// staged.
func TestSnapshotMembers(t *testing.T) {
	m := joint()
	first := codec.AppendUvarints(nil, 1, 1)
	other := &membership{ConfState: &pb.ConfState{Voters: []uint64{1}}, addresses: testAddresses(1), highest: 1, level: 1}
	for name, data := range map[string][]byte{
		"nothing": nil, "no members": first, "cut off": m.encode(first)[:20], "others than Raft's": other.encode(first),
	} {
		payload, err := proto.Marshal(&pb.Message{
			Type: pb.MsgSnap.Enum(), From: new(uint64(1)), To: new(uint64(2)),
			Snapshot: &pb.Snapshot{Data: data, Metadata: &pb.SnapshotMetadata{ConfState: m.ConfState, Index: new(uint64(9)), Term: new(uint64(1))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		in := &incoming{from: 1, self: 2, levels: twoLevels}
		if err := in.begin(payload); !errors.Is(err, errBadChunk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFounding(t *testing.T) {
	st := Founding(7, 5, "e:5")
	m, err := decodeMembership(st.Members, level.Supported)
	if err != nil || m.highest != 5 || !slices.Equal(m.GetVoters(), []uint64{5}) || m.addresses[5] != "e:5" {
		t.Fatalf("%v, %v", m, err)
	}
	if st.Cluster != 7 || st.Node != 5 || st.Term != 1 || st.Commit != 1 || st.First != (store.EntryID{Index: 1, Term: 1}) || st.MembersAt != 1 {
		t.Fatalf("%+v", st)
	}
}

// TestAdd checks the rules of Replica.Add on a cluster with one voter. Nodes 2 and later do not
// exist, so they stay learners.
func TestAdd(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		r := tm.replicas[0]
		// settle waits until all requested changes are applied.
		settle := func() Status {
			tm.pass(2 * TickInterval)
			return r.Status()
		}
		addresses := testAddresses(1)
		tm.knows(addresses, 1, 0)
		for _, address := range []string{"", "host", "host:", ":7000", strings.Repeat("x", maxAddress) + ":1"} {
			if err := add(r, 2, address); !errors.Is(err, ErrAddress) {
				t.Errorf("%q: %v", address, err)
			}
		}
		if err := add(r, 0, "zero:1"); !errors.Is(err, ErrUsed) {
			t.Fatal(err)
		}

		first, second := make(chan error, 1), make(chan error, 1)
		r.Add(3, testAddress(3), func(err error) { first <- err })
		r.Add(4, testAddress(4), func(err error) { second <- err })
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if err := <-second; !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
		addresses[3] = testAddress(3)
		last := settle().Last
		tm.knows(addresses, 3, 0)
		if err := add(r, 2, testAddress(2)); !errors.Is(err, ErrUsed) {
			t.Fatalf("an id below the highest: %v", err)
		}
		if err := add(r, 3, testAddress(3)); err != nil {
			t.Fatal(err)
		}
		if now := settle().Last; now != last {
			t.Fatalf("%d entries for an address that stays", now-last)
		}

		for _, node := range []uint64{1, 3} {
			addresses[node] = fmt.Sprintf("moved%d:7000", node)
			if err := add(r, node, addresses[node]); err != nil {
				t.Fatal(err)
			}
			settle()
		}
		tm.knows(addresses, 3, 0)
		if st := r.Status(); !slices.Equal(st.Voters, []uint64{1}) || !slices.Equal(st.Learners, []uint64{3}) {
			t.Fatalf("status %+v", st)
		}

		if err := remove(r, 3); err != nil {
			t.Fatal(err)
		}
		settle()
		delete(addresses, 3)
		tm.knows(addresses, 3, 0)
		if err := add(r, 3, testAddress(3)); !errors.Is(err, ErrUsed) {
			t.Fatalf("an id of a node that has left: %v", err)
		}

		r.Close()
		if err := tm.stores[0].Close(); err != nil {
			t.Fatal(err)
		}
		tm.start(0)
		tm.knows(addresses, 3, 0)
	})
}

// TestAddWaitsForLeader checks that one member may be added right after another, although the
// followers have the entry of the first one on disk before the leader.
func TestAddWaitsForLeader(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		r := tm.replicas[leader]
		release := tm.disks[leader].hold()
		added := make(chan error, 1)
		r.Add(4, testAddress(4), func(err error) { added <- err })
		tm.pass(2 * TickInterval)
		select {
		case err := <-added:
			t.Errorf("the leader has not applied the change, but says %v", err)
			added <- err
		default:
		}
		release()
		if err := <-added; err != nil {
			t.Fatal(err)
		}
		if err := add(r, 5, testAddress(5)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestStatusHasChange checks that the status has a change of the members as soon as it is done.
func TestStatusHasChange(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		r := tm.replicas[0]
		if err := add(r, 2, testAddress(2)); err != nil {
			t.Fatal(err)
		}
		shows := func(nodes ...uint64) {
			t.Helper()
			if got := slices.Sorted(maps.Keys(r.Status().Addresses)); !slices.Equal(got, nodes) {
				t.Errorf("the status has the nodes %d, want %d", got, nodes)
			}
		}
		shows(1, 2)
		joined := make(chan error, 1)
		ticket := Ticket{ID: [16]byte{1}, Until: time.Now().Add(time.Hour), Levels: level.Supported}
		r.Join(testAddress(3), ticket, func(_ uint64, _ map[uint64]string, err error) { joined <- err })
		if err := <-joined; err != nil {
			t.Fatal(err)
		}
		shows(1, 2, 3)
		if err := remove(r, 2); err != nil {
			t.Fatal(err)
		}
		shows(1, 3)
	})
}

// TestTicketOfTwo checks that only one of two nodes with the same ticket joins. It may ask again,
// also with another address.
func TestTicketOfTwo(t *testing.T) {
	bubble(t, 1, func(t *testing.T, tm *team) {
		tm.leader(-1)
		r := tm.replicas[0]
		type answer struct {
			node      uint64
			addresses map[uint64]string
			err       error
		}
		join := func(address string, key byte) chan answer {
			a := make(chan answer, 1)
			r.Join(address, Ticket{ID: [16]byte{1}, Key: [32]byte{key}, Until: time.Now().Add(time.Hour), Levels: level.Supported}, func(node uint64, addresses map[uint64]string, err error) {
				a <- answer{node, addresses, err}
			})
			return a
		}
		first, second := join("a:1", 1), join("b:1", 2)
		if a := <-first; a.err != nil || a.node != 2 || a.addresses[2] != "a:1" {
			t.Errorf("%+v", a)
		}
		if a := <-second; !errors.Is(a.err, ErrBusy) {
			t.Errorf("%+v", a)
		}
		tm.pass(2 * TickInterval)
		if a := <-join("b:1", 2); !errors.Is(a.err, ErrTicketUsed) {
			t.Errorf("%+v", a)
		}
		for _, address := range []string{"a:1", "c:1"} {
			if a := <-join(address, 1); a.err != nil || a.node != 2 || a.addresses[2] != address {
				t.Errorf("%s: %+v", address, a)
			}
			tm.pass(2 * TickInterval)
		}
		if s := r.Status(); len(s.Learners) != 1 || s.Addresses[2] != "c:1" {
			t.Errorf("%+v", s)
		}
	})
}

// TestRemoveKeepsMajority checks that a node that is up cannot be removed if the others that are up
// would be no majority, and that those that are down can.
func TestRemoveKeepsMajority(t *testing.T) {
	for name, spoil := range map[string]func(tm *team, node int) (mend func()){
		"down": func(tm *team, node int) func() {
			tm.isolate(node, true)
			return func() {}
		},
		"stuck": func(tm *team, node int) func() { return tm.disks[node].hold() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 5, func(t *testing.T, tm *team) {
				leader := tm.leader(-1)
				m, r := tm.machines[leader], tm.replicas[leader]
				for _, node := range []int{1, 2} {
					defer spoil(tm, (leader+node)%5)()
				}
				put := func() {
					t.Helper()
					if err := <-m.put("text"); err != nil {
						t.Fatal(err)
					}
				}
				put()
				tm.pass(KeepsUpWithin + time.Second)
				for _, node := range []int{leader, (leader + 3) % 5} {
					if err := remove(r, uint64(node+1)); !errors.Is(err, ErrNoMajority) {
						t.Errorf("node %d: %v", node+1, err)
					}
				}
				if err := remove(r, uint64((leader+1)%5+1)); err != nil {
					t.Errorf("a node of no use: %v", err)
				}
				put()
			})
		})
	}
}
