package catalog

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func insertable(o object) bool {
	_, ok := o.Relation.(schema.Inserter)
	return ok
}

// updatable reports whether a relation supports UPDATE and DELETE.
func updatable(o object) bool {
	_, changes := o.Relation.(schema.Updater)
	_, deletes := o.Relation.(schema.Deleter)
	return changes && deletes
}

// call is the implementation of a catalog function.
type call func(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error)

// always returns a function with a constant result.
func always(d value.Datum) call {
	return func(*Catalog, *expr.Env, []value.Datum) (value.Datum, error) { return d, nil }
}

// calls are the implementations of functions that only catalogs need, by name. Each implements all
// overloads.
var calls = map[string]call{
	"format_type": formatType, "version": version, "pg_size_pretty": sizePretty,

	"pg_table_is_visible": tableVisible, "pg_function_is_visible": functionVisible, "pg_type_is_visible": typeVisible,
	"pg_operator_is_visible": always(true), "pg_collation_is_visible": always(true), "pg_opclass_is_visible": always(true),
	"pg_opfamily_is_visible": always(true), "pg_conversion_is_visible": always(true), "pg_statistics_obj_is_visible": always(true),
	"pg_ts_config_is_visible": always(true), "pg_ts_dict_is_visible": always(true), "pg_ts_parser_is_visible": always(true),
	"pg_ts_template_is_visible": always(true),

	"pg_get_userbyid":                    userByID,
	"pg_get_function_arguments":          aboutFunction(func(f *expr.Function) string { return arguments(f, true) }),
	"pg_get_function_identity_arguments": aboutFunction(func(f *expr.Function) string { return arguments(f, false) }),
	"pg_get_function_result":             aboutFunction(result),
	"pg_get_function_sqlbody":            always(nil),
	"pg_get_functiondef":                 aboutFunction(definition),
	"obj_description":                    describe, "col_description": always(nil), "shobj_description": always(nil),
	"pg_get_expr": always(nil), "pg_get_viewdef": viewDefinition, "pg_get_indexdef": always(nil), "pg_get_constraintdef": always(nil),
	"pg_get_triggerdef": always(nil), "pg_get_ruledef": always(nil), "pg_get_partkeydef": always(nil), "pg_get_serial_sequence": always(nil),
	"pg_get_statisticsobjdef_columns": always(nil), "pg_relation_is_publishable": always(false),

	"pg_encoding_to_char": encodingName, "pg_char_to_encoding": encodingNumber, "pg_encoding_max_length": encodingLength,
	"getdatabaseencoding": always(charset.UTF8),

	"has_table_privilege": always(true), "has_schema_privilege": always(true), "has_database_privilege": always(true),
	"has_function_privilege": always(true), "has_column_privilege": always(true), "has_any_column_privilege": always(true),
	"has_type_privilege": always(true), "has_language_privilege": always(true), "has_sequence_privilege": always(true),
	"has_tablespace_privilege": always(true), "has_server_privilege": always(true), "has_foreign_data_wrapper_privilege": always(true),
	"has_parameter_privilege": always(true), "pg_has_role": always(true), "row_security_active": always(false),

	"pg_is_in_recovery": always(false), "pg_is_other_temp_schema": always(false), "pg_my_temp_schema": always(int64(0)),
	"pg_relation_size": always(int64(0)), "pg_table_size": always(int64(0)), "pg_total_relation_size": always(int64(0)),
	"pg_indexes_size": always(int64(0)), "pg_database_size": always(int64(0)), "pg_tablespace_size": always(int64(0)),
	"pg_tablespace_location": always(""), "pg_jit_available": always(false),
	"to_regclass": lookUp(value.Regclass), "to_regtype": lookUp(value.Regtype), "to_regproc": lookUp(value.Regproc),
	"to_regprocedure": lookUp(value.Regprocedure), "to_regnamespace": lookUp(value.Regnamespace), "to_regrole": lookUp(value.Regrole),
}

// functionsNamed returns the overloads of a built-in function, with their implementation.
func (c *Catalog) functionsNamed(name string) []*expr.Function {
	do, rows := calls[name], setCalls[name]
	if do == nil && rows == nil {
		return nil
	}
	var all []*expr.Function
	for _, builtIn := range builtin.Library.Functions(name) {
		f := *builtIn
		f.Volatility = expr.Stable
		if rows != nil {
			f.Rows = c.asRows(rows)
			all = append(all, &f)
			continue
		}
		f.Call = func(env *expr.Env, args []value.Datum) (value.Datum, error) { return do(c, env, args) }
		all = append(all, &f)
	}
	return all
}

func argOID(args []value.Datum) uint32 {
	if len(args) == 0 || args[0] == nil {
		return 0
	}
	n, _ := args[0].(int64)
	return uint32(n)
}

// version returns the server version in PostgreSQL's format, which drivers parse.
func version(*Catalog, *expr.Env, []value.Datum) (value.Datum, error) {
	return "PostgreSQL " + settings.ServerVersion + " on " + runtime.GOOS + "-" + runtime.GOARCH + ", compiled by " + runtime.Version(), nil
}

var sizeUnits = []string{"bytes", "kB", "MB", "GB", "TB", "PB"}

// sizePretty formats a number of bytes in the unit in which it has at most four digits.
func sizePretty(_ *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	const limit = 10 * 1024
	n, ok := args[0].(int64)
	if !ok {
		number, err := value.ToInt(args[0].(numeric.Number), value.Int8)
		if err != nil {
			return nil, err
		}
		n = number
	}
	size, unit := float64(n), 0
	for math.Abs(size) >= limit && unit < len(sizeUnits)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.0f %s", math.Trunc(size+math.Copysign(0.5, size)*float64(min(unit, 1))), sizeUnits[unit]), nil
}

func formatType(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	if args[0] == nil {
		return nil, nil
	}
	t := value.ByOID(argOID(args))
	switch {
	case argOID(args) == 0:
		return "-", nil
	case t == nil:
		if o, array, ok := c.ofRows(env, argOID(args)); ok {
			return nameOfRows(o, array), nil
		}
		return "???", nil
	}
	typmod := int64(-1)
	if n, ok := args[1].(int64); ok {
		typmod = n
	}
	return value.Format(t, int32(typmod)), nil
}

func tableVisible(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	for _, r := range c.now(env).relations {
		if r.OID() == argOID(args) {
			return visible(env, r.schema), nil
		}
	}
	return nil, nil
}

func functionVisible(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	if f := c.now(env).byOID[argOID(args)]; f != nil {
		return visible(env, f.Schema), nil
	}
	return nil, nil
}

func typeVisible(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	if t := value.ByOID(argOID(args)); t != nil {
		return visible(env, t.Schema), nil
	}
	if o, _, ok := c.ofRows(env, argOID(args)); ok {
		return visible(env, o.schema), nil
	}
	return nil, nil
}

func userByID(c *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	id := argOID(args)
	if id == oidBootstrap {
		return c.owner(), nil
	}
	for _, r := range c.roles() {
		if r.oid() == id {
			return r.Name, nil
		}
	}
	return fmt.Sprintf("unknown (OID=%d)", id), nil
}

func aboutFunction(say func(f *expr.Function) string) call {
	return func(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
		if f := c.now(env).byOID[argOID(args)]; f != nil {
			return say(f), nil
		}
		return nil, nil
	}
}

func definition(f *expr.Function) string {
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s(%s)\n RETURNS %s\n LANGUAGE internal\nAS $function$%s$function$\n",
		quoteName(f.Schema), quoteName(f.Name), arguments(f, true), result(f), f.Name)
}

func describe(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	if len(args) > 1 && args[1] != "pg_proc" {
		return nil, nil
	}
	if f := c.now(env).byOID[argOID(args)]; f != nil && f.Comment != "" {
		return f.Comment, nil
	}
	return nil, nil
}

func encodingName(_ *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	n, ok := args[0].(int64)
	if !ok {
		return nil, nil
	}
	return charset.Name(n), nil
}

func encodingNumber(_ *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	name, ok := args[0].(string)
	if !ok {
		return nil, nil
	}
	return int64(charset.Number(name)), nil
}

func encodingLength(_ *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	if n, _ := args[0].(int64); charset.Longest(n) > 0 {
		return int64(charset.Longest(n)), nil
	}
	return nil, nil
}

// lookUp returns a function that finds an object by name. Its result is NULL if there is none.
func lookUp(t *value.Type) call {
	return func(c *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
		text, _ := args[0].(string)
		if strings.Trim(text, "0123456789") == "" {
			return nil, nil // numbers are not names
		}
		set := value.Defaults()
		set.Names = c.Names()
		d, err := value.Parse(t, text, &set)
		if err != nil {
			return nil, nil
		}
		return d, nil
	}
}
