package value

// Type is one SQL type. Types are compared by address; there is one for each.
type Type struct {
	OID      uint32
	Name     string // in pg_type: "int4"
	SQLName  string // as format_type shows it: "integer"; empty: Name
	Schema   string // pg_catalog, mbus4, public
	Len      int16  // typlen: bytes in the binary form, -1 varying
	Category byte   // typcategory
	Prefer   bool   // typispreferred
	Kind     byte   // typtype: b base, c composite, e enumeration, p pseudo, d domain
	Elem     *Type  // of an array
	Array    *Type  // the array of it; nil: there is none
	Fields   []Field
	Relation uint32   // of a composite type: the OID of the relation whose rows its values are
	Labels   []string // of an enumeration, in their order
}

// Field is one field of a composite type, or one column of a result.
type Field struct {
	Name string
	Type *Type
	Mod  int32 // 1 more than the typmod, so that 0 is none
}

// The OIDs of the types that PostgreSQL makes with the extension and the schema; fixed, so that
// clients may remember them.
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
