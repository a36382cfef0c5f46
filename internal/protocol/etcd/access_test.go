package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/authpb"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// controlled returns a node with access control, with root, carol without a role, reader and writer
// of the keys from a to b, and a user with both roles.
func controlled(t *testing.T) *node {
	t.Helper()
	n := newNode(t, Options{Shared: protocol.Shared{LoginDelay: -1}})
	r := &rig{n.Server, t}
	for _, u := range []string{"carol", "reader", "writer", "both"} {
		r.add(u, "p")
	}
	for role, kind := range map[string]authpb.Permission_Type{"r": authpb.READ, "w": authpb.WRITE} {
		r.record(addRole(role), &pb.InternalRaftRequest{AuthRoleGrantPermission: &pb.AuthRoleGrantPermissionRequest{
			Name: role, Perm: &authpb.Permission{PermType: kind, Key: []byte("a"), RangeEnd: []byte("b")},
		}})
	}
	r.grant("reader", "r")
	r.grant("writer", "w")
	r.grant("both", "r")
	r.grant("both", "w")
	r.enable()
	return n
}

// dialAs returns a client that logs in, and logs in again when necessary.
func dialAs(t *testing.T, addr, user, password string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, DialTimeout: 5 * time.Second, Logger: zap.NewNop(), Username: user, Password: password,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// plain returns a connection that does nothing automatically, such as logging in again.
func plain(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// rpc is a call with the users who may make it.
type rpc struct {
	name    string
	call    func(ctx context.Context, cc grpc.ClientConnInterface) error
	allowed []string // of carol, reader, writer, both, root; * is all of them, ** also an anonymous caller and one with a bad token
}

func (r rpc) isFor(user string) bool {
	groups := []string{user, "*", "**"}
	if user == "" || user == badToken {
		groups = groups[2:]
	}
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(r.allowed, g) })
}

// badToken is a caller with an invalid token.
const badToken = "bad token"

// once returns a call of a unary method.
func once[Q, R any](client func(grpc.ClientConnInterface) func(context.Context, *Q, ...grpc.CallOption) (*R, error), q *Q) func(context.Context, grpc.ClientConnInterface) error {
	return func(ctx context.Context, cc grpc.ClientConnInterface) error {
		_, err := client(cc)(ctx, q)
		return err
	}
}

func rpcs() []rpc {
	type cc = grpc.ClientConnInterface
	kv := func(ops ...*pb.RequestOp) *pb.TxnRequest { return &pb.TxnRequest{Success: ops} }
	a, b := []byte("a"), []byte("b")
	put := func(r *pb.PutRequest) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r}}
	}
	get := func(r *pb.RangeRequest) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}}
	}
	rangeOf := func(c cc) func(context.Context, *pb.RangeRequest, ...grpc.CallOption) (*pb.RangeResponse, error) {
		return pb.NewKVClient(c).Range
	}
	putOf := func(c cc) func(context.Context, *pb.PutRequest, ...grpc.CallOption) (*pb.PutResponse, error) {
		return pb.NewKVClient(c).Put
	}
	deleteOf := func(c cc) func(context.Context, *pb.DeleteRangeRequest, ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
		return pb.NewKVClient(c).DeleteRange
	}
	txnOf := func(c cc) func(context.Context, *pb.TxnRequest, ...grpc.CallOption) (*pb.TxnResponse, error) {
		return pb.NewKVClient(c).Txn
	}
	root := []string{grants.Root}
	return []rpc{
		{"Range", once(rangeOf, &pb.RangeRequest{Key: a}), []string{"reader", "both", "root"}},
		{"Range serializable", once(rangeOf, &pb.RangeRequest{Key: a, RangeEnd: b, Serializable: true}), []string{"reader", "both", "root"}},
		{"Range of more", once(rangeOf, &pb.RangeRequest{Key: a, RangeEnd: []byte{0}}), root},
		{"Put", once(putOf, &pb.PutRequest{Key: a}), []string{"writer", "both", "root"}},
		{"Put that shows the old value", once(putOf, &pb.PutRequest{Key: a, PrevKv: true}), []string{"both", "root"}},
		{"Put of another", once(putOf, &pb.PutRequest{Key: b}), root},
		{"DeleteRange", once(deleteOf, &pb.DeleteRangeRequest{Key: []byte("aa")}), []string{"writer", "both", "root"}},
		{"DeleteRange that shows", once(deleteOf, &pb.DeleteRangeRequest{Key: []byte("aa"), PrevKv: true}), []string{"both", "root"}},
		{"DeleteRange of more", once(deleteOf, &pb.DeleteRangeRequest{Key: a, RangeEnd: []byte("bb")}), root},
		{"Txn that reads", once(txnOf, kv(get(&pb.RangeRequest{Key: a}))), []string{"reader", "both", "root"}},
		{"Txn that writes", once(txnOf, kv(put(&pb.PutRequest{Key: a}))), []string{"writer", "both", "root"}},
		{"Txn that compares", once(txnOf, &pb.TxnRequest{
			Compare: []*pb.Compare{{Key: a, Target: pb.Compare_VERSION}}, Failure: []*pb.RequestOp{put(&pb.PutRequest{Key: a})},
		}), []string{"both", "root"}},
		{"Txn in a Txn", once(txnOf, kv(&pb.RequestOp{Request: &pb.RequestOp_RequestTxn{
			RequestTxn: &pb.TxnRequest{Failure: []*pb.RequestOp{put(&pb.PutRequest{Key: b})}},
		}})), root},
		{"Compact", func(ctx context.Context, c cc) error {
			_, err := pb.NewKVClient(c).Compact(ctx, &pb.CompactionRequest{Revision: 1})
			if errors.Is(rpctypes.Error(err), rpctypes.ErrCompacted) { // root compacted it before
				return nil
			}
			return err
		}, root},
		{"Watch", watchOnce(a, nil), []string{"reader", "both", "root"}},
		{"Watch of more", watchOnce([]byte{0}, []byte{0}), root},
		{"LeaseGrant", func(ctx context.Context, c cc) error {
			_, err := pb.NewLeaseClient(c).LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: 60})
			return err
		}, []string{"*"}},
		{"LeaseRevoke", func(ctx context.Context, c cc) error {
			_, err := pb.NewLeaseClient(c).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: 7})
			return err
		}, root},
		{"LeaseKeepAlive", func(ctx context.Context, c cc) error {
			s, err := pb.NewLeaseClient(c).LeaseKeepAlive(ctx)
			if err != nil {
				return err
			}
			_ = s.Send(&pb.LeaseKeepAliveRequest{ID: 8}) // Recv returns the error
			_, err = s.Recv()
			return err
		}, []string{"writer", "both", "root"}},
		{"LeaseTimeToLive", func(ctx context.Context, c cc) error {
			_, err := pb.NewLeaseClient(c).LeaseTimeToLive(ctx, &pb.LeaseTimeToLiveRequest{ID: 8})
			return err
		}, []string{"*"}},
		{"LeaseTimeToLive with keys", func(ctx context.Context, c cc) error {
			_, err := pb.NewLeaseClient(c).LeaseTimeToLive(ctx, &pb.LeaseTimeToLiveRequest{ID: 8, Keys: true})
			return err
		}, []string{"reader", "both", "root"}},
		{"LeaseLeases", func(ctx context.Context, c cc) error {
			_, err := pb.NewLeaseClient(c).LeaseLeases(ctx, &pb.LeaseLeasesRequest{})
			return err
		}, root}, // one of them has a key of another user
		{"MemberList", func(ctx context.Context, c cc) error {
			_, err := pb.NewClusterClient(c).MemberList(ctx, &pb.MemberListRequest{})
			return err
		}, []string{"*"}},
		{"Status", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).Status(ctx, &pb.StatusRequest{})
			return err
		}, []string{"*"}},
		{"Alarm get", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).Alarm(ctx, &pb.AlarmRequest{})
			return err
		}, []string{"*"}},
		{"Alarm deactivate", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, Alarm: pb.AlarmType_NOSPACE})
			return err
		}, root},
		{"Defragment", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).Defragment(ctx, &pb.DefragmentRequest{})
			return err
		}, root},
		{"Hash", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).Hash(ctx, &pb.HashRequest{})
			return err
		}, root},
		{"HashKV", func(ctx context.Context, c cc) error {
			_, err := pb.NewMaintenanceClient(c).HashKV(ctx, &pb.HashKVRequest{})
			return err
		}, root},
		{"Snapshot", func(ctx context.Context, c cc) error {
			s, err := pb.NewMaintenanceClient(c).Snapshot(ctx, &pb.SnapshotRequest{})
			for err == nil {
				_, err = s.Recv()
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}, root},
		{"Lock", func(ctx context.Context, c cc) error {
			r, err := v3lockpb.NewLockClient(c).Lock(ctx, &v3lockpb.LockRequest{Name: []byte("a/lock"), Lease: 8})
			if err == nil {
				_, err = v3lockpb.NewLockClient(c).Unlock(ctx, &v3lockpb.UnlockRequest{Key: r.Key})
			}
			return err
		}, []string{"both", "root"}},
		{"Campaign", func(ctx context.Context, c cc) error {
			r, err := v3electionpb.NewElectionClient(c).Campaign(ctx, &v3electionpb.CampaignRequest{Name: []byte("a/election"), Lease: 8})
			if err == nil {
				_, err = v3electionpb.NewElectionClient(c).Resign(ctx, &v3electionpb.ResignRequest{Leader: r.Leader})
			}
			return err
		}, []string{"both", "root"}},
		{"AuthStatus", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).AuthStatus(ctx, &pb.AuthStatusRequest{})
			return err
		}, []string{"**"}},
		{"AuthEnable", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).AuthEnable(ctx, &pb.AuthEnableRequest{})
			return err
		}, root},
		{"UserAdd, UserChangePassword and UserDelete", func(ctx context.Context, c cc) error {
			users := pb.NewAuthClient(c)
			_, added := users.UserAdd(ctx, &pb.AuthUserAddRequest{Name: "x", Options: &authpb.UserAddOptions{NoPassword: true}})
			_, changed := users.UserChangePassword(ctx, &pb.AuthUserChangePasswordRequest{Name: "x", Password: "y"})
			_, granted := users.UserGrantRole(ctx, &pb.AuthUserGrantRoleRequest{User: "x", Role: "r"})
			_, revoked := users.UserRevokeRole(ctx, &pb.AuthUserRevokeRoleRequest{Name: "x", Role: "r"})
			_, deleted := users.UserDelete(ctx, &pb.AuthUserDeleteRequest{Name: "x"})
			return same(added, changed, granted, revoked, deleted)
		}, root},
		{"UserGet", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).UserGet(ctx, &pb.AuthUserGetRequest{Name: "reader"})
			return err
		}, []string{"reader", "root"}},
		{"UserList", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).UserList(ctx, &pb.AuthUserListRequest{})
			return err
		}, root},
		{"RoleGet", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).RoleGet(ctx, &pb.AuthRoleGetRequest{Role: "w"})
			return err
		}, []string{"writer", "both", "root"}},
		{"RoleList", func(ctx context.Context, c cc) error {
			_, err := pb.NewAuthClient(c).RoleList(ctx, &pb.AuthRoleListRequest{})
			return err
		}, root},
		{"RoleAdd, RoleGrantPermission, RoleRevokePermission and RoleDelete", func(ctx context.Context, c cc) error {
			roles := pb.NewAuthClient(c)
			_, added := roles.RoleAdd(ctx, &pb.AuthRoleAddRequest{Name: "x"})
			_, granted := roles.RoleGrantPermission(ctx, &pb.AuthRoleGrantPermissionRequest{Name: "x", Perm: &authpb.Permission{Key: a}})
			_, revoked := roles.RoleRevokePermission(ctx, &pb.AuthRoleRevokePermissionRequest{Role: "x", Key: a})
			_, deleted := roles.RoleDelete(ctx, &pb.AuthRoleDeleteRequest{Role: "x"})
			return same(added, granted, revoked, deleted)
		}, root},
		{"Health", func(ctx context.Context, c cc) error {
			_, err := healthpb.NewHealthClient(c).Check(ctx, &healthpb.HealthCheckRequest{})
			return err
		}, []string{"**"}},
	}
}

// same returns the error that all of errs are.
func same(errs ...error) error {
	for _, err := range errs {
		if !errors.Is(rpctypes.Error(err), rpctypes.Error(errs[0])) {
			return errors.Join(append(errs, errors.New("not the same for all"))...)
		}
	}
	return errs[0]
}

// watchOnce opens a watch. A refusal is its first answer.
func watchOnce(key, end []byte) func(context.Context, grpc.ClientConnInterface) error {
	return func(ctx context.Context, cc grpc.ClientConnInterface) error {
		w, err := pb.NewWatchClient(cc).Watch(ctx)
		if err != nil {
			return err
		}
		create := &pb.WatchCreateRequest{Key: key, RangeEnd: end}
		_ = w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}) // Recv returns the error
		r, err := w.Recv()
		switch {
		case err != nil:
			return err
		case !r.Canceled:
			return nil
		}
		for _, known := range []error{rpctypes.ErrGRPCPermissionDenied, rpctypes.ErrGRPCUserEmpty, rpctypes.ErrGRPCInvalidAuthToken} {
			if r.CancelReason == known.Error() {
				return known
			}
		}
		return errors.New(r.CancelReason)
	}
}

// TestWhoMayDoWhat makes every call as every user.
func TestWhoMayDoWhat(t *testing.T) {
	n := controlled(t)
	c, conn := dialAs(t, n.addr, grants.Root, "root"), plain(t, n.addr)
	for id, key := range map[clientv3.LeaseID]string{7: "b", 8: "a1"} {
		if _, err := pb.NewLeaseClient(conn).LeaseGrant(tokenOf(t, n, grants.Root), &pb.LeaseGrantRequest{ID: int64(id), TTL: 600}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Put(t.Context(), key, "", clientv3.WithLease(id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"", badToken, "carol", "reader", "writer", "both", grants.Root} {
		ctx, refusal := t.Context(), rpctypes.ErrPermissionDenied
		switch user {
		case "":
			refusal = rpctypes.ErrUserEmpty
		case badToken:
			refusal = rpctypes.ErrInvalidAuthToken
			ctx = metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, "bad")
		default:
			ctx = tokenOf(t, n, user)
		}
		for _, r := range rpcs() {
			want := refusal
			if r.isFor(user) {
				want = nil
			}
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			if err := rpctypes.Error(r.call(ctx, conn)); !errors.Is(err, want) {
				t.Errorf("%s as %q: %v, want %v", r.name, user, err, want)
			}
			cancel()
		}
	}
}

// tokenOf returns a context with the token of a user of controlled.
func tokenOf(t *testing.T, n *node, user string) context.Context {
	t.Helper()
	password := "p"
	if user == grants.Root {
		password = "root"
	}
	token := (&rig{n.Server, t}).login(user, password)
	return metadata.AppendToOutgoingContext(t.Context(), rpctypes.TokenFieldNameGRPC, token)
}

// TestRightsChangeUnderTheHands checks a connected client while its roles, its password and access
// control change.
func TestRightsChangeUnderTheHands(t *testing.T) {
	n := controlled(t)
	root, c := dialAs(t, n.addr, grants.Root, "root"), dialAs(t, n.addr, "both", "p")
	ctx := t.Context()
	try := func(when string, want error) {
		t.Helper()
		if _, err := c.Put(ctx, "a", when); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", when, err, want)
		}
	}
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try("at first", nil)
	do(root.UserRevokeRole(ctx, "both", "w"))
	try("without the role", rpctypes.ErrPermissionDenied)
	do(root.UserGrantRole(ctx, "both", "w"))
	try("with it again", nil)
	do(root.RoleDelete(ctx, "w"))
	try("the role is gone", rpctypes.ErrPermissionDenied)
	do(root.UserGrantRole(ctx, "both", grants.Root))
	try("as root", nil)
	n.accounts.tokens.mu.Lock()
	clear(n.accounts.tokens.byText)
	n.accounts.tokens.used.Init()
	n.accounts.tokens.mu.Unlock()
	try("its token ran out", nil) // the client logs in again
	do(root.UserChangePassword(ctx, "both", "q"))
	try("with an old password", rpctypes.ErrAuthFailed)
	do(root.UserDelete(ctx, "both"))
	try("deleted", rpctypes.ErrAuthFailed)
	do(root.AuthDisable(ctx))
	do(root.Put(ctx, "a", "nobody is asked"))
	do(dial(t, n.addr).Put(ctx, "a", "nobody is asked"))
}

// TestADeletedUserIsOut has three users on one connection, each with a watch. The watch of the
// deleted user ends, and the others continue.
func TestADeletedUserIsOut(t *testing.T) {
	n := controlled(t)
	conn := plain(t, n.addr)
	watches := map[string]pb.Watch_WatchClient{}
	for _, user := range []string{"reader", "both", grants.Root} {
		w, err := pb.NewWatchClient(conn).Watch(tokenOf(t, n, user))
		if err != nil {
			t.Fatal(err)
		}
		create := &pb.WatchCreateRequest{Key: []byte("a")}
		if err := w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil {
			t.Fatal(err)
		}
		if r, err := w.Recv(); err != nil || r.Canceled {
			t.Fatal(r, err)
		}
		watches[user] = w
	}
	if err := n.broker.DeleteUser("both"); err != nil {
		t.Fatal(err)
	}
	if r, err := watches["both"].Recv(); !errors.Is(rpctypes.Error(err), rpctypes.ErrInvalidAuthToken) {
		t.Errorf("the watch of a deleted user: %v, %v", r, err)
	}
	if _, err := pb.NewKVClient(conn).Put(tokenOf(t, n, grants.Root), &pb.PutRequest{Key: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"reader", grants.Root} {
		if r, err := watches[user].Recv(); err != nil || len(r.Events) != 1 {
			t.Errorf("the watch of %s: %v, %v", user, r, err)
		}
	}
}

func TestConnectionsOfAUserAreLimited(t *testing.T) {
	n := controlled(t)
	if err := n.broker.SetUserLimit("reader", catalog.LimitConnections, 1); err != nil {
		t.Fatal(err)
	}
	first, second := dialAs(t, n.addr, "reader", "p"), dialAs(t, n.addr, "reader", "p")
	for range 2 {
		if _, err := first.Get(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := second.Get(t.Context(), "a"); status.Convert(err).Message() != "etcdserver: the user has too many connections" {
		t.Errorf("a second connection: %v", err)
	}
	first.Close()
	for try := 0; ; try++ { // the server notices asynchronously
		_, err := second.Get(t.Context(), "a")
		if err == nil {
			break
		}
		if try == 500 {
			t.Fatal(err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// TestTransactionsOfQueuesAndKeys checks that roles apply to the ordinary keys only.
func TestTransactionsOfQueuesAndKeys(t *testing.T) {
	n := controlled(t)
	who, err := n.identifyToken((&rig{n.Server, t}).login("both", "p"), here)
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key)}}}
	}
	inner := func(ops ...*pb.RequestOp) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Success: ops}}}
	}
	compare := func(key string) []*pb.Compare { return []*pb.Compare{{Key: []byte(key)}} }
	for name, c := range map[string]struct {
		txn  *pb.TxnRequest
		want bool
	}{
		"queues only":          {&pb.TxnRequest{Compare: compare("/q/x"), Success: []*pb.RequestOp{put("/q/x/p/1")}}, true},
		"a key that it may":    {&pb.TxnRequest{Success: []*pb.RequestOp{put("/q/x/p/1"), put("a")}}, true},
		"a key that it is not": {&pb.TxnRequest{Success: []*pb.RequestOp{put("/q/x/p/1")}, Failure: []*pb.RequestOp{put("b")}}, false},
		"a comparison":         {&pb.TxnRequest{Compare: compare("b"), Success: []*pb.RequestOp{put("/queue/x/p/1")}}, false},
		"inside":               {&pb.TxnRequest{Success: []*pb.RequestOp{inner(put("/q/x/p/1"), put("b"))}}, false},
		"inside, allowed":      {&pb.TxnRequest{Success: []*pb.RequestOp{inner(put("/q/x/p/1"), put("a"))}}, true},
	} {
		if err := n.mayTxn(who, c.txn); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheGatewayAsksToo checks access control in the JSON gateway, with the token in the HTTP
// header.
func TestTheGatewayAsksToo(t *testing.T) {
	n := controlled(t)
	post := func(path, token, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(b)
	}
	code, body := post("/v3/auth/authenticate", "", `{"name":"reader","password":"p"}`)
	var login struct{ Token string }
	if err := json.Unmarshal([]byte(body), &login); code != http.StatusOK || err != nil || login.Token == "" {
		t.Fatal(code, body, err)
	}
	const a, b = `{"key":"YQ=="}`, `{"key":"Yg=="}`
	for _, c := range []struct {
		token, key string
		code       int
		text       string
	}{
		{login.Token, a, http.StatusOK, ""},
		{"Bearer " + login.Token, a, http.StatusOK, ""},
		{login.Token, b, http.StatusForbidden, "etcdserver: permission denied"},
		{"", a, http.StatusBadRequest, "etcdserver: user name is empty"},
		{"bad", a, http.StatusUnauthorized, "etcdserver: invalid auth token"},
	} {
		if code, body := post("/v3/kv/range", c.token, c.key); code != c.code || !strings.Contains(body, c.text) {
			t.Errorf("%q reads %s: %d %s", c.token, c.key, code, body)
		}
	}
	if code, body := post("/v3/auth/authenticate", "", `{"name":"reader","password":"wrong"}`); code != http.StatusBadRequest || !strings.Contains(body, "authentication failed") {
		t.Error(code, body)
	}
}

// TestLeasesOfConsumers checks that a lease keeps its owner's consumer, that the owner can renew it
// without a role, and that others can neither end the consumer through the lease nor see it there.
func TestLeasesOfConsumers(t *testing.T) {
	n := controlled(t)
	for _, user := range []string{"carol", "both"} {
		if _, err := n.broker.SetPermission(catalog.Permission{User: user, VHost: "/", Configure: "jobs", Write: "jobs", Read: "jobs"}); err != nil {
			t.Fatal(err)
		}
	}
	carol, both, root := dialAs(t, n.addr, "carol", "p"), dialAs(t, n.addr, "both", "p"), dialAs(t, n.addr, grants.Root, "root")
	lease, err := carol.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	putKey(t, carol, "/q/jobs/c/1", "", clientv3.WithLease(lease.ID))
	if _, err := carol.KeepAliveOnce(t.Context(), lease.ID); err != nil {
		t.Errorf("renewed by its owner: %v", err)
	}
	for who, c := range map[string]*clientv3.Client{"carol": carol, "both": both, "root": root} {
		ttl, err := c.TimeToLive(t.Context(), lease.ID, clientv3.WithAttachedKeys())
		if want := 1; err != nil || len(ttl.Keys) != want && who != "both" || len(ttl.Keys) != 0 && who == "both" {
			t.Errorf("%s sees %v, %v", who, ttl, err)
		}
	}
	if _, err := both.Revoke(t.Context(), lease.ID); !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Errorf("revoked by another: %v", err)
	}
	alike(t, keysOf(t, carol, "/q/jobs/c/1"), "/q/jobs/c/1=fiveways")
	if _, err := root.Revoke(t.Context(), lease.ID); err != nil {
		t.Errorf("revoked by root: %v", err)
	}
}

// TestNoWayAroundAdmission calls every served method without a user, including methods that later
// versions add.
func TestNoWayAroundAdmission(t *testing.T) {
	n := controlled(t)
	conn := plain(t, n.addr)
	for service, info := range n.transport.(*grpcwire.Server).GetServiceInfo() {
		for _, m := range info.Methods {
			path := "/" + service + "/" + m.Name
			if openMethods[path] || path == pb.Watch_Watch_FullMethodName { // it checks each watch
				continue
			}
			stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, path)
			if err == nil {
				_ = stream.SendMsg(&pb.RangeRequest{}) // empty, as any request may be
				_ = stream.CloseSend()
				err = stream.RecvMsg(&pb.RangeResponse{})
			}
			if !errors.Is(rpctypes.Error(err), rpctypes.ErrUserEmpty) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
