package value

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

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

func badBinary(t *Type) error {
	return pgerror.New("22P03", "incorrect binary data format for type %s", t)
}

func unsupported(t *Type) error {
	return pgerror.New(pgerror.FeatureNotSupported, "type %s is not supported", t)
}
