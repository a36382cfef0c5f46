package catalog

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// objects caches the contents of the other schemas until one of them changes.
type objects struct {
	known     bool
	version   uint64
	relations []object
	functions []*expr.Function
	byOID     map[uint32]*expr.Function
	rowTypes  map[uint32]int // maps the OIDs of row types, and of their array types, to indexes in relations
}

// object is a relation and its schema.
type object struct {
	schema string
	schema.Relation
}

// OIDs of PostgreSQL's own objects.
const (
	oidPgCatalog = 11
	oidPublic    = 2200
	oidInfo      = 13190
	oidBootstrap = 10 // PostgreSQL's first superuser
	oidDatabase  = 5
)

// namespaces returns the names of the schemas, sorted.
func (c *Catalog) namespaces() []string {
	all := []string{pgCatalog, informationSchema, publicSchema}
	for _, s := range c.opts.Schemas {
		all = append(all, s.Name())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func namespaceOID(name string) uint32 {
	switch name {
	case pgCatalog:
		return oidPgCatalog
	case publicSchema:
		return oidPublic
	case informationSchema:
		return oidInfo
	}
	return hashOID("schema " + name)
}

// hashOID derives a stable OID from a name.
func hashOID(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return 2_000_000_000 + h.Sum32()%1_000_000_000
}

// now returns the current objects.
func (c *Catalog) now(env *expr.Env) *objects {
	version := uint64(0)
	for _, s := range c.opts.Schemas {
		version = version*31 + s.Version()
	}
	if c.objects.known && c.objects.version == version {
		return &c.objects
	}
	o := objects{known: true, version: version, byOID: map[uint32]*expr.Function{}}
	for _, s := range c.opts.Schemas {
		for _, r := range s.AllRelations(env) {
			o.relations = append(o.relations, object{s.Name(), r})
		}
		o.functions = append(o.functions, s.AllFunctions(env)...)
	}
	for _, s := range c.schemas {
		for _, r := range s.AllRelations(env) {
			o.relations = append(o.relations, object{s.name, r})
		}
	}
	o.functions = append(o.functions, builtin.Library.AllFunctions()...)
	for _, f := range o.functions {
		o.byOID[f.OID] = f
	}
	o.indexRows()
	c.objects = o
	return &c.objects
}

// visible reports whether a schema is in the search path.
func visible(env *expr.Env, schema string) bool {
	return schema == pgCatalog || slices.Contains(env.Path, schema)
}

// names implements value.Names.
type names struct{ c *Catalog }

// Names returns the resolver of object names in the text of regclass, regproc and similar types. It
// looks up unqualified names in pg_catalog and public.
func (c *Catalog) Names() value.Names { return names{c} }

func background() *expr.Env {
	return &expr.Env{Ctx: context.Background(), Path: []string{publicSchema}}
}

// splitName splits a qualified name. It removes quotes and folds unquoted parts to lower case.
func splitName(text string) (schema, name string) {
	parts := []string{""}
	quoted := false
	for _, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '.' && !quoted:
			parts = append(parts, "")
		case quoted:
			parts[len(parts)-1] += string(r)
		default:
			parts[len(parts)-1] += strings.ToLower(string(r))
		}
	}
	name = strings.TrimSpace(parts[len(parts)-1])
	if len(parts) > 1 {
		schema = strings.TrimSpace(parts[len(parts)-2])
	}
	return schema, name
}

func (n names) Find(t *value.Type, text string) (oid int64, ok bool, err error) {
	switch t {
	case value.Regproc:
		return n.findFunction(text)
	case value.Regprocedure:
		return n.findProcedure(text)
	}
	oid, ok = n.find(t, text)
	return oid, ok, nil
}

func (n names) find(t *value.Type, text string) (int64, bool) {
	schema, name := splitName(text)
	switch t {
	case value.Regclass:
		for _, r := range n.c.now(background()).relations {
			if r.Name() == name && (r.schema == schema || schema == "" && visible(background(), r.schema)) {
				return int64(r.OID()), true
			}
		}
		if t := value.ByName(name); t != nil && t.Relation != 0 && t.Schema == schema {
			return int64(t.Relation), true
		}
	case value.Regtype:
		element, array := strings.CutSuffix(text, "[]")
		if schema != pgCatalog && value.ByName(strings.TrimSuffix(name, "[]")) == nil {
			if id, ok := n.find(value.Regclass, element); ok {
				o, _ := n.c.object(background(), uint32(id))
				if array {
					return int64(rowArrayOf(o)), true
				}
				return int64(rowTypeOf(o)), true
			}
		}
	case value.Regnamespace:
		if slices.Contains(n.c.namespaces(), name) {
			return int64(namespaceOID(name)), true
		}
	case value.Regrole:
		for _, r := range n.c.roles() {
			if r.Name == name {
				return int64(r.oid()), true
			}
		}
	}
	return 0, false
}

// findFunction finds a function by its name, which must be unique.
func (n names) findFunction(text string) (oid int64, ok bool, err error) {
	schema, name := splitName(text)
	if oid, ok := ioProc(schema, name); ok {
		return oid, true, nil
	}
	switch found := n.functions(schema, name); len(found) {
	case 0:
		return 0, false, nil
	case 1:
		return int64(found[0].OID), true, nil
	}
	return 0, false, pgerror.New(pgerror.AmbiguousFunction, "more than one function named \"%s\"", text)
}

// findProcedure finds a function by its name and the types of its arguments: name(type, ...).
func (n names) findProcedure(text string) (oid int64, ok bool, err error) {
	text = strings.TrimSpace(text)
	name, list, ok := strings.Cut(text, "(")
	if !ok {
		return 0, false, pgerror.New(pgerror.InvalidText, "expected a left parenthesis")
	}
	if list, ok = strings.CutSuffix(list, ")"); !ok {
		return 0, false, pgerror.New(pgerror.InvalidText, "expected a right parenthesis")
	}
	set := value.Defaults()
	set.Names = n
	types := []value.Datum{}
	if list = strings.TrimSpace(list); list != "" {
		for arg := range strings.SplitSeq(list, ",") {
			t, err := value.Parse(value.Regtype, strings.TrimSpace(arg), &set)
			if err != nil {
				return 0, false, err
			}
			types = append(types, t)
		}
	}
	schema, name := splitName(name)
	for _, f := range n.functions(schema, name) {
		if slices.EqualFunc(f.Args, types, func(a expr.Arg, t value.Datum) bool { return int64(a.Type.OID) == t }) {
			return int64(f.OID), true, nil
		}
	}
	oid, ok = ioProc(schema, name)
	return oid, ok, nil
}

// ioProc finds a function that reads or writes values of a type.
func ioProc(schema, name string) (oid int64, ok bool) {
	for _, p := range ioProcs() {
		if p.name == name && (schema == "" || schema == pgCatalog) {
			return p.oid, true
		}
	}
	return 0, false
}

// functions returns the functions of a name in a schema or, if that is empty, in the search path.
func (n names) functions(schema, name string) (found []*expr.Function) {
	for _, f := range append(builtin.Library.Functions(name), n.c.schemaFunctions(schema, name)...) {
		if schema == "" || f.Schema == schema {
			found = append(found, f)
		}
	}
	return found
}

func (c *Catalog) schemaFunctions(schema, name string) []*expr.Function {
	for _, s := range c.opts.Schemas {
		if s.Name() == schema {
			return s.Functions(background(), name)
		}
	}
	return nil
}

func (n names) Show(t *value.Type, oid int64) (string, bool) {
	o := n.c.now(background())
	switch t {
	case value.Regclass:
		for _, r := range o.relations {
			if int64(r.OID()) == oid {
				return qualified(r.schema, r.Name()), true
			}
		}
		if t := typedRelations()[uint32(oid)]; t != nil {
			return qualified(t.Schema, t.Name), true
		}
	case value.Regtype:
		if found, array, ok := n.c.ofRows(background(), uint32(oid)); ok {
			return nameOfRows(found, array), true
		}
	case value.Regproc:
		for _, p := range ioProcs() {
			if p.oid == oid {
				return p.name, true
			}
		}
		if f := o.byOID[uint32(oid)]; f != nil {
			return qualified(f.Schema, f.Name), true
		}
	case value.Regprocedure:
		if f := o.byOID[uint32(oid)]; f != nil {
			return qualified(f.Schema, f.Name) + "(" + strings.ReplaceAll(argumentTypes(f), ", ", ",") + ")", true
		}
	case value.Regnamespace:
		for _, name := range n.c.namespaces() {
			if int64(namespaceOID(name)) == oid {
				return quoteName(name), true
			}
		}
	case value.Regrole:
		for _, r := range n.c.roles() {
			if int64(r.oid()) == oid {
				return quoteName(r.Name), true
			}
		}
	}
	return "", false
}

func qualified(schema, name string) string {
	if visible(background(), schema) {
		return quoteName(name)
	}
	return quoteName(schema) + "." + quoteName(name)
}

// quoteName quotes a name if necessary.
func quoteName(name string) string {
	plain := name != "" && !(name[0] >= '0' && name[0] <= '9')
	for _, r := range name {
		plain = plain && (r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}
	if plain {
		return name
	}
	return strconv.Quote(name)
}
