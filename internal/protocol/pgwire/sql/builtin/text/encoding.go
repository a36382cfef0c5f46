package text

import (
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// encodingNamed returns an encoding by name, nil for UTF8. side is the name of the argument in
// errors: source or destination.
func encodingNamed(side, name string) (*charset.Encoding, error) {
	number := charset.Number(name)
	if number < 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, `invalid %s encoding name "%s"`, side, name)
	}
	known := charset.Name(int64(number))
	e, ok := charset.ByName(known)
	if !ok {
		from, to := known, charset.UTF8
		if side == "destination" {
			from, to = to, from
		}
		return nil, noConversion(from, to)
	}
	return e, nil
}

func decodeFrom(b []byte, name string) (string, error) {
	e, err := encodingNamed("source", name)
	if err != nil {
		return "", err
	}
	if e != nil {
		return e.Decode(string(b))
	}
	return string(b), charset.Valid(string(b))
}

func encodeTo(s, name string) ([]byte, error) {
	e, err := encodingNamed("destination", name)
	if err != nil || e == nil {
		return []byte(s), err
	}
	return e.Append(nil, s)
}

func convertFrom(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, err := decodeFrom(a[0].([]byte), a[1].(string))
	if err != nil {
		return nil, err
	}
	return s, nil
}

func convertTo(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, err := encodeTo(a[0].(string), a[1].(string))
	if err != nil {
		return nil, err
	}
	return b, nil
}

func convert(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	from, to := charset.Number(a[1].(string)), charset.Number(a[2].(string))
	if from >= 0 && to >= 0 && from != to && from != charset.UTF8Number && to != charset.UTF8Number {
		return nil, noConversion(charset.Name(int64(from)), charset.Name(int64(to)))
	}
	s, err := decodeFrom(a[0].([]byte), a[1].(string))
	if err != nil {
		return nil, err
	}
	b, err := encodeTo(s, a[2].(string))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// encodedLength returns the number of characters that bytes represent in an encoding.
func encodedLength(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, name := a[0].([]byte), a[1].(string)
	number := charset.Number(name)
	if number < 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, `invalid encoding name "%s"`, name)
	}
	e, ok := charset.ByName(charset.Name(int64(number)))
	switch {
	case !ok:
		return nil, pgerror.New(pgerror.FeatureNotSupported, `encoding "%s" is not supported`, name)
	case e == nil:
		return int64(utf8.RuneCount(b)), charset.Valid(string(b))
	}
	n, err := e.Length(b)
	return int64(n), err
}

func noConversion(from, to string) error {
	return pgerror.New(pgerror.UndefinedFunction, `default conversion function for encoding "%s" to "%s" does not exist`, from, to)
}

func addEncodings(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{"pg_convert": convert, "length_in_encoding": encodedLength, "pg_convert_from": convertFrom, "pg_convert_to": convertTo})
}
