package value

import (
	"errors"
	"strconv"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// Parse parses the text format of a value like PostgreSQL's input functions. Values that depend on
// the time ('now', 'today') use set.Now.
func Parse(t *Type, s string, set *Settings) (Datum, error) {
	switch t {
	case Text, Varchar, BPChar, Unknown, CString, XML, ACLItem, NodeTree, Refcursor, LSN, TID:
		return s, nil
	case Void:
		return "", nil
	case Bool:
		return parseBool(s)
	case Int2, Int4, Int8:
		return datum(parseInt(t, s))
	case OID, XID, CID:
		return datum(parseOID(t, s))
	case Float4, Float8:
		return datum(parseFloat(t, s))
	case NumericType:
		return datum(numeric.Parse(s))
	case Char:
		return parseChar(s), nil
	case Name:
		return cutText(s, maxNameBytes), nil
	case Bytea:
		return parseBytea(s)
	case UUID:
		return parseUUID(s)
	case Hstore:
		return parseHstore(s)
	case JSON, JSONB:
		return parseJSON(t, s)
	case Inet:
		return parseInet(s)
	case DateType:
		return datum(temporal.ParseDate(s, &set.Settings))
	case TimeType:
		return datum(temporal.ParseTime(s, &set.Settings))
	case TimestampType:
		return datum(temporal.ParseTimestamp(s, &set.Settings))
	case TimestampTZType:
		return datum(temporal.ParseTimestampTZ(s, &set.Settings))
	case IntervalType:
		return datum(temporal.ParseInterval(s, temporal.AllFields, set.IntervalStyle))
	case Int2Vector, OIDVector:
		return parseVector(t, s, set)
	case Regproc, Regprocedure, Regoper, Regoperator, Regclass, Regtype, Regnamespace, Regrole, Regcollation:
		return parseReg(t, s, set)
	}
	return parseOther(t, s, set)
}

func parseOther(t *Type, s string, set *Settings) (Datum, error) {
	switch {
	case t.IsEnum():
		return parseLabel(t, s)
	case t.IsArray():
		return parseArray(t.Elem, s, set)
	case t.OID == oidRecord:
		return nil, pgerror.New(pgerror.FeatureNotSupported, "input of anonymous composite types is not implemented")
	case t.IsRow():
		return parseRecord(t, s, set)
	case t.Kind == 'p':
		return nil, pgerror.New(pgerror.FeatureNotSupported, "cannot accept a value of type %s", t.Name)
	}
	return nil, unsupported(t)
}

// datum converts v to a Datum, which is nil if err is not nil.
func datum[T any](v T, err error) (Datum, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func parseHstore(s string) (Datum, error) {
	m, err := hstore.Parse(s)
	if err != nil {
		return nil, pgerror.New(pgerror.InternalError, "%s", err) // PostgreSQL 15 assigns no SQLSTATE of its own
	}
	return m, nil
}

// AppendText appends the text format of d, which must not be nil, to dst.
func AppendText(dst []byte, t *Type, d Datum, set *Settings) []byte {
	switch d := d.(type) {
	case string:
		if t == Char {
			return appendChar(dst, d)
		}
		return append(dst, d...)
	case int64:
		if t.isReg() {
			return appendReg(dst, t, d, set)
		}
		return strconv.AppendInt(dst, d, 10)
	case bool:
		if d {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case float64:
		bits := 64
		if t == Float4 {
			bits = 32
		}
		return appendFloat(dst, d, bits, set.ExtraFloat)
	case numeric.Number:
		return d.Append(dst)
	case hstore.Map:
		return d.Append(dst)
	case []byte:
		return appendBytea(dst, d, set.ByteaEscape)
	case *Array:
		if t == Int2Vector || t == OIDVector {
			return appendVector(dst, d)
		}
		return appendArray(dst, d, set)
	case Record:
		return appendRecord(dst, t, d, set)
	}
	return appendTemporal(dst, d, set)
}

func appendTemporal(dst []byte, d Datum, set *Settings) []byte {
	switch d := d.(type) {
	case temporal.Date:
		return d.Append(dst, set.DateStyle)
	case temporal.Time:
		return d.Append(dst)
	case temporal.Timestamp:
		return d.Append(dst, set.DateStyle)
	case temporal.TimestampTZ:
		return d.Append(dst, set.DateStyle, set.Zone)
	case temporal.Interval:
		return d.Append(dst, set.IntervalStyle)
	}
	return dst
}

func (t *Type) isReg() bool {
	switch t {
	case Regproc, Regprocedure, Regoper, Regoperator, Regclass, Regtype, Regnamespace, Regrole, Regcollation:
		return true
	}
	return false
}

// String returns the text format of d, which must not be nil.
func String(t *Type, d Datum, set *Settings) string {
	if s, ok := d.(string); ok && t != Char {
		return s
	}
	return string(AppendText(nil, t, d, set))
}

var errHstore = map[error]*pgerror.Error{
	hstore.ErrTruncated: {Code: pgerror.ProtocolViolation, Message: "insufficient data left in message"},
	hstore.ErrTrailing:  {Code: "22P03", Message: "incorrect binary data format"},
	hstore.ErrCount:     {Code: pgerror.ProgramLimitExceeded, Message: "number of pairs is out of range"},
	hstore.ErrNullKey:   {Code: pgerror.NullNotAllowed, Message: "null value not allowed for hstore key"},
}

func hstoreError(err error) error {
	if text, ok := errors.AsType[hstore.TextError](err); ok {
		return charset.Valid(string(text))
	}
	for is, pg := range errHstore {
		if errors.Is(err, is) {
			return pg
		}
	}
	return err
}
