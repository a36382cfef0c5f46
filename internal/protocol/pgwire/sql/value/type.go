package value

// Type is an SQL type. Types are compared by address; each exists once.
type Type struct {
	OID      uint32
	Name     string // in pg_type: "int4"
	SQLName  string // as shown by format_type: "integer"; empty: Name
	Schema   string // pg_catalog, mbus4, public
	Len      int16  // typlen: bytes of the binary format, -1 variable
	Category byte   // typcategory
	Prefer   bool   // typispreferred
	Kind     byte   // typtype: b base, c composite, e enumeration, p pseudo, d domain
	Elem     *Type  // of an array type
	Array    *Type  // the array type of this type; nil: none
	Fields   []Field
	Relation uint32   // of a composite type: the OID of its relation
	Labels   []string // of an enumeration, in order
}

// Field is a field of a composite type or a column of a result.
type Field struct {
	Name string
	Type *Type
	Mod  int32 // typmod + 1, so that 0 means none

	Origin Origin
}

// Origin is the column of a relation whose values a column of a result has, as drivers ask for the
// names of its table and column. Zero: none, such as that of an expression.
type Origin struct {
	Relation uint32 // the OID
	Column   int16  // attnum
}

// RowType returns the type of rows with these fields.
func RowType(fields []Field) *Type {
	t := *RecordT
	t.Fields = fields
	return &t
}

// OIDs of the types that PostgreSQL would create with the extension and the schema. They are fixed,
// because clients may cache them.
const (
	OIDHstore      = 16400
	OIDHstoreArray = 16405
	OIDQTModel     = 16420 // mbus4.qt_model
	OIDQTModelArr  = 16419
	RelQTModel     = 16418

	OIDSemaphoreStatus    = 16431 // markup.semaphore_status
	OIDSemaphoreStatusArr = 16430
	OIDSemaphore          = 16434 // markup.semaphore
	OIDSemaphoreArr       = 16433
	RelSemaphore          = 16432
	OIDSemaphoreTask      = 16437 // markup.semaphore_task
	OIDSemaphoreTaskArr   = 16436
	RelSemaphoreTask      = 16435
)
