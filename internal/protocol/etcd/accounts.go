package etcd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/protocol"
)

// accounts manages users: the broker keeps the users and their passwords, the keyspace keeps their
// roles.
//
// The two change one after the other, in an order that is safe if the server dies in between:
// permissions are granted last when a user is added, and revoked first when a user is deleted.
// Grants also record the number of the broker's user (broker.User.Made), so that nothing granted to
// a user passes to a later user of the same name, by whatever protocol the first was deleted.
type accounts struct {
	broker  *broker.Broker
	logins  *protocol.Logins
	grants  *grants.Grants
	propose proposer
	log     *slog.Logger
	quiet   *slog.Logger  // Server.quiet
	delay   time.Duration // before a refused login is answered

	tokens *tokens
	login  keyedMutex // by client
	guest  atomic.Pointer[guestStanding]
}

func newAccounts(s *Server) *accounts {
	return &accounts{broker: s.broker, logins: s.o.Logins, grants: s.keys.Grants(), propose: s.keys.Propose, log: s.log, quiet: s.quiet, delay: s.o.LoginDelay, tokens: newTokens()}
}

// proposer proposes a change and returns its result once it is applied. ctx carries the user who
// makes it; without a user it is the server itself.
type proposer func(ctx context.Context, r *pb.InternalRaftRequest) (*keyspace.Result, error)

// guestStanding caches the properties of guest at a generation of the broker's rules.
type guestStanding struct {
	generation    uint64
	trusted       bool // needs no login on this machine
	administrator bool
}

// trustsGuest reports whether a client on this machine is guest without a login, and whether guest
// is an administrator.
func (a *accounts) trustsGuest() *guestStanding {
	generation := a.broker.AccessGeneration()
	if g := a.guest.Load(); g != nil && g.generation == generation {
		return g
	}
	g := &guestStanding{generation: generation, trusted: a.broker.Credentials(guest, true).Trusted}
	if u, err := a.broker.User(guest); err == nil {
		g.administrator = isAdministrator(&u)
	}
	a.guest.Store(g)
	return g
}

func isAdministrator(u *catalog.User) bool { return slices.Contains(u.Tags, catalog.TagAdministrator) }

// holder returns the current state of the token's user. Errors: auth.ErrInvalidAuthToken; those of
// the log.
func (a *accounts) holder(text string, loopback bool) (*token, *standing, error) {
	t := a.tokens.use(text)
	if t == nil {
		return nil, nil, auth.ErrInvalidAuthToken
	}
	st, err := a.standingOf(t, loopback)
	return t, st, err
}

// certified returns the current user of a client's certificate. A nil token means that the
// certificate names no user. Errors are those of holder.
func (a *accounts) certified(client *agent) (*token, *standing, error) {
	if client.certUser == "" {
		return nil, nil, nil
	}
	loopback := protocol.IsLoopback(client.nc.RemoteAddr())
	if t := client.login.Load(); t != nil {
		if st, err := a.standingOf(t, loopback); err == nil {
			return t, st, nil
		}
		client.login.CompareAndSwap(t, nil) // the user or its password has changed
	}
	generation := a.broker.AccessGeneration() + 1 // not zero
	if client.refused.Load() == generation {
		return nil, nil, nil
	}
	u, err := a.broker.User(client.certUser)
	if refused := a.logins.Certificate(protocol.Attempt{Protocol: "etcd", User: client.certUser, Peer: client.nc.RemoteAddr()}); refused != nil || err != nil {
		a.quiet.Warn("etcd: certificate refused", "conn", client.id, "peer", client.nc.RemoteAddr(), "user", protocol.Clipped(client.certUser), "err", errors.Join(refused, err))
		client.refused.Store(generation)
		return nil, nil, nil
	}
	if err := a.shedOthers(&u); err != nil {
		return nil, nil, err
	}
	t := newToken(&u)
	client.login.Store(t)
	st, err := a.standingOf(t, loopback)
	return t, st, err
}

// standingOf returns the current state of a token's user. Errors are those of holder.
func (a *accounts) standingOf(t *token, loopback bool) (*standing, error) {
	st := t.standing.Load()
	if st == nil || st.generation != a.broker.AccessGeneration() || st.revision != a.grants.Revision() {
		var err error
		if st, err = a.lookUp(t); err != nil {
			return nil, err
		}
		t.standing.Store(st)
	}
	if st.loopbackOnly && !loopback {
		return nil, auth.ErrInvalidAuthToken
	}
	return st, nil
}

// lookUp reads the state of a token's user. If the user was deleted, was replaced or has another
// password, the token ends.
func (a *accounts) lookUp(t *token) (*standing, error) {
	st := &standing{generation: a.broker.AccessGeneration()} // first, to notice concurrent changes
	u, err := a.broker.User(t.user)
	if err != nil || u.Made != t.made || u.Hash != t.hash {
		a.tokens.revoke(t.text)
		return nil, auth.ErrInvalidAuthToken
	}
	st.loopbackOnly, st.administrator = u.LoopbackOnly, isAdministrator(&u)
	if err := a.shedOthers(&u); err != nil {
		return nil, err
	}
	st.revision = a.grants.Revision()
	h := a.grants.Holder(u.Name)
	st.root = h != nil && h.Number == u.Made && h.Holds(grants.Root)
	return st, nil
}

// shedOthers revokes the roles of an earlier, deleted user of that name: the new user must not get
// them. Root is different while access control is on: it must exist, and any user who may add users
// to the broker may add it again.
func (a *accounts) shedOthers(u *catalog.User) error {
	h := a.grants.Holder(u.Name)
	if h == nil || h.Number == u.Made {
		return nil
	}
	entry := grants.End(u.Name)
	if u.Name == grants.Root && a.grants.Enabled() {
		entry = grants.Rebind(u.Name, u.Made)
	}
	_, err := a.change(context.Background(), entry)
	if errors.Is(err, auth.ErrUserNotFound) { // a concurrent call did it
		return nil
	}
	if err == nil {
		a.log.Info("etcd: roles of a deleted user were revoked from a new user with its name", "user", u.Name, "roles", h.Roles)
	}
	return err
}

// change changes roles or their assignment to users, and returns etcd's answer when the change is
// durable.
func (a *accounts) change(ctx context.Context, r *pb.InternalRaftRequest) (proto.Message, error) {
	result, err := a.propose(ctx, r)
	if err != nil {
		return nil, err
	}
	return result.Resp, result.Err
}

// authenticate checks a password and returns a token. A rejection is delayed to slow down guessing,
// and attempts of one client (an address with its port) run one after the other. Errors:
// auth.ErrAuthFailed; auth.ErrAuthNotEnabled for a wrong password while access control is off,
// because clients then continue without a token.
func (a *accounts) authenticate(ctx context.Context, name, password string, peer net.Addr) (string, error) {
	client := peer.String()
	unlock, err := a.login.lock(ctx, client)
	if err != nil {
		return "", err
	}
	defer unlock()
	u, err := a.broker.User(name) // before the check: no token is newer than the checked password
	if refused := a.logins.Password(ctx.Done(), protocol.Attempt{Protocol: "etcd", User: name, Peer: peer}, password); refused != nil || err != nil {
		a.quiet.Warn("etcd: login refused", "peer", client, "user", protocol.Clipped(name), "err", protocol.Clipped(errors.Join(refused, err).Error()))
		a.wait(ctx)
		if !a.grants.Enabled() {
			return "", auth.ErrAuthNotEnabled
		}
		return "", auth.ErrAuthFailed
	}
	if err := a.shedOthers(&u); err != nil {
		return "", err
	}
	return a.tokens.issue(&u), nil
}

func (a *accounts) wait(ctx context.Context) {
	if a.delay <= 0 {
		return
	}
	timer := time.NewTimer(a.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
