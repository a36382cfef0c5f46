package catalog

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var functionTables = map[string]filler{
	"pg_catalog.pg_aggregate":   fillAggregates,
	"pg_catalog.pg_description": fillDescriptions,
	"pg_catalog.pg_language":    fillLanguages,
	"pg_catalog.pg_depend":      fillDependencies,
}

const (
	oidInternal = 12
	oidProcRel  = 1255
)

func fillProcs(c *Catalog, env *expr.Env, want wanted, emit func(cells)) {
	for _, p := range ioProcs() {
		if !want(uint32(p.oid), p.name) {
			continue
		}
		emit(cells{
			"oid": p.oid, "proname": p.name, "pronamespace": oid(oidPgCatalog), "proowner": c.ownerOID(), "prolang": oid(oidInternal), "procost": 1.0,
			"prokind": "f", "proisstrict": true, "provolatile": "i", "proparallel": "s", "pronargs": int64(1), "prorettype": oid(value.Internal.OID),
			"proargtypes": value.Vector(value.OID, []value.Datum{oid(value.Internal.OID)}), "prosrc": p.name,
		})
	}
	for _, f := range c.now(env).functions {
		if !want(f.OID, f.Name) {
			continue
		}
		var types, argNames []value.Datum
		named, defaults := false, int64(0)
		for _, a := range f.Args {
			types = append(types, oid(a.Type.OID))
			argNames = append(argNames, a.Name)
			named = named || a.Name != ""
			if a.HasDefault {
				defaults++
			}
		}
		row := cells{
			"oid": oid(f.OID), "proname": f.Name, "pronamespace": oid(namespaceOID(f.Schema)), "proowner": c.ownerOID(), "prolang": oid(oidInternal),
			"procost": 1.0, "prokind": "f", "proisstrict": f.Strict, "proretset": f.IsSet(), "provolatile": string(f.Volatility), "proparallel": "u",
			"pronargs": int64(len(f.Args)), "pronargdefaults": defaults, "prorettype": oid(returnType(f).OID),
			"proargtypes": value.Vector(value.OID, types), "prosrc": f.Name,
		}
		if f.IsAggregate() {
			row["prokind"] = "a"
		}
		if named {
			row["proargnames"] = value.NewArray(value.Text, argNames)
		}
		if f.Variadic {
			last := f.Args[len(f.Args)-1].Type
			row["provariadic"] = oid(last.OID)
			if last.Elem != nil {
				row["provariadic"] = oid(last.Elem.OID)
			}
		}
		if len(f.Columns) > 0 {
			describeColumns(f, row, types, argNames)
		}
		emit(row)
	}
}

// describeColumns adds the columns of the result, which pg_proc lists as OUT arguments.
func describeColumns(f *expr.Function, row cells, types, argNames []value.Datum) {
	var modes []value.Datum
	for range f.Args {
		modes = append(modes, "i")
	}
	for _, column := range f.Columns {
		types, argNames, modes = append(types, oid(column.Type.OID)), append(argNames, column.Name), append(modes, "o")
	}
	row["proallargtypes"] = value.NewArray(value.OID, types)
	row["proargnames"] = value.NewArray(value.Text, argNames)
	row["proargmodes"] = value.NewArray(value.Char, modes)
}

func returnType(f *expr.Function) *value.Type {
	if f.Returns == nil {
		return value.RecordT
	}
	return f.Returns
}

func fillAggregates(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, f := range c.now(env).functions {
		if f.IsAggregate() {
			emit(cells{"aggfnoid": oid(f.OID), "aggkind": "n"})
		}
	}
}

func fillDescriptions(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, f := range c.now(env).functions {
		if f.Comment != "" {
			emit(cells{"objoid": oid(f.OID), "classoid": oid(oidProcRel), "objsubid": int64(0), "description": f.Comment})
		}
	}
}

// fillDependencies lists the objects of the extension hstore.
func fillDependencies(c *Catalog, env *expr.Env, emit func(cells)) {
	one := func(class, id uint32) {
		emit(cells{"classid": oid(class), "objid": oid(id), "refclassid": oid(relExtension), "refobjid": oid(oidExtension), "deptype": "e"})
	}
	for _, f := range c.now(env).functions {
		if f.Schema == value.Hstore.Schema {
			one(relProc, f.OID)
		}
	}
	one(relType, value.Hstore.OID)
}

func fillLanguages(c *Catalog, _ *expr.Env, emit func(cells)) {
	for i, name := range []string{"internal", "c", "sql"} {
		emit(cells{"oid": oid(oidInternal + uint32(i)), "lanname": name, "lanowner": c.ownerOID(), "lanpltrusted": name == "sql"})
	}
}

// argumentTypes returns the types of the arguments: "integer, text".
func argumentTypes(f *expr.Function) string {
	var all []string
	for _, a := range f.Args {
		all = append(all, a.Type.String())
	}
	return strings.Join(all, ", ")
}

// arguments returns the arguments of a function in the format of its definition.
func arguments(f *expr.Function, defaults bool) string {
	var all []string
	for i, a := range f.Args {
		s := a.Type.String()
		if a.Name != "" {
			s = quoteName(a.Name) + " " + s
		}
		if f.Variadic && i == len(f.Args)-1 {
			s = "VARIADIC " + s
		}
		if defaults && a.HasDefault {
			text := a.DefaultSQL
			if text == "" {
				text = "NULL"
			}
			s += " DEFAULT " + text
		}
		all = append(all, s)
	}
	for _, column := range f.Columns {
		all = append(all, "OUT "+quoteName(column.Name)+" "+column.Type.String())
	}
	return strings.Join(all, ", ")
}

func result(f *expr.Function) string {
	if f.IsSet() {
		return "SETOF " + returnType(f).String()
	}
	return returnType(f).String()
}
