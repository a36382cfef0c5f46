package catalog

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

var serverTables = map[string]filler{
	"pg_catalog.pg_database":             fillDatabases,
	"pg_catalog.pg_tablespace":           fillTablespaces,
	"pg_catalog.pg_extension":            fillExtensions,
	"pg_catalog.pg_available_extensions": fillAvailable,
	"pg_catalog.pg_am":                   fillAccessMethods,
	"pg_catalog.pg_stat_activity":        fillActivity,
	"pg_catalog.pg_timezone_names":       fillZones,
}

const (
	oidDefaultTS = 1663
	oidExtension = 16384
)

func fillDatabases(c *Catalog, _ *expr.Env, emit func(cells)) {
	for i, name := range c.databases() {
		emit(cells{
			"oid": oid(oidDatabase + uint32(i)), "datname": name, "datdba": c.ownerOID(), "encoding": int64(charset.UTF8Number), "datlocprovider": "c",
			"datistemplate": false, "datallowconn": true, "datconnlimit": int64(-1), "dattablespace": oid(oidDefaultTS), "datcollate": "C.UTF-8", "datctype": "C.UTF-8",
		})
	}
}

func fillTablespaces(c *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"oid": oid(oidDefaultTS), "spcname": "pg_default", "spcowner": c.ownerOID()})
	emit(cells{"oid": oid(oidDefaultTS + 1), "spcname": "pg_global", "spcowner": c.ownerOID()})
}

func fillExtensions(c *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{
		"oid": oid(oidExtension), "extname": "hstore", "extowner": c.ownerOID(), "extnamespace": oid(oidPublic), "extrelocatable": true, "extversion": "1.8",
	})
}

func fillAvailable(_ *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{
		"name": "hstore", "default_version": "1.8", "installed_version": "1.8", "comment": "data type for storing sets of (key, value) pairs",
	})
}

func fillAccessMethods(_ *Catalog, _ *expr.Env, emit func(cells)) {
	for _, a := range []struct {
		oid        uint32
		name, kind string
	}{{2, "heap", "t"}, {403, "btree", "i"}, {405, "hash", "i"}} {
		emit(cells{"oid": oid(a.oid), "amname": a.name, "amtype": a.kind})
	}
}

// fillActivity shows the sessions that the user may see.
func fillActivity(c *Catalog, env *expr.Env, emit func(cells)) {
	all := []Activity{{PID: c.opts.BackendPID, User: c.opts.User, Database: c.opts.Database, ApplicationName: c.opts.ApplicationName}}
	if c.opts.Sessions != nil {
		all = c.opts.Sessions()
	}
	for _, a := range all {
		row := cells{
			"datid": oid(c.databaseOID(a.Database)), "datname": a.Database, "pid": int64(a.PID), "usename": a.User, "usesysid": oid(Role{Name: a.User}.oid()),
			"application_name": a.ApplicationName, "state": a.State, "backend_type": "client backend", "query": a.Query,
		}
		if a.QueryStarted != 0 {
			row["query_start"] = a.QueryStarted
		}
		if a.Started != 0 {
			row["backend_start"] = a.Started
		}
		if a.Address != "" {
			row["client_addr"], row["client_port"] = a.Address, int64(a.Port)
		}
		if a.PID == c.opts.BackendPID {
			row["xact_start"], row["query_start"], row["state_change"], row["state"] = env.Now, env.Stmt, env.Stmt, "active"
		}
		emit(row)
	}
}

// databases returns the databases that the user may see.
func (c *Catalog) databases() []string {
	if c.opts.Databases != nil {
		return c.opts.Databases()
	}
	return []string{c.opts.Database}
}

// databaseOID returns the OID of a database in pg_database, or 0 if the user may not see it.
func (c *Catalog) databaseOID(name string) uint32 {
	if at := slices.Index(c.databases(), name); at >= 0 {
		return oidDatabase + uint32(at)
	}
	return 0
}

func fillZones(_ *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"name": "UTC", "abbrev": "UTC", "is_dst": false})
}
