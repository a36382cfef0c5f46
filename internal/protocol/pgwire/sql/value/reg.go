package value

import (
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// missing has the SQLSTATE and the object kind for the error that an object does not exist.
var missing = map[uint32]struct{ code, kind string }{
	24:   {pgerror.UndefinedFunction, "function"},
	2202: {pgerror.UndefinedFunction, "function"},
	2203: {pgerror.UndefinedFunction, "operator does not exist:"},
	2204: {pgerror.UndefinedFunction, "operator does not exist:"},
	2205: {pgerror.UndefinedTable, "relation"},
	2206: {pgerror.UndefinedObject, "type"},
	4089: {pgerror.InvalidSchema, "schema"},
	4096: {pgerror.UndefinedObject, "role"},
	4191: {pgerror.UndefinedObject, "collation"},
}

// parseReg returns the OID of an object given by OID or name.
func parseReg(t *Type, s string, set *Settings) (Datum, error) {
	if s == "-" {
		return int64(0), nil
	}
	if pgtext.AllDigits(s) {
		return parseOID(OID, s)
	}
	if set.Names != nil {
		if oid, ok, err := set.Names.Find(t, s); ok || err != nil {
			return oid, err
		}
	}
	if t == Regtype {
		if found := typeNamed(s); found != nil {
			return int64(found.OID), nil
		}
	}
	m := missing[t.OID]
	if strings.HasSuffix(m.kind, ":") {
		return nil, pgerror.New(m.code, "%s %s", m.kind, s)
	}
	return nil, pgerror.New(m.code, "%s \"%s\" does not exist", m.kind, s)
}

// aliases are type names that are part of the grammar and not in pg_type.
var aliases = map[string]*Type{
	"int": Int4, "decimal": NumericType, "dec": NumericType, "float": Float8, "boolean": Bool, "integer": Int4, "smallint": Int2, "bigint": Int8,
	"real": Float4, "double precision": Float8, "character varying": Varchar, "character": BPChar, "char": BPChar, `"char"`: Char,
	"timestamp without time zone": TimestampType, "timestamp with time zone": TimestampTZType, "time without time zone": TimeType,
	"time with time zone": TimeTZ,
}

// typeNamed returns a built-in type by name, in any usual notation: int4, integer, text[],
// pg_catalog.int4.
func typeNamed(s string) *Type {
	name := strings.Join(strings.Fields(s), " ")
	if element, ok := strings.CutSuffix(name, "[]"); ok {
		if t := typeNamed(element); t != nil {
			return t.Array
		}
		return nil
	}
	schema, rest, ok := strings.Cut(name, ".")
	if ok {
		name = rest
	}
	t := aliases[strings.ToLower(name)]
	if t == nil {
		if t = ByName(strings.ToLower(name)); t == nil {
			t = ByName(strings.Trim(name, `"`))
		}
	}
	if t == nil || ok && t.Schema != strings.Trim(schema, `"`) {
		return nil
	}
	return t
}

func appendReg(dst []byte, t *Type, oid int64, set *Settings) []byte {
	if oid == 0 {
		return append(dst, '-')
	}
	if set.Names != nil {
		if text, ok := set.Names.Show(t, oid); ok {
			return append(dst, text...)
		}
	}
	if t == Regtype {
		if found := ByOID(uint32(oid)); found != nil {
			return append(dst, found.String()...)
		}
	}
	return strconv.AppendInt(dst, oid, 10)
}
