package expr

import (
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// castContext is the context of a conversion. What is allowed in an implicit context is allowed in
// the others too.
type castContext byte

const (
	implicit   castContext = iota // an argument of a function or operator
	assignment                    // a value for a column
	explicit                      // CAST or ::
)

// pathway is a method of converting a value to another type.
type pathway byte

const (
	noPathway  pathway = iota
	relabel            // the value is unchanged
	byFunction         // by a function of pg_cast
	byText             // by the text representation
	byElement          // each element of an array
)

// castEntry is a row of pg_cast.
type castEntry struct {
	context  castContext
	pathway  pathway
	function string // the C function
}

type typePair struct{ from, to *value.Type }

var castTable = sync.OnceValue(func() map[typePair]castEntry {
	contexts := map[byte]castContext{'i': implicit, 'a': assignment, 'e': explicit}
	pathways := map[byte]pathway{'f': byFunction, 'b': relabel, 'i': byText}
	table := map[typePair]castEntry{}
	for line := range strings.Lines(castLines) {
		f := strings.Split(line, "\t")
		table[typePair{typeNamed(f[0]), typeNamed(f[1])}] = castEntry{contexts[f[2][0]], pathways[f[2][1]], f[3]}
	}
	return table
})

func castBetween(from, to *value.Type) (castEntry, bool) {
	c, ok := castTable()[typePair{from, to}]
	return c, ok
}

// findPathway returns how from is converted to to in the context ctx. canCoerce handles unknown and
// pseudo types.
func findPathway(from, to *value.Type, ctx castContext) pathway {
	if from == to {
		return relabel
	}
	if c, ok := castBetween(from, to); ok {
		if ctx < c.context {
			return noPathway
		}
		return c.pathway
	}
	if from.IsArray() && to.IsArray() && to != value.Int2Vector && to != value.OIDVector {
		if findPathway(from.Elem, to.Elem, ctx) != noPathway {
			return byElement
		}
	}
	if ctx >= assignment && to.Category == 'S' || ctx >= explicit && from.Category == 'S' {
		return byText
	}
	return noPathway
}

// canCoerce reports whether arguments of the types from are accepted for the declared types to.
func canCoerce(from, to []*value.Type, ctx castContext) bool {
	generic := false
	for i, f := range from {
		t := to[i]
		switch {
		case f == t || sameRow(f, t) || t == value.Any || isRecord(f) && t == value.RecordT:
		case isPolymorphic(t):
			generic = true
		case f == value.Unknown:
		case findPathway(f, t, ctx) != noPathway:
		case isRecord(f) && t.Kind == 'c', f.Kind == 'c' && t == value.RecordT:
		case f.Elem != nil && f.Elem.IsRow() && t == value.RecordT.Array:
		default:
			return false
		}
	}
	return !generic || consistent(from, to)
}

func canCoerceOne(from, to *value.Type, ctx castContext) bool {
	return canCoerce([]*value.Type{from}, []*value.Type{to}, ctx)
}

// isRecord reports whether t is a type of anonymous rows: record itself, or a variant with known
// fields.
func isRecord(t *value.Type) bool { return t.OID == value.RecordT.OID }
