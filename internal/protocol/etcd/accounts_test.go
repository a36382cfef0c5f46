package etcd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/auth"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// rig is a server without listeners: tests call its accounts directly.
type rig struct {
	*Server
	t *testing.T
}

func openRig(t *testing.T, fs vfs.FS) *rig {
	t.Helper()
	ks := keyspace.New(keyspace.Options{Name: "test", Folder: t.TempDir()})
	log := slog.New(slog.DiscardHandler)
	b := enginetest.Open(t, fs, func(o *broker.Options) { o.StateMachines = protocoltest.Machines(nil, ks) })
	if err := ks.Start(b.StateMachine(statemachine.Keys)); err != nil {
		t.Fatal(err)
	}
	return &rig{New(b, ks, Options{Shared: protocol.Shared{LoginDelay: -1, Log: log}}), t}
}

// close ends the rig, even if its disk has failed.
func (r *rig) close() {
	r.Drain(context.Background())
	r.keys.Stop()
	enginetest.Compare(r.t, r.broker)
	r.broker.Close()
	r.keys.Close()
}

func (r *rig) must(errs ...error) {
	r.t.Helper()
	if err := errors.Join(errs...); err != nil {
		r.t.Fatal(err)
	}
}

// record makes changes as the server itself.
func (r *rig) record(entries ...*pb.InternalRaftRequest) {
	r.t.Helper()
	for _, e := range entries {
		_, err := r.accounts.change(context.Background(), e)
		r.must(err)
	}
}

func (r *rig) add(user, password string) {
	r.t.Helper()
	r.must(r.accounts.addUser(&pb.AuthUserAddRequest{Name: user, Password: password}))
}

func (r *rig) grant(user, role string) {
	r.t.Helper()
	r.must(r.accounts.grantRole(context.Background(), &pb.AuthUserGrantRoleRequest{User: user, Role: role}))
}

// enable creates root, grants it its role, and switches access control on.
func (r *rig) enable() {
	r.t.Helper()
	r.add(grants.Root, "root")
	r.grant(grants.Root, grants.Root)
	r.must(r.accounts.enable(context.Background()))
}

func (r *rig) login(user, password string) string {
	r.t.Helper()
	token, err := r.accounts.authenticate(context.Background(), user, password, here)
	r.must(err)
	return token
}

var (
	here  = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	there = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}
)

func addRole(name string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthRoleAdd: &pb.AuthRoleAddRequest{Name: name}}
}

// rolesOf returns the roles of a user, or nil if the user does not exist.
func (r *rig) rolesOf(user string) []string {
	r.t.Helper()
	roles, err := r.accounts.rolesOf(user)
	if err != nil {
		return nil
	}
	return append([]string{}, roles...)
}

func TestWhoIsWhoWithoutALogin(t *testing.T) {
	r := openRig(t, vfs.NewMem())
	defer r.close()
	if who, err := r.identifyToken("", here); err != nil || who.user != guest || !who.administrator || who.root {
		t.Errorf("from here: %+v, %v", who, err)
	}
	for name, addr := range map[string]net.Addr{"elsewhere": there, "nowhere": nil, "elsewhere, by a connection": agentAddr{Addr: there}} {
		if who, err := r.identifyToken("", addr); !errors.Is(err, rpctypes.ErrGRPCUserEmpty) {
			t.Errorf("from %s: %+v, %v", name, who, err)
		}
	}
	r.must(r.broker.SetPassword(guest, "known to few"))
	if _, err := r.identifyToken("", here); !errors.Is(err, rpctypes.ErrGRPCUserEmpty) {
		t.Errorf("guest has a password: %v", err)
	}
	if who, err := r.identifyToken(r.login(guest, "known to few"), here); err != nil || who.user != guest {
		t.Errorf("guest with its password: %+v, %v", who, err)
	}
	r.enable()
	if who, err := r.identifyToken("", here); err != nil || who.user != "" {
		t.Errorf("with access control: %+v, %v", who, err)
	}
}

func TestTokensEndWithWhatTheyStandFor(t *testing.T) {
	type change func(r *rig)
	for name, c := range map[string]struct {
		change change
		want   error
		from   net.Addr
	}{
		"nothing":                      {func(*rig) {}, nil, there},
		"another role":                 {func(r *rig) { r.record(addRole("r")); r.grant("u", "r") }, nil, there},
		"access control":               {func(r *rig) { r.enable() }, nil, there},
		"another password":             {func(r *rig) { r.must(r.accounts.changePassword("u", "q")) }, auth.ErrInvalidAuthToken, there},
		"another password, elsewhere":  {func(r *rig) { r.must(r.broker.SetPassword("u", "p")) }, auth.ErrInvalidAuthToken, there},
		"the user is deleted":          {func(r *rig) { r.must(r.accounts.deleteUser(context.Background(), "u")) }, auth.ErrInvalidAuthToken, there},
		"deleted elsewhere, and again": {func(r *rig) { r.must(r.broker.DeleteUser("u")); r.add("u", "p") }, auth.ErrInvalidAuthToken, there},
		"from this machine only":       {func(r *rig) { r.must(r.broker.SetLoopbackOnly("u", true)) }, auth.ErrInvalidAuthToken, there},
		"from this machine, here":      {func(r *rig) { r.must(r.broker.SetLoopbackOnly("u", true)) }, nil, here},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRig(t, vfs.NewMem())
			defer r.close()
			r.add("u", "p")
			token := r.login("u", "p")
			if who, err := r.identifyToken(token, there); err != nil || who.user != "u" || who.administrator {
				t.Fatalf("%+v, %v", who, err)
			}
			c.change(r)
			who, err := r.identifyToken(token, c.from)
			if !errors.Is(err, reply(c.want)) || err == nil && who.user != "u" {
				t.Errorf("%+v, %v, want %v", who, err, c.want)
			}
		})
	}
}

func TestTokensLiveAsLongAsTheyAreUsed(t *testing.T) {
	tk := newTokens()
	now := time.Unix(0, 0)
	tk.now = func() time.Time { return now }
	used, idle := tk.issue(&catalog.User{Name: "a"}), tk.issue(&catalog.User{Name: "b"})
	for range 3 {
		now = now.Add(tokenLife - time.Second)
		if tk.use(used) == nil {
			t.Fatal("a token that is used ended")
		}
	}
	if tk.use(idle) != nil || len(tk.byText) != 1 {
		t.Errorf("an idle token lives: %d", len(tk.byText))
	}
	now = now.Add(tokenLife)
	if tk.use(used) != nil {
		t.Error("at its end it lives")
	}
	first := tk.issue(&catalog.User{Name: "first"})
	kept := tk.issue(&catalog.User{Name: "kept"})
	tk.use(first)
	for range maxTokens - 1 {
		tk.issue(&catalog.User{Name: "more"})
	}
	if tk.use(kept) != nil || tk.use(first) == nil || len(tk.byText) != maxTokens || tk.used.Len() != maxTokens {
		t.Errorf("not the one that was used least recently went: %d", len(tk.byText))
	}
	now = now.Add(tokenLife)
	if tk.issue(&catalog.User{Name: "last"}); len(tk.byText) != 1 {
		t.Errorf("what is over takes memory: %d", len(tk.byText))
	}
}

func TestRolesDoNotPassToAnotherUser(t *testing.T) {
	mem := vfs.NewMem()
	r := openRig(t, mem)
	r.record(addRole("r"))
	r.add("u", "p")
	r.grant("u", "r")
	r.must(r.broker.DeleteUser("u")) // by another protocol
	if got := r.accounts.userNames(); !slices.Equal(got, []string{guest}) {
		t.Errorf("users %q", got)
	}
	r.add("u", "p")
	if got := r.rolesOf("u"); len(got) > 0 {
		t.Errorf("the new user has %q", got)
	}
	r.enable()
	who, err := r.identifyToken(r.login("u", "p"), here)
	if err != nil || r.grants.Holder("u") != nil {
		t.Errorf("after its login: %v, %+v", err, r.grants.Holder("u"))
	}
	if err := r.mayRange(who, []byte("k"), nil); !errors.Is(err, auth.ErrPermissionDenied) {
		t.Errorf("it may read: %v", err)
	}
	r.grant("u", "r")
	r.close()
	r = openRig(t, mem)
	defer r.close()
	if got := r.rolesOf("u"); !slices.Equal(got, []string{"r"}) || !r.grants.Enabled() {
		t.Errorf("after a restart: roles %q, access control %v", got, r.grants.Enabled())
	}
}

// TestRootComesBack checks that an operator who deleted root by another protocol can log in again.
func TestRootComesBack(t *testing.T) {
	r := openRig(t, vfs.NewMem())
	defer r.close()
	r.enable()
	token := r.login(grants.Root, "root")
	r.must(r.broker.DeleteUser(grants.Root))
	if _, err := r.identifyToken(token, here); !errors.Is(err, rpctypes.ErrGRPCInvalidAuthToken) {
		t.Errorf("root is deleted: %v", err)
	}
	if _, err := r.accounts.authenticate(context.Background(), grants.Root, "root", here); !errors.Is(err, auth.ErrAuthFailed) {
		t.Errorf("root is deleted, and logs in: %v", err)
	}
	_, err := r.broker.PutUser(catalog.UserSpec{Name: grants.Root, Password: "new"})
	r.must(err)
	if who, err := r.identifyToken(r.login(grants.Root, "new"), here); err != nil || !who.root || r.mayChangeUsers(who) != nil {
		t.Errorf("made again: %+v, %v", who, err)
	}
}

// While access control is off, users who are not administrators of the broker may do everything
// with keys and nothing with users: those are shared by all protocols.
func TestUsersAreForAdministrators(t *testing.T) {
	r := openRig(t, vfs.NewMem())
	defer r.close()
	r.add("u", "p")
	_, err := r.broker.PutUser(catalog.UserSpec{Name: "boss", Password: "p", Tags: []string{catalog.TagAdministrator}})
	r.must(err)
	for _, c := range []struct {
		user string
		from net.Addr
		want error
	}{{"u", there, auth.ErrPermissionDenied}, {"boss", there, nil}, {"u", here, nil}} {
		who, err := r.identifyToken(r.login(c.user, "p"), c.from)
		r.must(err, r.mayAdminister(who))
		if err := r.mayChangeUsers(who); !errors.Is(err, c.want) {
			t.Errorf("%s from %v: %v, want %v", c.user, c.from, err, c.want)
		}
	}
	r.enable()
	boss, err := r.identifyToken(r.login("boss", "p"), here)
	if r.must(err); !errors.Is(r.mayChangeUsers(boss), auth.ErrPermissionDenied) {
		t.Error("with access control the role root counts, not the tag")
	}
	// The user has the role root and access control is off, so it may switch it on.
	r.record(&pb.InternalRaftRequest{AuthDisable: &pb.AuthDisableRequest{}})
	if root, err := r.identifyToken(r.login(grants.Root, "root"), there); err != nil || r.mayChangeUsers(root) != nil || root.root {
		t.Errorf("%+v, %v", root, err)
	}
}

func TestUsersThatCannotBe(t *testing.T) {
	r := openRig(t, vfs.NewMem())
	defer r.close()
	long := string(make([]byte, 256))
	r.add("u", "p")
	r.must(r.accounts.addUser(&pb.AuthUserAddRequest{Name: "none"}))
	for name, c := range map[string]struct{ err, want error }{
		"no name":                  {r.accounts.addUser(&pb.AuthUserAddRequest{Password: "p"}), auth.ErrUserEmpty},
		"a name that is too long":  {r.accounts.addUser(&pb.AuthUserAddRequest{Name: long, Password: "p"}), failure.ErrInvalidName},
		"twice":                    {r.accounts.addUser(&pb.AuthUserAddRequest{Name: "u", Password: "q"}), auth.ErrUserAlreadyExist},
		"guest":                    {r.accounts.addUser(&pb.AuthUserAddRequest{Name: guest, Password: "q"}), auth.ErrUserAlreadyExist},
		"no password any more":     {r.accounts.changePassword("u", ""), errNoPassword},
		"a password for nobody":    {r.accounts.changePassword("x", "p"), auth.ErrUserNotFound},
		"one that never had one":   {r.accounts.changePassword("none", "p"), nil},
		"root is not there":        {r.accounts.enable(context.Background()), auth.ErrRootUserNotExist},
		"a user that is not there": {r.accounts.deleteUser(context.Background(), "x"), auth.ErrUserNotFound},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	r.login("u", "p")
	if _, err := r.accounts.authenticate(context.Background(), "none", "p", here); err == nil {
		t.Error("a user without a password logs in")
	}
}

// TestDeletionIsSafeInACrash makes each disk operation during a deletion the last one. After it
// there is a user with its roles, a user without roles, or no user; never the roles without the
// user.
func TestDeletionIsSafeInACrash(t *testing.T) {
	seen := map[string]bool{}
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		r := openRig(t, fs)
		r.record(addRole("r"))
		r.add("u", "p")
		r.grant("u", "r")
		fs.CrashAt(k)
		deleted := r.accounts.deleteUser(context.Background(), "u")
		r.close()
		for seed := range uint64(2) {
			again := openRig(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))))
			_, err := again.broker.User("u")
			there, roles := err == nil, again.grants.Holder("u") != nil
			if roles && !there || deleted == nil && there {
				t.Errorf("operation %d: deleted: %v; after the crash there: %v, roles: %v", k, deleted, there, roles)
			}
			switch {
			case roles:
				seen["all"] = true
			case there:
				seen["no roles"] = true
			default:
				seen["none"] = true
			}
			again.close()
		}
		if !fs.Crashed() {
			break
		}
	}
	if len(seen) != 3 {
		t.Errorf("only %v was seen: the crashes were elsewhere", seen)
	}
}

func TestLoginsOfOneClientWaitForEachOther(t *testing.T) {
	var locks keyedMutex
	unlock, err := locks.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := locks.lock(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.lock(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone got the lock: %v", err)
	}
	next := make(chan struct{})
	go func() {
		defer close(next)
		if unlock, err := locks.lock(t.Context(), "a"); err == nil {
			unlock()
		}
	}()
	select {
	case <-next:
		t.Error("two hold the lock")
	default:
	}
	unlock()
	<-next
	if len(locks.keys) > 0 {
		t.Errorf("%d clients are remembered", len(locks.keys))
	}
}

// TestLogsOfRefusals checks that the log keeps little of a user name, which a client may choose
// freely, and no password.
func TestLogsOfRefusals(t *testing.T) {
	var text bytes.Buffer
	r := openRig(t, vfs.NewMem())
	defer r.close()
	r.accounts.quiet = slog.New(slog.NewTextHandler(&text, nil))
	if _, err := r.accounts.authenticate(t.Context(), strings.Repeat("x", 1<<20), "secret", there); err == nil {
		t.Fatal("let in")
	}
	if n := text.Len(); n == 0 || n > 1000 || strings.Contains(text.String(), "secret") {
		t.Errorf("%d bytes: %.1000s", n, &text)
	}
}
