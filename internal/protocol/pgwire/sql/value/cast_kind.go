package value

import (
	"strings"
	"sync"
)

// CastNone means that there is no cast between two types. Other casts have the letter of
// pg_cast.castcontext.
const CastNone byte = 0

// castList is pg_cast: the source type, followed by the target types with their cast contexts.
const castList = `
int2: int4 i, int8 i, float4 i, float8 i, numeric i, oid i, regproc i, regprocedure i, regoper i, regoperator i, regclass i, regtype i,
 regrole i, regnamespace i, regcollation i
int4: int2 a, int8 i, float4 i, float8 i, numeric i, bool e, oid i, regproc i, regprocedure i, regoper i, regoperator i, regclass i,
 regtype i, regrole i, regnamespace i, regcollation i, char e
int8: int2 a, int4 a, float4 i, float8 i, numeric i, oid i, regproc i, regprocedure i, regoper i, regoperator i, regclass i, regtype i,
 regrole i, regnamespace i, regcollation i
float4: int2 a, int4 a, int8 a, float8 i, numeric a
float8: int2 a, int4 a, int8 a, float4 a, numeric a
numeric: int2 a, int4 a, int8 a, float4 i, float8 i
bool: int4 e, text a, varchar a, bpchar a
oid: int4 a, int8 a, regproc i, regprocedure i, regoper i, regoperator i, regclass i, regtype i, regrole i, regnamespace i, regcollation i
regproc: oid i, int4 a, int8 a, regprocedure i
regprocedure: oid i, int4 a, int8 a, regproc i
regoper: oid i, int4 a, int8 a, regoperator i
regoperator: oid i, int4 a, int8 a, regoper i
regclass: oid i, int4 a, int8 a
regtype: oid i, int4 a, int8 a
regrole: oid i, int4 a, int8 a
regnamespace: oid i, int4 a, int8 a
regcollation: oid i, int4 a, int8 a
text: bpchar i, varchar i, char a, name i, regclass i, xml e
varchar: text i, bpchar i, char a, name i, regclass i, xml e
bpchar: text i, varchar i, char a, name i, xml e
char: text i, bpchar a, varchar a, int4 e
name: text i, bpchar a, varchar a
pg_node_tree: text i
xml: text a, varchar a, bpchar a
inet: text a, varchar a, bpchar a
date: timestamp i, timestamptz i
time: interval i, timetz i
timestamp: date a, time a, timestamptz i
timestamptz: date a, time a, timestamp a, timetz a
interval: time a
timetz: time a
json: jsonb a
jsonb: json a, bool e, numeric e, int2 e, int4 e, int8 e, float4 e, float8 e
hstore: json e, jsonb e
_text: hstore e`

// casts is computed on first use, because the types are initialized in the order of the files.
var casts = sync.OnceValue(parseCasts)

func parseCasts() map[[2]*Type]byte {
	all := map[[2]*Type]byte{}
	for _, line := range strings.Split(strings.ReplaceAll(castList, "\n ", " "), "\n")[1:] {
		from, targets, _ := strings.Cut(line, ": ")
		for _, target := range strings.Split(targets, ", ") {
			to, kind, _ := strings.Cut(strings.TrimSpace(target), " ")
			all[[2]*Type{ByName(from), ByName(to)}] = kind[0]
		}
	}
	return all
}

// BinaryCoercible reports whether values of from are also valid values of to, so that a function
// for to accepts them unchanged.
func BinaryCoercible(from, to *Type) bool {
	switch {
	case from == to:
		return true
	case from == Varchar || from == Text:
		return to == Text || to == Varchar || to == BPChar
	case from == OID || from.isReg():
		return to == OID || from == OID && to.isReg() || from == Regproc && to == Regprocedure || from == Regprocedure && to == Regproc
	case from == NodeTree:
		return to == Text
	case from.IsRow():
		return to == RecordT
	case from == Int2Vector:
		return to == Int2.Array
	case from == OIDVector:
		return to == OID.Array
	}
	return false
}

// ListedCast returns the pg_cast entry for two types, or CastNone if there is none. Casts by text
// and casts of arrays are not listed.
func ListedCast(from, to *Type) byte { return casts()[[2]*Type{from, to}] }
