package mbus

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// functionSchema is one of the two schemas that contain the functions.
type functionSchema struct {
	s      *Session
	name   string
	static map[string][]*expr.Function
	sorted []*expr.Function // all of static, by name
	made   map[generated]*expr.Function
}

// schemaNames are the schemas of the functions; each contains all of them.
var schemaNames = []string{"mbus4", "mbus"}

// Schemas returns the schemas available to the session's statements, in addition to the catalogs.
func (s *Session) Schemas() []schema.Schema {
	all := make([]schema.Schema, 0, len(schemaNames)+1)
	for i, name := range schemaNames {
		all = append(all, &functionSchema{s: s, name: name, static: shared[i].byName, sorted: shared[i].sorted, made: map[generated]*expr.Function{}})
	}
	return append(all, &viewSchema{s})
}

// functionSet holds the fixed functions of one schema. All sessions share it.
type functionSet struct {
	byName map[string][]*expr.Function
	sorted []*expr.Function
}

var shared = makeShared()

func makeShared() []functionSet {
	sets := make([]functionSet, len(schemaNames))
	for i, name := range schemaNames {
		set := functionSet{byName: map[string][]*expr.Function{}}
		for k, f := range allFunctions() {
			f.Schema, f.OID = name, firstFunctionOID+uint32(i)*1000+uint32(k)
			set.byName[f.Name] = append(set.byName[f.Name], f)
			set.sorted = append(set.sorted, f)
		}
		slices.SortStableFunc(set.sorted, func(a, b *expr.Function) int { return strings.Compare(a.Name, b.Name) })
		sets[i] = set
	}
	return sets
}

// The first OIDs of functions and relations. OIDs of generated ones are derived from their names.
const (
	firstFunctionOID = 20000
	firstRelationOID = 30000
	generatedOID     = 100000
)

// allFunctions returns the fixed functions.
func allFunctions() []*expr.Function {
	return slices.Concat(
		queueFunctions(), postFunctions(), consumeFunctions(), consumerFunctions(), lookFunctions(), temporaryFunctions(), triggerFunctions(),
		viewFunctions(), runFunctions(), readmeFunctions(), browseFunctions(),
	)
}

func (c *functionSchema) Name() string { return c.name }

func (c *functionSchema) Version() uint64 { return c.s.version() }

func (c *functionSchema) Functions(_ *expr.Env, name string) []*expr.Function {
	if fs := c.static[name]; fs != nil {
		return fs
	}
	g, ok := c.s.resolve(name)
	if !ok {
		return nil
	}
	return []*expr.Function{c.generate(g)}
}

// generate returns a generated function, from the cache if possible.
func (c *functionSchema) generate(g generated) *expr.Function {
	f := c.made[g]
	if f == nil {
		if len(c.made) > maxMade {
			clear(c.made)
		}
		f = g.function()
		f.Schema, f.OID = c.name, nameOID(c.name+"."+f.Name)
		c.made[g] = f
	}
	return f
}

// maxMade limits the number of generated functions that a session caches.
const maxMade = 256

// nameOID derives an OID from a name.
func nameOID(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return generatedOID + h.Sum32()%1_900_000_000
}

func (c *functionSchema) AllFunctions(*expr.Env) []*expr.Function {
	all := slices.Clone(c.sorted)
	for _, q := range c.s.sqlQueues() {
		for _, k := range generatedKinds {
			if k.byConsumer {
				for _, sub := range c.s.subscribers(q) {
					all = append(all, c.generate(generated{k.kind, q, sub.name}))
				}
			} else if k.kind != "run_on_" || c.s.hasRun(q) {
				all = append(all, c.generate(generated{kind: k.kind, queue: q}))
			}
		}
	}
	return all
}

func (c *functionSchema) Relation(_ *expr.Env, name string) schema.Relation {
	for _, r := range listed {
		if r.name == name {
			return r.in(c.name)
		}
	}
	return nil
}

func (c *functionSchema) AllRelations(*expr.Env) []schema.Relation {
	all := make([]schema.Relation, len(listed))
	for i, r := range listed {
		all[i] = r.in(c.name)
	}
	return all
}

func (c *functionSchema) Type(name string) *value.Type {
	if name == value.QTModel.Name {
		return value.QTModel
	}
	return nil
}

// scalar returns a function with a single result. Its session is that of the call.
func scalar(name string, args []expr.Arg, returns *value.Type, call func(s *Session, env *expr.Env, a arguments) (value.Datum, error)) *expr.Function {
	return &expr.Function{
		Name: name, Args: args, Returns: returns, Volatility: expr.Volatile,
		Call: func(env *expr.Env, args []value.Datum) (value.Datum, error) { return call(of(env), env, args) },
	}
}

// rows returns a function that returns records. As in PL/pgSQL, all records are computed before the
// first is returned.
func rows(name string, args []expr.Arg, call func(s *Session, env *expr.Env, a arguments) ([]value.Record, error)) *expr.Function {
	return &expr.Function{
		Name: name, Args: args, Returns: value.QTModel, Volatility: expr.Volatile,
		Rows: func(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
			return func(yield func([]value.Datum, error) bool) {
				all, err := call(of(env), env, args)
				if err != nil {
					yield(nil, err)
					return
				}
				for _, r := range all {
					if !yield(r, nil) {
						return
					}
				}
			}
		},
	}
}

// commented sets the comment of a function.
func commented(f *expr.Function, comment string) *expr.Function {
	f.Comment = comment
	return f
}

// arg returns a required argument, and optional one that defaults to NULL.
func arg(name string, t *value.Type) expr.Arg { return expr.Arg{Name: name, Type: t} }

func optional(name string, t *value.Type) expr.Arg {
	return expr.Arg{Name: name, Type: t, HasDefault: true, DefaultSQL: "NULL::" + t.String()}
}

func defaulted(name, text string) expr.Arg {
	return expr.Arg{Name: name, Type: value.Text, HasDefault: true, Default: text, DefaultSQL: "'" + text + "'::text"}
}

// arguments are the arguments of a call.
type arguments []value.Datum

// text returns a text argument. NULL becomes "<NULL>", which is readable in messages and is not a
// valid name.
func (a arguments) text(i int) string {
	if t, ok := a[i].(string); ok {
		return t
	}
	return "<NULL>"
}

func (a arguments) has(i int) bool { return i < len(a) && a[i] != nil }

func (a arguments) integer(i int) int64 {
	n, _ := a[i].(int64)
	return n
}

func (a arguments) boolean(i int) bool {
	b, _ := a[i].(bool)
	return b
}

// raise returns the error of RAISE EXCEPTION.
func raise(format string, args ...any) error {
	return pgerror.New(pgerror.RaiseException, format, args...)
}
