package value

import (
	"fiveways/internal/protocol/pgwire/pgerror"
)

// Parse reads the text form of a value, as PostgreSQL's input functions do. What depends on the time ('now', 'today') is set.Now.
func Parse(t *Type, s string, set *Settings) (Datum, error) {
	return nil, unsupported(t)
}

// AppendText appends the text form of d, which is not nil, to dst.
func AppendText(dst []byte, t *Type, d Datum, set *Settings) []byte {
	return dst
}

// String is the text form of d, which is not nil.
func String(t *Type, d Datum, set *Settings) string {
	return string(AppendText(nil, t, d, set))
}

// ParseBinary reads the binary form of a value, as PostgreSQL's receive functions do. It keeps nothing of b.
func ParseBinary(t *Type, b []byte) (Datum, error) {
	return nil, unsupported(t)
}

// AppendBinary appends the binary form of d, which is not nil, to dst.
func AppendBinary(dst []byte, t *Type, d Datum) ([]byte, error) {
	return dst, unsupported(t)
}

// Compare orders two values of one type, neither nil, as the type's btree operators do; text by its bytes.
// Types without an order (json, xml) give an error.
func Compare(t *Type, a, b Datum) (int, error) {
	return 0, unsupported(t)
}

// AppendKey appends bytes to dst that are the same for two values exactly when the values are equal; for DISTINCT, GROUP BY and hash
// joins. nil has a key of its own. Keys can be strung together.
func AppendKey(dst []byte, t *Type, d Datum) []byte {
	return dst
}

// How a value of one type may become one of another, as in pg_cast.castcontext; CastNone: not at all.
const (
	CastNone       byte = 0
	CastImplicit   byte = 'i'
	CastAssignment byte = 'a'
	CastExplicit   byte = 'e'
)

// CastKind tells how freely from is converted to to. From unknown the text is parsed.
func CastKind(from, to *Type) byte {
	return CastNone
}

// Cast converts d, which is not nil, and fits it to typmod (-1: none). explicit is of a CAST or ::, which may cut what an assignment
// refuses to cut.
func Cast(from, to *Type, d Datum, typmod int32, explicit bool, set *Settings) (Datum, error) {
	return nil, unsupported(to)
}

// Typmod encodes the arguments of a type's name as PostgreSQL does: numeric(p, s), varchar(n), timestamp(p), interval(fields, p).
func Typmod(t *Type, args []int32) (int32, error) {
	return -1, unsupported(t)
}

// Format is format_type(t, typmod): "numeric(10,2)".
func Format(t *Type, typmod int32) string {
	return t.String()
}

func unsupported(t *Type) error {
	return pgerror.New(pgerror.FeatureNotSupported, "type %s is not supported", t)
}
