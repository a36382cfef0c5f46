package catalog

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The words of PostgreSQL 15's grammar, made by the query beside it.
//
//go:embed pgdata/keywords.txt
var keywordLines string

// setCall is what a set-returning function of the catalogs gives.
type setCall func(c *Catalog, env *expr.Env, args []value.Datum) [][]value.Datum

func nothing(*Catalog, *expr.Env, []value.Datum) [][]value.Datum { return nil }

// setCalls are the functions of the catalogs that return rows, by name.
var setCalls = map[string]setCall{
	"pg_get_keywords": func(*Catalog, *expr.Env, []value.Datum) [][]value.Datum { return keywords() },

	"pg_options_to_table": optionsToTable, "pg_partition_tree": partitionTree, "pg_partition_ancestors": partitionAncestors,
	"pg_listening_channels": nothing, "pg_lock_status": nothing, "pg_prepared_xact": nothing, "pg_tablespace_databases": nothing,
	"pg_extension_update_paths": nothing, "pg_available_extensions": availableExtensions, "pg_get_publication_tables": nothing,
	"pg_get_replication_slots": nothing, "pg_show_replication_origin_status": nothing,
}

// moreCalls are functions that tools ask about what there is not, or is only one of: calls of NULL,
// false and 0 are most of them.
var moreCalls = map[string]call{
	"pg_advisory_unlock_all": always(""), // there are no advisory locks
	"pg_blocking_pids":       always(value.NewArray(value.Int4, nil)), "pg_safe_snapshot_blocking_pids": always(value.NewArray(value.Int4, nil)),
	"pg_trigger_depth": always(int64(0)), "pg_notification_queue_usage": always(0.0), "pg_relation_filenode": always(nil),
	"pg_relation_filepath": always(nil), "pg_partition_root": always(nil), "pg_get_partition_constraintdef": always(nil),
	"pg_get_replica_identity_index": always(nil), "pg_get_statisticsobjdef": always(nil), "pg_get_statisticsobjdef_expressions": always(nil),
	"pg_index_has_property": always(nil), "pg_index_column_has_property": always(nil), "pg_last_wal_receive_lsn": always(nil),
	"pg_last_wal_replay_lsn": always(nil), "pg_last_xact_replay_timestamp": always(nil), "pg_xact_commit_timestamp": always(nil),
	"pg_collation_actual_version": always(nil), "pg_database_collation_actual_version": always(nil), "pg_stat_clear_snapshot": always(""),
	"pg_describe_object": describeObject, "pg_get_function_arg_default": argumentDefault,
	"pg_relation_is_updatable": relationUpdatable, "pg_column_is_updatable": columnUpdatable, "pg_postmaster_start_time": startTime,
	"pg_is_wal_replay_paused": noRecovery, "pg_get_wal_replay_pause_state": noRecovery, "pg_wal_replay_pause": noRecovery,
	"pg_wal_replay_resume": noRecovery, "pg_promote": noRecovery,
	"acldefault": noDefaultRights, "pg_conf_load_time": startTime, "to_regcollation": collationNamed,
}

func init() {
	maps.Copy(calls, moreCalls)
}

// noRecovery is what functions about a standby say on a server that is not one.
func noRecovery(*Catalog, *expr.Env, []value.Datum) (value.Datum, error) {
	return nil, pgerror.New("55000", "recovery is not in progress").WithHint("Recovery control functions can only be executed during recovery.")
}

// asRows makes the rows of a function from those of a setCall.
func (c *Catalog) asRows(do setCall) func(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			for _, row := range do(c, env, args) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

var keywords = sync.OnceValue(func() (rows [][]value.Datum) {
	for line := range strings.Lines(keywordLines) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, []value.Datum{f[0], f[1], f[2] == "t", f[3], f[4]})
	}
	return rows
})

// optionsToTable takes options apart: name=value.
func optionsToTable(_ *Catalog, _ *expr.Env, args []value.Datum) (rows [][]value.Datum) {
	options, ok := args[0].(*value.Array)
	if !ok {
		return nil
	}
	for _, o := range options.Elems {
		name, text, given := strings.Cut(o.(string), "=")
		row := []value.Datum{name, nil}
		if given {
			row[1] = text
		}
		rows = append(rows, row)
	}
	return rows
}

// partitionTree is of a table alone: there are no partitions.
func partitionTree(c *Catalog, env *expr.Env, args []value.Datum) [][]value.Datum {
	if o, ok := c.object(env, argOID(args)); ok && o.Kind() == 'r' {
		return [][]value.Datum{{args[0], nil, true, int64(0)}}
	}
	return nil
}

func partitionAncestors(c *Catalog, env *expr.Env, args []value.Datum) [][]value.Datum {
	if o, ok := c.object(env, argOID(args)); ok && o.Kind() == 'r' {
		return [][]value.Datum{{args[0]}}
	}
	return nil
}

func availableExtensions(*Catalog, *expr.Env, []value.Datum) [][]value.Datum {
	return [][]value.Datum{{"hstore", "1.8", "data type for storing sets of (key, value) pairs"}}
}

// object finds a relation by its number.
func (c *Catalog) object(env *expr.Env, id uint32) (object, bool) {
	for _, r := range c.now(env).relations {
		if r.OID() == id {
			return r, true
		}
	}
	return object{}, false
}

// The relations that tell what kind of object a number is.
const (
	relProc      = 1255
	relType      = 1247
	relClass     = 1259
	relNamespace = 2615
	relExtension = 3079
	relCast      = 2605
	relOperator  = 2617
)

// describeObject says what an object is, in words.
func describeObject(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	class, _ := args[0].(int64)
	id, _ := args[1].(int64)
	column, _ := args[2].(int64)
	shown := func(kind string, t *value.Type) (value.Datum, error) {
		if text, ok := c.Names().Show(t, id); ok {
			return kind + " " + text, nil
		}
		return nil, nil
	}
	switch class {
	case relProc:
		return shown("function", value.Regprocedure)
	case relType:
		if t := value.ByOID(uint32(id)); t != nil {
			return "type " + t.String(), nil
		}
	case relClass:
		o, ok := c.object(env, uint32(id))
		if !ok {
			return nil, nil
		}
		kind := map[byte]string{'v': "view", 'r': "table"}[o.Kind()]
		if columns := o.Columns(); column > 0 && int(column) <= len(columns) {
			return fmt.Sprintf("column %s of %s %s", columns[column-1].Name, kind, qualified(o.schema, o.Name())), nil
		}
		return kind + " " + qualified(o.schema, o.Name()), nil
	case relNamespace:
		return shown("schema", value.Regnamespace)
	case relExtension:
		if id == oidExtension {
			return "extension hstore", nil
		}
	case relCast:
		return c.describeCast(env, id), nil
	case relOperator:
		for _, o := range builtin.Library.AllOperators() {
			if int64(o.OID) == id && o.Left != nil {
				return fmt.Sprintf("operator %s(%s,%s)", o.Name, o.Left, o.Right), nil
			}
		}
	}
	return nil, nil
}

func (c *Catalog) describeCast(env *expr.Env, id int64) (said value.Datum) {
	fillCasts(c, env, func(row cells) {
		if row["oid"] == id {
			from, to := value.ByOID(uint32(row["castsource"].(int64))), value.ByOID(uint32(row["casttarget"].(int64)))
			said = fmt.Sprintf("cast from %s to %s", from, to)
		}
	})
	return said
}

// argumentDefault is the default of a function's argument, which is counted from 1.
func argumentDefault(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	f := c.now(env).byOID[argOID(args)]
	n, _ := args[1].(int64)
	if f == nil || n < 1 || int(n) > len(f.Args) || !f.Args[n-1].HasDefault {
		return nil, nil
	}
	return f.Args[n-1].DefaultSQL, nil
}

// The bits of pg_relation_is_updatable.
const (
	updateBit = 1 << 2
	insertBit = 1 << 3
	deleteBit = 1 << 4
)

func relationUpdatable(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	o, ok := c.object(env, argOID(args))
	bits := int64(0)
	if ok && insertable(o) {
		bits |= insertBit
	}
	if ok && updatable(o) {
		bits |= updateBit | deleteBit
	}
	return bits, nil
}

func columnUpdatable(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	o, ok := c.object(env, argOID(args))
	return ok && updatable(o), nil
}

func startTime(c *Catalog, _ *expr.Env, _ []value.Datum) (value.Datum, error) {
	if c.opts.Started == 0 {
		return nil, nil
	}
	return c.opts.Started, nil
}

// noDefaultRights is acldefault, which pg_dump asks before anything else.
func noDefaultRights(*Catalog, *expr.Env, []value.Datum) (value.Datum, error) {
	return nil, pgerror.New(pgerror.FeatureNotSupported, "acldefault is not supported: queues have no access lists, and pg_dump cannot dump them").
		WithHint("Definitions are exported by: fiveways definitions export.")
}

func collationNamed(_ *Catalog, _ *expr.Env, args []value.Datum) (value.Datum, error) {
	name, _ := args[0].(string)
	schema, name := splitName(name)
	if id, ok := map[string]int64{"default": oidDefaultCollation, "c": 950, "posix": 951}[strings.ToLower(name)]; ok && (schema == "" || schema == pgCatalog) {
		return id, nil
	}
	return nil, nil
}

// viewDefinition is the query of a view. There is none: its rows come from the broker. What is
// shown names its columns, for tools that ask.
func viewDefinition(c *Catalog, env *expr.Env, args []value.Datum) (value.Datum, error) {
	id := argOID(args)
	if name, ok := args[0].(string); ok {
		found, ok := c.Names().Find(value.Regclass, name)
		if !ok {
			return nil, pgerror.New(pgerror.UndefinedTable, `relation "%s" does not exist`, name)
		}
		id = uint32(found)
	}
	o, ok := c.object(env, id)
	if !ok || o.Kind() != 'v' {
		return nil, nil
	}
	return definitionOf(o), nil
}

func definitionOf(o object) string {
	var columns []string
	for _, f := range o.Columns() {
		columns = append(columns, quoteName(o.Name())+"."+quoteName(f.Name))
	}
	return " SELECT " + strings.Join(columns, ",\n    ") + "\n   FROM " + quoteName(o.schema) + "." + quoteName(o.Name()) + ";"
}

// expandArrays are the overloads of information_schema._pg_expandarray: the elements of an array
// with their numbers.
var expandArrays = sync.OnceValue(func() (all []*expr.Function) {
	for _, t := range sortedTypes() {
		if !t.IsArray() {
			continue
		}
		all = append(all, &expr.Function{
			OID: oidExpandArray, Schema: informationSchema, Name: "_pg_expandarray", Args: []expr.Arg{{Type: t}}, Strict: true, Volatility: expr.Immutable,
			Returns: value.RecordT, Columns: []value.Field{{Name: "x", Type: t.Elem}, {Name: "n", Type: value.Int4}},
			Rows: func(_ *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
				return func(yield func([]value.Datum, error) bool) {
					for i, d := range args[0].(*value.Array).Elems {
						if !yield([]value.Datum{d, int64(i + 1)}, nil) {
							return
						}
					}
				}
			},
		})
	}
	return all
})

const oidExpandArray = 13191
