package catalog

import (
	"fiveways/internal/protocol/pgwire/charset"
	"fiveways/internal/protocol/pgwire/sql/expr"
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
	all := []string{c.opts.Database}
	if c.opts.Databases != nil {
		all = c.opts.Databases()
	}
	for i, name := range all {
		emit(cells{
			"oid": oid(oidDatabase + uint32(i)), "datname": name, "datdba": oid(oidOwner), "encoding": int64(charset.UTF8Number), "datlocprovider": "c",
			"datistemplate": false, "datallowconn": true, "datconnlimit": int64(-1), "dattablespace": oid(oidDefaultTS), "datcollate": "C.UTF-8", "datctype": "C.UTF-8",
		})
	}
}

func fillTablespaces(_ *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"oid": oid(oidDefaultTS), "spcname": "pg_default", "spcowner": oid(oidOwner)})
	emit(cells{"oid": oid(oidDefaultTS + 1), "spcname": "pg_global", "spcowner": oid(oidOwner)})
}

func fillExtensions(_ *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{
		"oid": oid(oidExtension), "extname": "hstore", "extowner": oid(oidOwner), "extnamespace": oid(oidPublic), "extrelocatable": true, "extversion": "1.8",
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

// fillActivity shows the session itself; others are seen with the broker's own means.
func fillActivity(c *Catalog, env *expr.Env, emit func(cells)) {
	emit(cells{
		"datid": oid(oidDatabase), "datname": c.opts.Database, "pid": int64(c.opts.BackendPID), "usename": c.opts.User,
		"application_name": c.opts.ApplicationName, "xact_start": env.Now, "query_start": env.Stmt, "state_change": env.Stmt, "state": "active",
		"backend_type": "client backend", "query": "",
	})
}

func fillZones(_ *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"name": "UTC", "abbrev": "UTC", "is_dst": false})
}
