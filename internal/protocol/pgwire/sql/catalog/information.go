package catalog

import (
	"maps"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var informationTables = map[string]filler{
	"information_schema.information_schema_catalog_name": fillCatalogName,
	"information_schema.schemata":                        fillSchemata,
	"information_schema.tables":                          fillInformationTables,
	"information_schema.views":                           fillInformationViews,
	"information_schema.columns":                         fillColumns,
	"information_schema.routines":                        fillRoutines,
	"information_schema.parameters":                      fillParameters,
	"information_schema.enabled_roles":                   fillEnabledRoles,
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func fillCatalogName(c *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"catalog_name": c.opts.Database})
}

func fillEnabledRoles(c *Catalog, _ *expr.Env, emit func(cells)) {
	emit(cells{"role_name": c.opts.User})
}

func fillSchemata(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, name := range c.namespaces() {
		emit(cells{"catalog_name": c.opts.Database, "schema_name": name, "schema_owner": c.owner()})
	}
}

func fillInformationTables(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, r := range c.now(env).relations {
		kind := "BASE TABLE"
		if r.Kind() == 'v' {
			kind = "VIEW"
		}
		emit(cells{
			"table_catalog": c.opts.Database, "table_schema": r.schema, "table_name": r.Name(), "table_type": kind,
			"is_insertable_into": yesNo(insertable(r)), "is_typed": "NO",
		})
	}
}

func fillInformationViews(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, r := range c.now(env).relations {
		if r.Kind() == 'v' {
			can := yesNo(insertable(r))
			emit(cells{
				"table_catalog": c.opts.Database, "table_schema": r.schema, "table_name": r.Name(), "check_option": "NONE", "view_definition": definitionOf(r), "is_updatable": yesNo(updatable(r)),
				"is_insertable_into": can, "is_trigger_insertable_into": can, "is_trigger_updatable": yesNo(updatable(r)),
				"is_trigger_deletable": yesNo(updatable(r)),
			})
		}
	}
}

func fillColumns(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, r := range c.now(env).relations {
		for i, f := range r.Columns() {
			row := describeType(f.Type)
			maps.Copy(row, cells{
				"table_catalog": c.opts.Database, "table_schema": r.schema, "table_name": r.Name(), "column_name": f.Name,
				"ordinal_position": int64(i + 1), "is_nullable": "YES", "udt_catalog": c.opts.Database, "is_identity": "NO", "is_generated": "NEVER",
				"is_updatable": yesNo(insertable(r)), "is_self_referencing": "NO", "dtd_identifier": string(value.AppendText(nil, value.Int4, int64(i+1), nil)),
			})
			emit(row)
		}
	}
}

// describeType returns the information_schema description of a type.
func describeType(t *value.Type) cells {
	row := cells{"udt_schema": t.Schema, "udt_name": t.Name, "data_type": t.String()}
	switch {
	case t.IsArray():
		row["data_type"] = "ARRAY"
	case t.Schema != pgCatalog:
		row["data_type"] = "USER-DEFINED"
	}
	switch t {
	case value.Int2, value.Int4, value.Int8:
		row["numeric_precision"], row["numeric_precision_radix"], row["numeric_scale"] = int64(t.Len)*8, int64(2), int64(0)
	case value.Float4:
		row["numeric_precision"], row["numeric_precision_radix"] = int64(24), int64(2)
	case value.Float8:
		row["numeric_precision"], row["numeric_precision_radix"] = int64(53), int64(2)
	case value.NumericType:
		row["numeric_precision_radix"] = int64(10)
	case value.TimestampType, value.TimestampTZType, value.TimeType, value.IntervalType:
		row["datetime_precision"] = int64(6)
	case value.DateType:
		row["datetime_precision"] = int64(0)
	}
	return row
}

func specificName(f *expr.Function) string {
	return f.Name + "_" + string(value.AppendText(nil, value.OID, int64(f.OID), nil))
}

func fillRoutines(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, f := range c.now(env).functions {
		row := describeType(returnType(f))
		row["type_udt_catalog"], row["type_udt_schema"], row["type_udt_name"] = c.opts.Database, row["udt_schema"], row["udt_name"]
		maps.Copy(row, cells{
			"specific_catalog": c.opts.Database, "specific_schema": f.Schema, "specific_name": specificName(f), "routine_catalog": c.opts.Database,
			"routine_schema": f.Schema, "routine_name": f.Name, "routine_type": "FUNCTION", "routine_body": "EXTERNAL", "external_language": "INTERNAL",
			"is_deterministic": yesNo(f.Volatility == expr.Immutable), "sql_data_access": "MODIFIES", "security_type": "INVOKER",
		})
		emit(row)
	}
}

func fillParameters(c *Catalog, env *expr.Env, emit func(cells)) {
	for _, f := range c.now(env).functions {
		for i, a := range f.Args {
			row := describeType(a.Type)
			row["specific_catalog"], row["specific_schema"], row["specific_name"] = c.opts.Database, f.Schema, specificName(f)
			row["ordinal_position"], row["parameter_mode"], row["udt_catalog"] = int64(i+1), "IN", c.opts.Database
			row["is_result"], row["as_locator"] = "NO", "NO"
			if a.Name != "" {
				row["parameter_name"] = a.Name
			}
			if a.HasDefault {
				row["parameter_default"] = strings.TrimSpace(a.DefaultSQL)
			}
			emit(row)
		}
	}
}
