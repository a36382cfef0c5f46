package catalog

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var relationTables = map[string]filler{
	"pg_catalog.pg_namespace": fillNamespaces,
	"pg_catalog.pg_views":     fillViews,
	"pg_catalog.pg_tables":    fillTables,
}

func fillNamespaces(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, name := range c.namespaces() {
		emit(cells{"oid": oid(namespaceOID(name)), "nspname": name, "nspowner": c.ownerOID()})
	}
}

func fillClasses(c *Catalog, env *expr.Env, want wanted, emit func(cells)) {
	one := func(id uint32, schema, name string, kind byte, columns int) {
		if !want(id, name) {
			return
		}
		emit(cells{
			"oid": oid(id), "relname": name, "reltype": oid(rowType(schema, name, id)), "relnamespace": oid(namespaceOID(schema)), "relowner": c.ownerOID(), "relkind": string(kind),
			"relnatts": int64(columns), "relpersistence": "p", "relreplident": "n", "relispopulated": true, "reltuples": -1.0,
		})
	}
	for _, r := range c.now(env).relations {
		one(r.OID(), r.schema, r.Name(), r.Kind(), len(r.Columns()))
	}
	one(value.RelQTModel, value.QTModel.Schema, value.QTModel.Name, 'c', len(value.QTModel.Fields))
}

func fillAttributes(c *Catalog, env *expr.Env, want wanted, emit func(cells)) {
	all := func(id uint32, columns []value.Field, notNull []bool) {
		for i, f := range columns {
			if !want(id, f.Name) {
				continue
			}
			row := cells{
				"attrelid": oid(id), "attname": f.Name, "atttypid": oid(f.Type.OID), "attlen": int64(f.Type.Len), "attnum": int64(i + 1),
				"atttypmod": int64(-1), "attstattarget": int64(-1), "attcacheoff": int64(-1), "attstorage": "p", "attalign": "i", "attislocal": true,
				"attnotnull": notNull != nil && notNull[i],
			}
			if f.Type.IsArray() {
				row["attndims"] = int64(1)
			}
			emit(row)
		}
	}
	for _, r := range c.now(env).relations {
		var notNull []bool
		if own, ok := r.Relation.(*relation); ok {
			notNull = own.t.notNull
		}
		all(r.OID(), r.Columns(), notNull)
	}
	all(value.RelQTModel, value.QTModel.Fields, nil)
}

func fillViews(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, r := range c.now(env).relations {
		if r.Kind() == 'v' {
			emit(cells{"schemaname": r.schema, "viewname": r.Name(), "viewowner": c.owner(), "definition": definitionOf(r)})
		}
	}
}

func fillTables(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, r := range c.now(env).relations {
		if r.Kind() == 'r' {
			emit(cells{
				"schemaname": r.schema, "tablename": r.Name(), "tableowner": c.owner(), "hasindexes": false, "hasrules": false, "hastriggers": false,
				"rowsecurity": false,
			})
		}
	}
}
