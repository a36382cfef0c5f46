package expr

import (
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// castContext is where a conversion is asked for: what is allowed in an implicit one is allowed in
// the others too.
type castContext byte

const (
	implicit   castContext = iota // an argument of a function or operator
	assignment                    // a value for a column
	explicit                      // CAST or ::
)

// pathway is how a value of one type becomes one of another.
type pathway byte

const (
	noPathway  pathway = iota
	relabel            // the value stays as it is
	byFunction         // by a function of pg_cast
	byText             // by the text form
	byElement          // each element of an array
)

// castEntry is a line of pg_cast.
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

// findPathway tells how from becomes to where ctx allows it. Unknown and pseudo types are not its
// matter: see canCoerce.
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

// canCoerce reports whether arguments of the types from can be given where those of to are
// declared.
func canCoerce(from, to []*value.Type, ctx castContext) bool {
	generic := false
	for i, f := range from {
		t := to[i]
		switch {
		case f == t || t == value.Any || isRecord(f) && t == value.RecordT:
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

// isRecord reports whether t is the type of anonymous rows: record itself, or one that knows its
// fields.
func isRecord(t *value.Type) bool { return t.OID == value.RecordT.OID }
