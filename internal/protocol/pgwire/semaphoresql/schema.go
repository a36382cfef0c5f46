package semaphoresql

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The schema of the functions, and the schema of the tables and the type.
const (
	functionSchema = "semaphore"
	tableSchema    = "markup"
)

// Schemas returns the schemas of a session, or none if its broker has no semaphores.
func Schemas(work *mbus.Session) []schema.Schema {
	if work.Semaphores() == nil {
		return nil
	}
	return []schema.Schema{functionsIn{}, tablesIn{[]schema.Relation{&semaphoreTable{work}, &taskTable{work}}}}
}

// firstFunctionOID is the first OID of the functions.
const firstFunctionOID = 25000

// functions holds the functions of the schema, sorted by name. All sessions share them.
var functions = func() (all []*expr.Function) {
	all = slices.Concat(semaphoreFunctions(), taskFunctions())
	for i, f := range all {
		f.Schema, f.OID = functionSchema, firstFunctionOID+uint32(i)
	}
	slices.SortStableFunc(all, func(a, b *expr.Function) int { return strings.Compare(a.Name, b.Name) })
	return all
}()

// functionsIn is the schema of the functions.
type functionsIn struct{}

func (functionsIn) Name() string { return functionSchema }

// Version is constant, because the set of functions is fixed.
func (functionsIn) Version() uint64 { return 0 }

func (functionsIn) Functions(_ *expr.Env, name string) (named []*expr.Function) {
	for _, f := range functions {
		if f.Name == name {
			named = append(named, f)
		}
	}
	return named
}

func (functionsIn) AllFunctions(*expr.Env) []*expr.Function { return functions }

func (functionsIn) Relation(*expr.Env, string) schema.Relation { return nil }

func (functionsIn) AllRelations(*expr.Env) []schema.Relation { return nil }

func (functionsIn) Type(string) *value.Type { return nil }

// tablesIn is the schema of the tables and the type.
type tablesIn struct{ all []schema.Relation }

func (tablesIn) Name() string { return tableSchema }

// Version is constant, because the set of tables is fixed.
func (tablesIn) Version() uint64 { return 0 }

func (tablesIn) Functions(*expr.Env, string) []*expr.Function { return nil }

func (tablesIn) AllFunctions(*expr.Env) []*expr.Function { return nil }

func (t tablesIn) Relation(_ *expr.Env, name string) schema.Relation {
	for _, r := range t.all {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

func (t tablesIn) AllRelations(*expr.Env) []schema.Relation { return t.all }

func (tablesIn) Type(name string) *value.Type {
	for _, t := range []*value.Type{value.SemaphoreStatus, value.Semaphore, value.SemaphoreTask} {
		if t.Name == name {
			return t
		}
	}
	return nil
}
