package numeric

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/test/postgres/peer"
)

// outcome shows a result like peer.Answer.
func outcome(n Number, err error) string {
	if e, ok := errors.AsType[*pgerror.Error](err); ok {
		return e.Code + " " + e.Message
	}
	if err != nil {
		return err.Error()
	}
	return "= " + n.String()
}

func number(t *testing.T, s string) Number {
	t.Helper()
	n, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// PostgreSQL 15's results for texts.
var texts = []struct{ in, out string }{
	{" nan ", "= NaN"}, {"+inf", "= Infinity"}, {"-Infinity", "= -Infinity"}, {"1.", "= 1"}, {".5", "= 0.5"}, {"-0.00", "= 0.00"}, {"1.5e3", "= 1500"},
	{"1.5e-3", "= 0.0015"}, {"00012.340", "= 12.340"},
	{".", `22P02 invalid input syntax for type numeric: "."`}, {"1e", `22P02 invalid input syntax for type numeric: "1e"`},
	{"-nan", `22P02 invalid input syntax for type numeric: "-nan"`}, {"1 2", `22P02 invalid input syntax for type numeric: "1 2"`},
	{"1e131072", "22003 value overflows numeric format"}, {"1e-20000", "22003 value overflows numeric format"},
}

// TestText parses and formats, and sends each number through the binary format.
func TestText(t *testing.T) {
	for _, c := range texts {
		n, err := Parse(c.in)
		if got := outcome(n, err); got != c.out {
			t.Errorf("%q: %s, want %s", c.in, got, c.out)
		}
		if err != nil {
			continue
		}
		if again, err := ParseBinary(n.AppendBinary(nil)); outcome(again, err) != c.out {
			t.Errorf("%q in binary reads back as %s", c.in, outcome(again, err))
		}
	}
}

func TestTextLikePostgreSQL(t *testing.T) {
	p := peer.New(t)
	for _, c := range texts {
		if got := p.Ask("select $1::numeric", []byte(c.in), 0, 0).String(); got != c.out {
			t.Errorf("PostgreSQL: %q is %s, not %s", c.in, got, c.out)
		}
		n, err := Parse(c.in)
		if err != nil {
			continue
		}
		if theirs := p.Ask("select $1::numeric", []byte(c.in), 0, 1); !bytes.Equal(theirs.Value, n.AppendBinary(nil)) {
			t.Errorf("%q in binary is %x, in PostgreSQL %x", c.in, n.AppendBinary(nil), theirs.Value)
		}
	}
}

// Results of operations in PostgreSQL 15. Operations with one operand ignore the second.
var results = []struct{ sql, a, b, want string }{
	{"%s + %s", "1.50", "2", "= 3.50"}, {"%s * %s", "1.50", "2.0", "= 3.000"}, {"%s - %s", "Infinity", "Infinity", "= NaN"},
	{"%s / %s", "1", "3", "= 0.33333333333333333333"}, {"%s / %s", "10000", "3", "= 3333.3333333333333333"}, {"%s / %s", "1", "0.0", "22012 division by zero"},
	{"%s %% %s", "-7", "3", "= -1"}, {"div(%s, %s)", "-7", "3", "= -2"},
	{"sqrt(%s)", "2", "0", "= 1.414213562373095"}, {"sqrt(%s)", "-1", "0", "2201F cannot take square root of a negative number"},
	{"ln(%s)", "2", "0", "= 0.6931471805599453"}, {"ln(%s)", "0", "0", "2201E cannot take logarithm of zero"},
	{"exp(%s)", "1", "0", "= 2.7182818284590452"}, {"exp(%s)", "1e9", "0", "22003 value overflows numeric format"},
	{"power(%s, %s)", "2", "0.5", "= 1.4142135623730950"}, {"power(%s, %s)", "2", "-3", "= 0.1250000000000000"},
	{"power(%s, %s)", "-2", "0.5", "2201F a negative number raised to a non-integer power yields a complex result"},
	{"power(%s, %s)", "0", "-1", "2201F zero raised to a negative power is undefined"},
	{"round(%s, 2)", "2.345", "0", "= 2.35"}, {"trunc(%s, -1)", "-19.9", "0", "= -10"}, {"floor(%s)", "-1.5", "0", "= -2"}, {"ceil(%s)", "-1.5", "0", "= -1"},
	{"trim_scale(%s)", "1.500", "0", "= 1.5"}, {"abs(%s)", "-Infinity", "0", "= Infinity"},
}

// TestResults verifies the digits and the errors of operations.
func TestResults(t *testing.T) {
	for _, c := range results {
		for _, op := range operations {
			if op.sql != c.sql {
				continue
			}
			if got := outcome(op.call(number(t, c.a), number(t, c.b))); got != c.want {
				t.Errorf("%s of %s and %s: %s, want %s", c.sql, c.a, c.b, got, c.want)
			}
		}
	}
}

func TestResultsLikePostgreSQL(t *testing.T) {
	p := peer.New(t)
	for _, c := range results {
		if got := p.Ask(query(c.sql, c.a, c.b), nil, 0, 0).String(); got != c.want {
			t.Errorf("PostgreSQL: %s of %s and %s is %s, not %s", c.sql, c.a, c.b, got, c.want)
		}
	}
}

// TestOrder: infinities are at the ends, NaN is the greatest, and the scale does not matter.
func TestOrder(t *testing.T) {
	ordered := []string{"-Infinity", "-1e100", "-1.5", "-1", "0", "1e-10", "1", "1.000001", "1e100", "Infinity", "NaN"}
	for i, a := range ordered {
		for j, b := range ordered {
			if c := number(t, a).Cmp(number(t, b)); (c < 0) != (i < j) || (c == 0) != (i == j) {
				t.Errorf("%s and %s compare as %d", a, b, c)
			}
		}
	}
	if c := number(t, "1.50").Cmp(number(t, "1.5")); c != 0 {
		t.Errorf("1.50 and 1.5 compare as %d", c)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in               string
		precision, scale int32
		want, detail     string
	}{
		{"1.005", 3, 2, "= 1.01", ""}, {"1234", 2, -2, "= 1200", ""}, {"NaN", 1, 0, "= NaN", ""},
		{"9.995", 3, 2, "22003 numeric field overflow", "A field with precision 3, scale 2 must round to an absolute value less than 10^1."},
		{"1", 2, 2, "22003 numeric field overflow", "A field with precision 2, scale 2 must round to an absolute value less than 1."},
		{"-inf", 2, 1, "22003 numeric field overflow", "A field with precision 2, scale 1 cannot hold an infinite value."},
	} {
		n, err := number(t, c.in).Fit(c.precision, c.scale)
		if got := outcome(n, err); got != c.want {
			t.Errorf("%s in numeric(%d, %d): %s, want %s", c.in, c.precision, c.scale, got, c.want)
		}
		if e, ok := errors.AsType[*pgerror.Error](err); ok && e.Detail != c.detail {
			t.Errorf("%s in numeric(%d, %d): %q, want %q", c.in, c.precision, c.scale, e.Detail, c.detail)
		}
	}
}

// TestConversions converts to and from the numbers of the processor.
func TestConversions(t *testing.T) {
	for in, want := range map[string]int64{"1.5": 2, "-2.5": -3, "9223372036854775807.4": math.MaxInt64, "-9223372036854775808": math.MinInt64} {
		if got, ok := number(t, in).Int64(); !ok || got != want {
			t.Errorf("%s is %d, %t, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"9223372036854775807.5", "NaN", "Infinity", "-inf"} {
		if got, ok := number(t, in).Int64(); ok {
			t.Errorf("%s is %d", in, got)
		}
	}
	for _, f := range []float64{0, 1.5, -1e300, math.Inf(1), math.Inf(-1)} {
		if got, err := FromFloat(f, Float8Digits).Float64(); err != nil || got != f {
			t.Errorf("%g became %g, %v", f, got, err)
		}
	}
	if got := FromFloat(math.Pi, Float4Digits).String(); got != "3.14159" {
		t.Errorf("pi with the digits of a float4 is %s", got)
	}
	for _, in := range []string{"1e400", "-1e400", "1e-400"} {
		_, err := number(t, in).Float64()
		if got := outcome(Number{}, err); !strings.HasPrefix(got, "22003 \"") || !strings.HasSuffix(got, "\" is out of range for type double precision") {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// FuzzParseBinary: no bytes make ParseBinary panic, and what it accepts reads back.
func FuzzParseBinary(f *testing.F) {
	for _, c := range texts {
		if n, err := Parse(c.in); err == nil {
			f.Add(n.AppendBinary(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseBinary(b)
		if err != nil {
			return
		}
		if again, err := ParseBinary(n.AppendBinary(nil)); err != nil || again.Cmp(n) != 0 || again.Scale() != n.Scale() {
			t.Fatalf("%x is %s and reads back as %s, %v", b, n, again, err)
		}
	})
}
