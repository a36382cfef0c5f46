package schema

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Schema is a namespace of functions and relations: the catalogs, mbus4, public.
type Schema interface {
	Name() string
	// Version returns a number that changes when functions or relations are added, removed or
	// changed, so that prepared statements are planned again. It is called before each run of a
	// prepared statement and must be cheap.
	Version() uint64
	// Functions returns the functions with this name, or nil if there are none.
	Functions(env *expr.Env, name string) []*expr.Function
	// AllFunctions returns all functions, for catalogs and listings.
	AllFunctions(env *expr.Env) []*expr.Function
	// Relation returns a table or view by name, or nil if there is none.
	Relation(env *expr.Env, name string) Relation
	AllRelations(env *expr.Env) []Relation
	// Type returns a type by name, or nil if there is none.
	Type(name string) *value.Type
}

// List are the schemas of a session. Several may have the same name.
type List []Schema

// Named returns the schemas with these names, in the order of the names.
func (l List) Named(names []string) []Schema {
	var found []Schema
	for _, name := range names {
		for _, s := range l {
			if s.Name() == name {
				found = append(found, s)
			}
		}
	}
	return found
}

// Has reports whether a schema of that name exists.
func (l List) Has(name string) bool {
	return slices.ContainsFunc(l, func(s Schema) bool { return s.Name() == name })
}
