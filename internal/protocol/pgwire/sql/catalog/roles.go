package catalog

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var roleTables = map[string]filler{
	"pg_catalog.pg_roles":  fillRoles,
	"pg_catalog.pg_authid": fillRoles,
	"pg_catalog.pg_user":   fillUsers,
	"pg_catalog.pg_shadow": fillUsers,
}

func (r Role) oid() uint32 { return hashOID("role " + r.Name) }

// roles returns the users that can log in, including the session's user.
func (c *Catalog) roles() []Role {
	var all []Role
	if c.opts.Users != nil {
		all = c.opts.Users()
	}
	if !slices.ContainsFunc(all, func(r Role) bool { return r.Name == c.opts.User }) {
		all = append(all, Role{c.opts.User, c.opts.Superuser})
	}
	return all
}

// owner returns the owner of all objects.
func (c *Catalog) owner() string { return c.opts.User }

// ownerOID is the owner's OID in pg_roles, so that a join with it finds the owner.
func (c *Catalog) ownerOID() value.Datum { return oid(Role{Name: c.owner()}.oid()) }

func fillRoles(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, r := range c.roles() {
		emit(cells{
			"oid": oid(r.oid()), "rolname": r.Name, "rolsuper": r.Superuser, "rolinherit": true, "rolcreaterole": r.Superuser,
			"rolcreatedb": r.Superuser, "rolcanlogin": true, "rolreplication": false, "rolconnlimit": int64(-1), "rolpassword": "********",
			"rolbypassrls": r.Superuser,
		})
	}
}

func fillUsers(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, r := range c.roles() {
		emit(cells{
			"usename": r.Name, "usesysid": oid(r.oid()), "usecreatedb": r.Superuser, "usesuper": r.Superuser, "userepl": false, "usebypassrls": r.Superuser,
			"passwd": "********",
		})
	}
}
