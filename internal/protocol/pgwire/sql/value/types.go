package value

import "maps"

// The built-in types. An array type is the Array field of its element type: Int4.Array.
var (
	Bool     = base(16, 1000, "bool", "boolean", 1, 'B', true)
	Bytea    = base(17, 1001, "bytea", "", -1, 'U', false)
	Char     = base(18, 1002, "char", `"char"`, 1, 'Z', false)
	Name     = base(19, 1003, "name", "", 64, 'S', false)
	Int8     = base(20, 1016, "int8", "bigint", 8, 'N', false)
	Int2     = base(21, 1005, "int2", "smallint", 2, 'N', false)
	Int4     = base(23, 1007, "int4", "integer", 4, 'N', false)
	Regproc  = base(24, 1008, "regproc", "", 4, 'N', false)
	Text     = base(25, 1009, "text", "", -1, 'S', true)
	OID      = base(26, 1028, "oid", "", 4, 'N', true)
	TID      = base(27, 1010, "tid", "", 6, 'U', false)
	XID      = base(28, 1011, "xid", "", 4, 'U', false)
	CID      = base(29, 1012, "cid", "", 4, 'U', false)
	JSON     = base(114, 199, "json", "", -1, 'U', false)
	XML      = base(142, 143, "xml", "", -1, 'U', false)
	NodeTree = base(194, 0, "pg_node_tree", "", -1, 'Z', false)
	Float4   = base(700, 1021, "float4", "real", 4, 'N', false)
	Float8   = base(701, 1022, "float8", "double precision", 8, 'N', true)
	Inet     = base(869, 1041, "inet", "", -1, 'I', true)
	ACLItem  = base(1033, 1034, "aclitem", "", 12, 'U', false)
	BPChar   = base(1042, 1014, "bpchar", "character", -1, 'S', false)
	Varchar  = base(1043, 1015, "varchar", "character varying", -1, 'S', false)

	DateType        = base(1082, 1182, "date", "", 4, 'D', false)
	TimeType        = base(1083, 1183, "time", "time without time zone", 8, 'D', false)
	TimestampType   = base(1114, 1115, "timestamp", "timestamp without time zone", 8, 'D', false)
	TimestampTZType = base(1184, 1185, "timestamptz", "timestamp with time zone", 8, 'D', true)
	IntervalType    = base(1186, 1187, "interval", "", 16, 'T', true)
	TimeTZ          = base(1266, 1270, "timetz", "time with time zone", 12, 'D', false) // has no values here
	NumericType     = base(1700, 1231, "numeric", "", -1, 'N', false)

	Refcursor    = base(1790, 2201, "refcursor", "", -1, 'U', false)
	Regprocedure = base(2202, 2207, "regprocedure", "", 4, 'N', false)
	Regoper      = base(2203, 2208, "regoper", "", 4, 'N', false)
	Regoperator  = base(2204, 2209, "regoperator", "", 4, 'N', false)
	Regclass     = base(2205, 2210, "regclass", "", 4, 'N', false)
	Regtype      = base(2206, 2211, "regtype", "", 4, 'N', false)
	UUID         = base(2950, 2951, "uuid", "", 16, 'U', false)
	LSN          = base(3220, 3221, "pg_lsn", "", 8, 'U', false)
	JSONB        = base(3802, 3807, "jsonb", "", -1, 'U', false)
	Regnamespace = base(4089, 4090, "regnamespace", "", 4, 'N', false)
	Regrole      = base(4096, 4097, "regrole", "", 4, 'N', false)
	Regcollation = base(4191, 4192, "regcollation", "", 4, 'N', false)

	Int2Vector = vector(22, 1006, "int2vector", Int2)
	OIDVector  = vector(30, 1013, "oidvector", OID)

	Hstore  = inSchema("public", base(OIDHstore, OIDHstoreArray, "hstore", "", -1, 'U', false))
	QTModel = composite(OIDQTModel, OIDQTModelArr, RelQTModel, "mbus4", "qt_model", []Field{
		{Name: "id", Type: Int8}, {Name: "added", Type: TimestampType}, {Name: "iid", Type: Text}, {Name: "delayed_until", Type: TimestampType}, {Name: "expires", Type: TimestampType},
		{Name: "received", Type: Int4.Array}, {Name: "headers", Type: Hstore}, {Name: "properties", Type: Hstore}, {Name: "data", Type: Hstore},
	})
)

// Pseudo-types: of expressions of unknown type, of rows, and of arguments of any type.
var (
	Unknown = pseudo(705, 0, "unknown", -2, 'X')
	RecordT = pseudo(2249, 2287, "record", -1, 'P')
	CString = pseudo(2275, 1263, "cstring", -2, 'P')
	Any     = pseudo(2276, 0, "any", 4, 'P')
	Void    = pseudo(2278, 0, "void", 4, 'P')
	Trigger = pseudo(2279, 0, "trigger", 4, 'P')

	Internal        = pseudo(2281, 0, "internal", 8, 'P')
	AnyArray        = pseudo(2277, 0, "anyarray", -1, 'P')
	AnyElement      = pseudo(2283, 0, "anyelement", 4, 'P')
	AnyNonArray     = pseudo(2776, 0, "anynonarray", 4, 'P')
	AnyEnum         = pseudo(3500, 0, "anyenum", 4, 'P')
	AnyRange        = pseudo(3831, 0, "anyrange", -1, 'P')
	AnyCompatible   = pseudo(5077, 0, "anycompatible", 4, 'P')
	AnyCompatArray  = pseudo(5078, 0, "anycompatiblearray", -1, 'P')
	AnyCompatNonArr = pseudo(5079, 0, "anycompatiblenonarray", 4, 'P')
)

// byOID and byName contain every built-in type, including array types. They do not change after
// initialization.
var (
	byOID  = map[uint32]*Type{}
	byName = map[string]*Type{}
)

// ByOID returns a built-in type, or nil if there is none.
func ByOID(oid uint32) *Type { return byOID[oid] }

// ByName returns a built-in type by its name in pg_type ("int4", "_int4"), or nil if there is none.
// Names are unique across schemas.
func ByName(name string) *Type { return byName[name] }

// All returns every built-in type, in no particular order.
func All() []*Type {
	all := make([]*Type, 0, len(byOID))
	for t := range maps.Values(byOID) {
		all = append(all, t)
	}
	return all
}

// ArrayOf returns the array type of t, or nil if there is none. The array type of anonymous rows
// keeps their fields.
func ArrayOf(t *Type) *Type {
	if t.OID != oidRecord || t.Fields == nil {
		return t.Array
	}
	array := *RecordT.Array
	array.Elem = t
	return &array
}

// IsArray reports whether values of t are *Array.
func (t *Type) IsArray() bool { return t.Elem != nil }

// IsRow reports whether values of t are Record.
func (t *Type) IsRow() bool { return t.Kind == 'c' || t.OID == oidRecord }

const oidRecord = 2249

// String returns the name that format_type shows: "integer", "text[]", "mbus4.qt_model".
func (t *Type) String() string {
	if t.SQLName != "" {
		return t.SQLName
	}
	return t.Name
}

func register(t *Type) *Type {
	byOID[t.OID] = t
	byName[t.Name] = t
	return t
}

// withArray adds the array type of t.
func withArray(t *Type, oid uint32) *Type {
	if oid != 0 {
		t.Array = register(&Type{
			OID: oid, Name: "_" + t.Name, SQLName: t.String() + "[]", Schema: t.Schema, Len: -1, Category: 'A', Kind: 'b', Elem: t,
		})
		if t.OID == oidRecord {
			t.Array.Category, t.Array.Kind = 'P', 'p'
		}
	}
	return t
}

func base(oid, array uint32, name, sqlName string, length int16, category byte, prefer bool) *Type {
	return withArray(register(&Type{
		OID: oid, Name: name, SQLName: sqlName, Schema: "pg_catalog", Len: length, Category: category, Prefer: prefer, Kind: 'b',
	}), array)
}

func vector(oid, array uint32, name string, elem *Type) *Type {
	t := base(oid, array, name, "", -1, 'A', false)
	t.Elem = elem
	return t
}

func pseudo(oid, array uint32, name string, length int16, category byte) *Type {
	t := &Type{OID: oid, Name: name, Schema: "pg_catalog", Len: length, Category: category, Kind: 'p'}
	if name == "any" {
		t.SQLName = `"any"`
	}
	return withArray(register(t), array)
}

func inSchema(schema string, t *Type) *Type {
	t.Schema, t.Array.Schema = schema, schema
	return t
}

func composite(oid, array, relation uint32, schema, name string, fields []Field) *Type {
	return withArray(register(&Type{
		OID: oid, Name: name, SQLName: schema + "." + name, Schema: schema, Len: -1, Category: 'C', Kind: 'c', Fields: fields, Relation: relation,
	}), array)
}
