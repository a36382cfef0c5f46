package grants

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/authpb"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// openBackend returns etcd's own backend, so that these tests cover only roles.
func openBackend(t *testing.T) backend.Backend {
	t.Helper()
	be := backend.NewDefaultBackend(zap.NewNop(), filepath.Join(t.TempDir(), "db"))
	t.Cleanup(func() {
		if err := be.Close(); err != nil {
			t.Error(err)
		}
	})
	return be
}

// leases holds the leases of a test.
type leases map[lease.LeaseID]*lease.Lease

func (l leases) Lookup(id lease.LeaseID) *lease.Lease { return l[id] }

// do applies entries that must be accepted.
func do(t *testing.T, g *Grants, entries ...*pb.InternalRaftRequest) {
	t.Helper()
	for _, r := range entries {
		if _, err, ok := g.Apply(r); err != nil || !ok {
			t.Fatalf("%v: %v %v", r, ok, err)
		}
	}
}

func addRole(name string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthRoleAdd: &pb.AuthRoleAddRequest{Name: name}}
}

func permit(role string, kind authpb.Permission_Type, key, end string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthRoleGrantPermission: &pb.AuthRoleGrantPermissionRequest{
		Name: role, Perm: &authpb.Permission{PermType: kind, Key: []byte(key), RangeEnd: []byte(end)},
	}}
}

func grant(user, role string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserGrantRole: &pb.AuthUserGrantRoleRequest{User: user, Role: role}}
}

func enable() *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthEnable: &pb.AuthEnableRequest{}}
}

// populated returns grants for root, alice (reads and writes below a), bob (reads b) and carol (no
// role).
func populated(t *testing.T, be backend.Backend) *Grants {
	t.Helper()
	g := New(be)
	do(t, g, Begin(Root, 1), grant(Root, Root), Begin("alice", 2), Begin("bob", 3), Begin("carol", 4), addRole("a"), addRole("b"),
		permit("a", authpb.READWRITE, "a", "b"), permit("b", authpb.READ, "b", ""), grant("alice", "a"), grant("bob", "b"), enable())
	return g
}

func TestEntriesAreJudgedByWhoIsNamed(t *testing.T) {
	g := populated(t, openBackend(t))
	ls := leases{7: lease.NewLease(7, 10)}
	now := g.Revision()
	put := func(key string) *pb.InternalRaftRequest {
		return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte(key)}}
	}
	remove := func(key, end string, prev bool) *pb.InternalRaftRequest {
		return &pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(end), PrevKv: prev}}
	}
	compact := &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: 1}}
	leaseGrant := &pb.InternalRaftRequest{LeaseGrant: &pb.LeaseGrantRequest{ID: 9, TTL: 9}}
	revoke := &pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: 7}}
	for _, c := range []struct {
		user  string
		rev   uint64
		entry *pb.InternalRaftRequest
		want  error
	}{
		{"alice", now, put("a1"), nil},
		{"alice", now, put("b"), auth.ErrPermissionDenied},
		{"alice", now - 1, put("a1"), auth.ErrAuthOldRevision},
		{"", 0, put("a1"), auth.ErrUserEmpty},
		{"bob", now, put("b"), auth.ErrPermissionDenied},
		{"bob", now, remove("b", "", false), auth.ErrPermissionDenied},
		{"nobody granted me anything", now, put("a1"), auth.ErrPermissionDenied},
		{"alice", now, remove("a", "b", true), nil},
		{"alice", now, remove("a", "b\x00", false), auth.ErrPermissionDenied},
		{"alice", now, remove("a", "\x00", false), auth.ErrPermissionDenied},
		{Root, now, remove("\x00", "\x00", true), nil},
		{"alice", now, compact, auth.ErrPermissionDenied},
		{"carol", now, compact, auth.ErrPermissionDenied},
		{"nobody granted me anything", now, compact, auth.ErrPermissionDenied},
		{"", 0, compact, auth.ErrUserEmpty},
		{Root, now, compact, nil},
		{"carol", now, leaseGrant, nil},
		{"", 0, leaseGrant, auth.ErrUserEmpty},
		{"carol", now, revoke, nil}, // the lease has no keys
		{"", 0, revoke, auth.ErrUserEmpty},
		{"alice", now, addRole("x"), auth.ErrPermissionDenied},
		{Root, now, addRole("x"), nil},
	} {
		c.entry.Header = &pb.RequestHeader{Username: c.user, AuthRevision: c.rev}
		if err := g.Allow(c.entry, ls); !errors.Is(err, c.want) {
			t.Errorf("%q at %d: %v: %v, want %v", c.user, c.rev, c.entry, err, c.want)
		}
		c.entry.Header = nil
		if err := g.Allow(c.entry, ls); err != nil {
			t.Errorf("the server itself: %v: %v", c.entry, err)
		}
	}
	do(t, g, &pb.InternalRaftRequest{AuthDisable: &pb.AuthDisableRequest{}})
	if err := g.Allow(&pb.InternalRaftRequest{Header: &pb.RequestHeader{}, Put: &pb.PutRequest{Key: []byte("k")}}, ls); err != nil {
		t.Errorf("without access control: %v", err)
	}
}

// TestTransactionsAsEtcdJudgesThem compares the result with etcd's own check on random roles and
// transactions.
func TestTransactionsAsEtcdJudgesThem(t *testing.T) {
	lessor := lease.NewLessor(zap.NewNop(), openBackend(t), nil, lease.LessorConfig{MinLeaseTTL: 1})
	defer lessor.Stop()
	keys := []string{"a", "b", "c", "d", "e"}
	for id := range lease.LeaseID(3) {
		if _, err := lessor.Grant(id+1, 1000); err != nil {
			t.Fatal(err)
		}
		if err := lessor.Attach(id+1, []lease.LeaseItem{{Key: keys[id]}, {Key: keys[id+1]}}); err != nil {
			t.Fatal(err)
		}
	}
	denied := 0
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		key := func() []byte { return []byte(keys[rng.IntN(len(keys))]) }
		end := func() []byte { return [][]byte{nil, nil, {0}, []byte("c"), []byte("f")}[rng.IntN(5)] }
		g := New(openBackend(t))
		do(t, g, Begin(Root, 1), grant(Root, Root), Begin("u", 2), addRole("r"), grant("u", "r"), enable())
		for range 4 {
			g.Apply(&pb.InternalRaftRequest{AuthRoleGrantPermission: &pb.AuthRoleGrantPermissionRequest{
				Name: "r", Perm: &authpb.Permission{PermType: authpb.Permission_Type(rng.IntN(3)), Key: key(), RangeEnd: end()},
			}})
		}
		var txn func(depth int) *pb.TxnRequest
		ops := func(depth int) (all []*pb.RequestOp) {
			for range rng.IntN(2) {
				op := &pb.RequestOp{}
				switch rng.IntN(3 + depth) {
				case 0:
					op.Request = &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: key(), RangeEnd: end()}}
				case 1:
					op.Request = &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: key(), PrevKv: rng.IntN(3) == 0, Lease: int64(rng.IntN(5))}}
				case 2:
					op.Request = &pb.RequestOp_RequestDeleteRange{
						RequestDeleteRange: &pb.DeleteRangeRequest{Key: key(), RangeEnd: end(), PrevKv: rng.IntN(3) == 0},
					}
				default:
					op.Request = &pb.RequestOp_RequestTxn{RequestTxn: txn(depth - 1)}
				}
				all = append(all, op)
			}
			return all
		}
		txn = func(depth int) *pb.TxnRequest {
			r := &pb.TxnRequest{Success: ops(depth), Failure: ops(depth)}
			if rng.IntN(3) == 0 {
				r.Compare = []*pb.Compare{{Key: key(), RangeEnd: end()}}
			}
			return r
		}
		for range 500 {
			r := txn(2)
			who := &Info{Username: []string{"u", "u", "u", Root, ""}[rng.IntN(5)], Revision: g.Revision()}
			if who.Username == "" {
				who.Revision = 0
			}
			got, want := g.MayTxn(who, r, lessor), apply.CheckTxnAuth(g.store, who, lessor, r)
			if !errors.Is(got, want) {
				t.Fatalf("seed %d: %q: %v: %v, etcd: %v", seed, who.Username, r, got, want)
			}
			if want != nil {
				denied++
			}
		}
	}
	if denied < 500 || denied > 3500 {
		t.Errorf("%d of 4000 were denied: that says little", denied)
	}
}

// TestReplayGivesTheSame replays entries, including refused ones, on another backend, and reopens
// the first.
func TestReplayGivesTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	names := []string{"x", "y", Root}
	name := func() string { return names[rng.IntN(len(names))] }
	var entries []*pb.InternalRaftRequest
	for i := range 400 {
		r := []*pb.InternalRaftRequest{
			Begin(name(), uint64(i)), Rebind(name(), uint64(i)), addRole(name()), grant(name(), name()), grant(name(), name()), enable(),
			permit(name(), authpb.READ, name(), ""),
			{AuthUserRevokeRole: &pb.AuthUserRevokeRoleRequest{Name: name(), Role: name()}},
			{AuthRoleDelete: &pb.AuthRoleDeleteRequest{Role: name()}},
			{AuthRoleRevokePermission: &pb.AuthRoleRevokePermissionRequest{Role: name(), Key: []byte(name())}},
			End(name()),
		}[rng.IntN(11)]
		r.Header = &pb.RequestHeader{Username: name(), AuthRevision: uint64(rng.IntN(50))}
		entries = append(entries, r)
	}
	run := func(be backend.Backend) (*Grants, []string) {
		var answers []string
		g := New(be)
		for _, r := range entries {
			err := g.Allow(r, leases{})
			if err == nil {
				_, err, _ = g.Apply(r)
			}
			answers = append(answers, fmt.Sprint(err))
		}
		return g, answers
	}
	a, b := openBackend(t), openBackend(t)
	ga, one := run(a)
	gb, two := run(b)
	if !slices.Equal(one, two) {
		t.Error("the answers differ")
	}
	look := func(g *Grants) string {
		text := fmt.Sprint(g.Enabled(), g.Revision(), g.Roles())
		for _, n := range names {
			text += fmt.Sprintf(" %+v", g.Holder(n))
			r, err := g.RoleGet(&pb.AuthRoleGetRequest{Role: n})
			text += fmt.Sprint(r, err)
		}
		return text
	}
	want := look(ga)
	if got := look(gb); got != want {
		t.Errorf("replayed: %s, was %s", got, want)
	}
	if got := look(New(a)); got != want {
		t.Errorf("opened again: %s, was %s", got, want)
	}
	c := New(openBackend(t))
	c.Recover(a)
	if got := look(c); got != want {
		t.Errorf("recovered: %s, was %s", got, want)
	}
}

func TestHolders(t *testing.T) {
	be := openBackend(t)
	g := populated(t, be)
	if h := g.Holder("alice"); h == nil || h.Number != 2 || !h.Holds("a") || h.Holds(Root) {
		t.Errorf("%+v", h)
	}
	if h := g.Holder("dave"); h != nil {
		t.Errorf("%+v", h)
	}
	do(t, g, Rebind(Root, 9))
	if h := g.Holder(Root); h.Number != 9 || !h.Holds(Root) {
		t.Errorf("%+v", h)
	}
	do(t, g, End("alice"), Begin("alice", 5))
	if h := g.Holder("alice"); h.Number != 5 || len(h.Roles) > 0 {
		t.Errorf("%+v", h)
	}
	// Data of a real etcd: a password hash is not the number of a user.
	tx := schema.NewAuthBackend(zap.NewNop(), be).BatchTx()
	tx.Lock()
	tx.UnsafePutUser(&authpb.User{Name: []byte("old"), Password: []byte("$2a$10$x"), Roles: []string{"a"}})
	tx.Unlock()
	if h := g.Holder("old"); h.Number != noNumber {
		t.Errorf("%+v", h)
	}
}
