package nippy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AppendJSON appends a thawed value as JSON. Keywords, symbols and characters become their names.
// Sequential values and sets become arrays; maps and records become objects; byte arrays become
// base64. Dates, instants, durations and periods are in ISO 8601. UUIDs, URIs, patterns and ratios
// become text. It fails with ErrUnsupported for a double that is NaN or infinite, and for a map
// whose keys are collections or have the same text.
func AppendJSON(b []byte, v any) ([]byte, error) { return appendJSON(b, v, 0) }

// appendJSON is bounded in depth and length, because a cached value may appear in many places.
func appendJSON(b []byte, v any, depth int) ([]byte, error) {
	if depth >= maxDepth || len(b) > maxBytes {
		return nil, fmt.Errorf("nippy: %w: as JSON more than %d levels or %d bytes", ErrUnsupported, maxDepth, maxBytes)
	}
	switch v := v.(type) {
	case []any:
		return appendArray(b, v, depth)
	case Set:
		return appendArray(b, v, depth)
	case Map:
		return appendObject(b, v, depth)
	case Record:
		return appendJSON(b, v.Fields, depth)
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return appendFloat(b, v, 64)
	case float32:
		return appendFloat(b, float64(v), 32)
	case *big.Int:
		return v.Append(b, 10), nil
	case Decimal:
		return append(b, v.String()...), nil
	}
	text, ok := textOf(v)
	if !ok {
		return nil, fmt.Errorf("nippy: %w: JSON of a %T", ErrUnsupported, v)
	}
	return appendText(b, text), nil
}

func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // never fails for a string
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func appendArray(b []byte, all []any, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, v, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, m Map, depth int) (_ []byte, err error) {
	b = append(b, '{')
	seen := make(map[string]bool, len(m))
	for i, e := range m {
		key, err := keyOf(e.Key)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("nippy: %w: JSON of a map with two keys that are %q", ErrUnsupported, key)
		}
		seen[key] = true
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, key), ':')
		if b, err = appendJSON(b, e.Value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// keyOf returns the key of an object: text, or the text of a number or a boolean.
func keyOf(v any) (string, error) {
	switch v.(type) {
	case nil, bool, int64, float64, float32, *big.Int, Decimal:
		b, err := appendJSON(nil, v, 0)
		return string(b), err
	}
	if text, ok := textOf(v); ok {
		return text, nil
	}
	return "", fmt.Errorf("nippy: %w: JSON of a map with a %T as a key", ErrUnsupported, v)
}

// appendFloat always writes a point or an exponent, so that a double stays a double.
func appendFloat(b []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("nippy: %w: JSON of %v", ErrUnsupported, f)
	}
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(b, text...), nil
}

// maxPlain is the largest scale that is written without an exponent.
const maxPlain = 40

// String returns the number, with an exponent if its scale is large.
func (d Decimal) String() string {
	switch {
	case d.Scale == 0:
		return d.Unscaled.String()
	case d.Scale > 0 && d.Scale <= maxPlain:
		sign := ""
		if d.Unscaled.Sign() < 0 {
			sign = "-"
		}
		digits := fmt.Sprintf("%0*s", d.Scale+1, new(big.Int).Abs(d.Unscaled).String())
		point := len(digits) - int(d.Scale)
		return sign + digits[:point] + "." + digits[point:]
	}
	return d.Unscaled.String() + "e" + strconv.FormatInt(-int64(d.Scale), 10)
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Keyword:
		return string(v), true
	case Symbol:
		return string(v), true
	case URI:
		return string(v), true
	case Pattern:
		return string(v), true
	case Char:
		return string(rune(v)), true
	case []byte:
		return base64.StdEncoding.EncodeToString(v), true
	case *big.Rat:
		return v.String(), true
	case time.Time:
		return v.Format("2006-01-02T15:04:05.999999999Z07:00"), true
	case UUID:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]), true
	case Period:
		return fmt.Sprintf("P%dY%dM%dD", v.Years, v.Months, v.Days), true
	case Duration:
		return v.String(), true
	}
	return "", false
}

// String returns the duration in ISO 8601, in seconds.
func (d Duration) String() string {
	whole := new(big.Int).Mul(big.NewInt(d.Seconds), big.NewInt(1e9))
	r := new(big.Rat).SetFrac(whole.Add(whole, big.NewInt(int64(d.Nanos))), big.NewInt(1e9))
	text := r.FloatString(9)
	return "PT" + strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "S"
}

// FromJSON parses JSON as Clojure programs usually do: the keys of objects become keywords,
// integers become longs or big integers, other numbers doubles.
func FromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("nippy: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("nippy: %w: something behind the JSON", ErrMalformed)
	}
	return fromJSON(v)
}

// maxDigits is the maximum number of digits of a number of maxBigBytes.
const maxDigits = maxBigBytes * 5 / 2

func fromJSON(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return v.Float64()
		}
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		if len(v) > maxDigits {
			return nil, fmt.Errorf("nippy: %w: a number of %d digits", ErrMalformed, len(v))
		}
		n, _ := new(big.Int).SetString(string(v), 10) // an integer, because it was valid JSON
		return n, nil
	case []any:
		for i := range v {
			if v[i], err = fromJSON(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		return mapFromJSON(v)
	}
	return v, nil
}

func mapFromJSON(object map[string]any) (Map, error) {
	m := make(Map, 0, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) { // for a deterministic result
		value, err := fromJSON(object[key])
		if err != nil {
			return nil, err
		}
		m = append(m, Entry{Keyword(key), value})
	}
	return m, nil
}
