package grants

import (
	"errors"
	"slices"
	"strconv"

	"go.etcd.io/etcd/server/v3/auth"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"golang.org/x/crypto/bcrypt"
)

// Root is the name of the user that access control requires, and of the role that may do
// everything.
const Root = "root"

// Info identifies the user of a request in the store of roles: the name, and the revision of the
// store at which the user was looked up. The zero value means no user.
type Info = auth.AuthInfo

// Grants is the store of roles.
type Grants struct {
	store auth.AuthStore
	users auth.AuthBackend
}

// New opens the roles in a backend. It creates missing buckets.
func New(be backend.Backend) *Grants {
	lg := zap.NewNop() // etcd would log refusals as errors, which the caller logs itself
	noTokens, err := auth.NewTokenProvider(lg, "", nil, 0)
	if err != nil {
		panic("grants: " + err.Error()) // the empty kind always exists
	}
	g := &Grants{users: schema.NewAuthBackend(lg, be)}
	g.store = auth.NewAuthStore(lg, g.users, noTokens, bcrypt.MinCost)
	return g
}

// Recover reads everything again after the content of the backend was replaced.
func (g *Grants) Recover(be backend.Backend) {
	g.users = schema.NewAuthBackend(zap.NewNop(), be)
	g.users.CreateAuthBuckets()
	g.store.Recover(g.users)
}

// Enabled reports whether access control is on.
func (g *Grants) Enabled() bool { return g.store.IsAuthEnabled() }

// Revision returns a number that grows with every change of roles and users.
func (g *Grants) Revision() uint64 { return g.store.Revision() }

// Holder is a user with granted roles.
type Holder struct {
	Name   string
	Number uint64 // of the broker's user: another user of that name has another number
	Roles  []string
}

// Holds reports whether the user has a role.
func (h *Holder) Holds(role string) bool { return slices.Contains(h.Roles, role) }

// Holder returns the entry of a user, or nil if nothing was ever granted to it.
func (g *Grants) Holder(name string) *Holder {
	u := g.users.GetUser(name)
	if u == nil {
		return nil
	}
	number, err := strconv.ParseUint(string(u.Password), 10, 64)
	if err != nil {
		number = noNumber
	}
	return &Holder{Name: name, Number: number, Roles: u.Roles}
}

// noNumber is the number of a record without one. No user has it.
const noNumber = ^uint64(0)

// Roles returns the names of all roles, in order.
func (g *Grants) Roles() []string {
	var names []string
	for _, r := range g.users.GetAllRoles() {
		names = append(names, string(r.Name))
	}
	return names
}

// MayAdminister checks that a user has the role root. While access control is off every user may.
// Errors: auth.ErrUserEmpty, auth.ErrPermissionDenied.
func (g *Grants) MayAdminister(who *Info) error {
	err := g.store.IsAdminPermitted(who)
	if errors.Is(err, auth.ErrUserNotFound) { // a user of the broker without roles
		return auth.ErrPermissionDenied
	}
	return err
}
