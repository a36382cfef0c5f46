package value

import (
	"errors"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// ErrOutOfRange returns the error for a result that is out of the range of its type.
func ErrOutOfRange(t *Type) error {
	return pgerror.New(pgerror.NumericOutOfRange, "%s out of range", t)
}

func badText(t *Type, s string) error {
	return pgerror.New(pgerror.InvalidText, "invalid input syntax for type %s: \"%s\"", t, s)
}

func textOutOfRange(t *Type, s string) error {
	return pgerror.New(pgerror.NumericOutOfRange, "value \"%s\" is out of range for type %s", s, t)
}

const trailing = "incorrect binary data format"

func errTrailing() error { return pgerror.New("22P03", trailing) }

// IsTrailing reports whether err is ParseBinary's error for bytes after the end of the value. Its
// text does not say where the value is; PostgreSQL adds that for a parameter, but not in COPY.
func IsTrailing(err error) bool {
	e, ok := errors.AsType[*pgerror.Error](err)
	return ok && e.Message == trailing
}

func errShort() error {
	return pgerror.New(pgerror.ProtocolViolation, "insufficient data left in message")
}

// errNoByte is the error of types that PostgreSQL reads byte by byte.
func errNoByte() error {
	return pgerror.New(pgerror.ProtocolViolation, "no data left in message")
}

func unsupported(t *Type) error {
	return pgerror.New(pgerror.FeatureNotSupported, "type %s is not supported", t)
}
