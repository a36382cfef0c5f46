package expr

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The functions, operators, casts and types of PostgreSQL 15 with hstore, a line each, in the order
// of their names' bytes. All of them are here, also those that cannot be called: which overload of
// a name is meant depends on the others. The files are made by the queries beside them
// (TestCatalogFiles).
var (
	//go:embed pgdata/functions.txt
	functionLines string
	//go:embed pgdata/operators.txt
	operatorLines string
	//go:embed pgdata/casts.txt
	castLines string
	//go:embed pgdata/types.txt
	typeLines string
)

// hstoreSchema is where hstore's functions and operators are.
const hstoreSchema = "public"

// firstHstoreOID is the least OID of what the hstore extension made where the files were made.
const firstHstoreOID = 16384

// Operator is one operator; Left is nil for a prefix operator.
type Operator struct {
	OID        uint32
	Name       string
	Left       *value.Type
	Right      *value.Type
	Returns    *value.Type
	Strict     bool
	Volatility Volatility
	Negator    string // the operator that gives the opposite; empty: none
	impl       string
	run        Implementation // empty: nothing is behind it
}

func (o *Operator) types() []*value.Type {
	if o.Left == nil {
		return []*value.Type{o.Right}
	}
	return []*value.Type{o.Left, o.Right}
}

// linesOf returns the lines of a sorted file whose first field is name.
func linesOf(file, name string) []string {
	key := name + "\t"
	// The file is searched by bytes; each belongs to its line. The first byte found is where a line
	// starts.
	start := sort.Search(len(file), func(i int) bool { return file[strings.LastIndexByte(file[:i], '\n')+1:] >= key })
	var lines []string
	for strings.HasPrefix(file[start:], key) {
		end := strings.IndexByte(file[start:], '\n')
		lines = append(lines, file[start:start+end])
		start += end + 1
	}
	return lines
}

// Library is the built-in functions and operators: those that the catalog lists, with what tables
// have for them. Several goroutines may use it.
type Library struct {
	implementations Table // never changed

	// Caches by name; what is in them is never changed.
	functions sync.Map // string -> []*Function
	operators sync.Map // string -> []*Operator
}

// foreignTypes are those that have no values here.
var foreignTypes sync.Map // string -> *value.Type

// Functions returns the built-in functions of this name, those too that cannot be called.
func (l *Library) Functions(name string) []*Function {
	if found, ok := l.functions.Load(name); ok {
		return found.([]*Function)
	}
	var all []*Function
	for _, line := range linesOf(functionLines, name) {
		all = append(all, l.readFunction(line))
	}
	if len(all) == 0 {
		return nil // not kept: names are the clients' to make up
	}
	found, _ := l.functions.LoadOrStore(name, all)
	return found.([]*Function)
}

// AllFunctions returns the built-in functions that can be called.
func (l *Library) AllFunctions() []*Function {
	var all []*Function
	last := ""
	for line := range strings.Lines(functionLines) {
		name, _, _ := strings.Cut(line, "\t")
		if name == last {
			continue
		}
		last = name
		for _, f := range l.Functions(name) {
			if f.callable() {
				all = append(all, f)
			}
		}
	}
	return all
}

// operatorsNamed returns all operators of a name.
func (l *Library) operatorsNamed(name string) []*Operator {
	if found, ok := l.operators.Load(name); ok {
		return found.([]*Operator)
	}
	var all []*Operator
	for _, line := range linesOf(operatorLines, name) {
		all = append(all, l.readOperator(line))
	}
	if len(all) == 0 {
		return nil
	}
	found, _ := l.operators.LoadOrStore(name, all)
	return found.([]*Operator)
}

// AllOperators returns every operator that can be used.
func (l *Library) AllOperators() []*Operator {
	var all []*Operator
	last := ""
	for line := range strings.Lines(operatorLines) {
		name, _, _ := strings.Cut(line, "\t")
		if name == last {
			continue
		}
		last = name
		for _, o := range l.operatorsNamed(name) {
			if _, err := o.bound(o.types(), o.Returns); err == nil {
				all = append(all, o)
			}
		}
	}
	return all
}

func (l *Library) readOperator(line string) *Operator {
	f := strings.Split(line, "\t")
	o := &Operator{
		OID: readOID(f[1]), Name: f[0], Right: typeNamed(f[3]), Returns: typeNamed(f[4]), Strict: strings.HasPrefix(f[5], "s"),
		Volatility: Volatility(f[5][len(f[5])-1]), impl: f[6],
	}
	o.run = l.implementations[o.impl]
	if f[2] != "-" {
		o.Left = typeNamed(f[2])
	}
	if f[7] != "-" {
		o.Negator = f[7]
	}
	return o
}

func (l *Library) readFunction(line string) *Function {
	f := strings.Split(line, "\t")
	flags := f[2]
	fn := &Function{
		OID: readOID(f[1]), Schema: "pg_catalog", Name: f[0], Variadic: strings.Contains(flags[1:len(flags)-1], "v"),
		Strict: strings.Contains(flags[1:len(flags)-1], "s"), Volatility: Volatility(flags[len(flags)-1]), Returns: typeNamed(f[3]), impl: f[8],
	}
	if fn.OID >= firstHstoreOID {
		fn.Schema = hstoreSchema
	}
	names := strings.Fields(f[5])
	for i, t := range strings.Fields(f[4]) {
		a := Arg{Type: typeNamed(t)}
		if i < len(names) && names[i] != "-" {
			a.Name = names[i]
		}
		fn.Args = append(fn.Args, a)
	}
	out := strings.Fields(f[6])
	for i := 0; i+1 < len(out); i += 2 {
		fn.Columns = append(fn.Columns, value.Field{Name: out[i], Type: typeNamed(out[i+1])})
	}
	readDefaults(fn, f[7])
	fn.kind, fn.set = flags[0], strings.Contains(flags, "r")
	l.implement(fn)
	return fn
}

// readDefaults reads the defaults as pg_get_expr gives them; those in use are plain numbers,
// strings and NULLs.
func readDefaults(fn *Function, text string) {
	if text == "" {
		return
	}
	parts := strings.Split(text, ", ")
	for i, part := range parts {
		a := &fn.Args[len(fn.Args)-len(parts)+i]
		a.HasDefault, a.DefaultSQL = true, part
		literal, _, _ := strings.Cut(part, "::")
		switch a.Type {
		case value.Int4, value.Int8:
			n, _ := strconv.ParseInt(literal, 10, 64)
			a.Default = n
		case value.Float8:
			x, _ := strconv.ParseFloat(literal, 64)
			a.Default = x
		case value.Bool:
			a.Default = literal == "true"
		case value.Text, value.JSONB:
			if literal != "NULL" {
				a.Default = strings.Trim(literal, "'")
			}
		}
	}
}

func readOID(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

// TypeName returns the name in pg_type of the type with an OID, which may be one that has no values
// here; "" when PostgreSQL has none, or it is one of arrays.
func TypeName(oid uint32) string {
	for line := range strings.Lines(typeLines) {
		if f := strings.Split(line, "\t"); readOID(strings.TrimSpace(f[3])) == oid {
			return f[0]
		}
	}
	return ""
}

// typeNamed returns a type by its name in pg_type; for one that has no values here, something that
// can be told from others.
func typeNamed(name string) *value.Type {
	if t := value.ByName(name); t != nil {
		return t
	}
	if t, ok := foreignTypes.Load(name); ok {
		return t.(*value.Type)
	}
	t := &value.Type{Name: name, Schema: "pg_catalog", Kind: 'b', Category: 'U', Len: -1}
	if lines := linesOf(typeLines, name); len(lines) == 1 {
		f := strings.Split(lines[0], "\t")
		t.Category, t.Prefer, t.OID = f[1][0], f[2] == "t", readOID(f[3])
		if t.Category == 'P' {
			t.Kind = 'p'
		}
	} else if elem, ok := strings.CutPrefix(name, "_"); ok {
		t.Category, t.Elem, t.SQLName = 'A', typeNamed(elem), typeNamed(elem).String()+"[]"
	}
	kept, _ := foreignTypes.LoadOrStore(name, t)
	return kept.(*value.Type)
}
