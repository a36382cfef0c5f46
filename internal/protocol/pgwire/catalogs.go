package pgwire

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

const administrator = "administrator" // the tag of users who see all users and virtual hosts

// catalogs returns pg_catalog and information_schema for one session.
func (s *Server) catalogs(c *conn, work *mbus.Session, schemas []schema.Schema) *catalog.Catalog {
	o := catalog.Options{
		Schemas: schemas, User: c.user, Database: c.database, Superuser: work.Superuser(), BackendPID: c.pid,
		Started: temporal.FromTime(s.started), Sessions: func() []catalog.Activity { return s.conns.activity(c.user, work.Superuser()) },
	}
	if work.Superuser() { // checked again at each call, because the user may be demoted
		o.Users = func() []catalog.Role {
			if !work.Superuser() {
				return nil
			}
			return s.roles()
		}
		o.Databases = func() []string {
			if !work.Superuser() {
				return []string{c.database}
			}
			return s.databases()
		}
	}
	return catalog.New(o)
}

func (s *Server) roles() []catalog.Role {
	var all []catalog.Role
	for _, u := range s.broker.Users() {
		all = append(all, catalog.Role{Name: u.Name, Superuser: slices.Contains(u.Tags, administrator)})
	}
	return all
}

func (s *Server) databases() []string {
	var all []string
	for _, v := range s.broker.VHosts() {
		name := v.Name
		if name == rootVHost {
			name = rootDatabase
		}
		all = append(all, name)
	}
	return all
}
