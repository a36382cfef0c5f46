package value

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// PostgreSQL 15's results for texts: the formatted value, or SQLSTATE and message.
var texts = []struct {
	t       *Type
	in, out string
}{
	{Bool, " Y ", "t"}, {Bool, "of", "f"}, {Bool, "o", `22P02 invalid input syntax for type boolean: "o"`},
	{Int4, " 12 ", "12"}, {Int2, "+5", "5"}, {Int4, "2147483648", `22003 value "2147483648" is out of range for type integer`},
	{Int4, "- 1", `22P02 invalid input syntax for type integer: "- 1"`}, {Int2, "32768", `22003 value "32768" is out of range for type smallint`},
	{Int8, "99999999999999999999", `22003 value "99999999999999999999" is out of range for type bigint`},
	{OID, "-1", "4294967295"}, {OID, "4294967296", `22003 value "4294967296" is out of range for type oid`},
	{Float8, "0x1f", "31"}, {Float8, "1e-320", "1e-320"}, {Float8, "1e15", "1e+15"}, {Float8, "1e14", "100000000000000"},
	{Float8, "0.00001", "1e-05"}, {Float4, "1234567", "1.234567e+06"}, {Float4, "123456", "123456"}, {Float8, " inf ", "Infinity"},
	{Float8, "1e400", `22003 "1e400" is out of range for type double precision`}, {Float4, "1e-46", `22003 "1e-46" is out of range for type real`},
	{Float8, "1_0", `22P02 invalid input syntax for type double precision: "1_0"`},
	{NumericType, " nan ", "NaN"}, {NumericType, "1.", "1"}, {NumericType, ".5", "0.5"}, {NumericType, "-0.00", "0.00"}, {NumericType, "1.5e3", "1500"},
	{NumericType, "1e131072", "22003 value overflows numeric format"}, {NumericType, "1e-20000", "22003 value overflows numeric format"},
	{NumericType, ".", `22P02 invalid input syntax for type numeric: "."`}, {NumericType, "+inf", "Infinity"},
	{Bytea, `\x 01 02`, `\x0102`}, {Bytea, `\x0 1`, `22023 invalid hexadecimal digit: " "`}, {Bytea, `a\\b\001`, `\x615c6201`},
	{Bytea, `a\400`, `22P02 invalid input syntax for type bytea`}, {Bytea, `\x0`, `22023 invalid hexadecimal data: odd number of digits`},
	{UUID, "{A0EEBC999c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
	{UUID, "a0-eebc999c0b4ef8bb6d6bb9bd380a11", `22P02 invalid input syntax for type uuid: "a0-eebc999c0b4ef8bb6d6bb9bd380a11"`},
	{JSONB, `{"b":1.50,"a":2,"b":3e2, "aa":[1, 2 ,null,true]}`, `{"a": 2, "b": 300, "aa": [1, 2, null, true]}`},
	{JSONB, `"\u00e9\n\ud83d\ude00"`, `"é\n😀"`}, {JSONB, `"\u0000"`, "22P05 unsupported Unicode escape sequence"}, {JSON, `"\u0000"`, `"\u0000"`},
	{JSON, "[1,]", "22P02 invalid input syntax for type json"},
	{Hstore, "b=>1, a=>NULL", `"a"=>NULL, "b"=>"1"`}, {Hstore, "a=>1 b", `XX000 Syntax error near "b" at position 5`},
	{Int4.Array, "{1,NULL,{2}}", `22P02 malformed array literal: "{1,NULL,{2}}"`}, {Int4.Array, "[0:1]={1,null}", "[0:1]={1,NULL}"},
	{Text.Array, `{a b ,"c\"d", "null", "", {}`, `22P02 malformed array literal: "{a b ,"c\"d", "null", "", {}"`},
	{Text.Array, `{{a b ,"c\"d"},{ "null", ""}}`, `{{"a b","c\"d"},{"null",""}}`},
	{OIDVector, "1 2 3", "1 2 3"},
	{Inet, "10.0.0.1/32", "10.0.0.1"}, {Inet, "10.0.0.1/24", "10.0.0.1/24"}, {Inet, "2001:DB8::/32", "2001:db8::/32"}, {Inet, "::1", "::1"},
	{Inet, "::ffff:1.2.3.4", "::ffff:1.2.3.4"}, {Inet, "1.2.3.4/33", `22P02 invalid input syntax for type inet: "1.2.3.4/33"`},
	{QTModel, `(1,,q.1,,,"{1,2}","""a""=>""b c""",,)`, `(1,,q.1,,,"{1,2}","""a""=>""b c""",,)`},
	{QTModel, `(1)`, `22P02 malformed record literal: "(1)"`},
	{Regtype, "timestamp with time zone", "timestamp with time zone"}, {Regclass, "x", `42P01 relation "x" does not exist`}, {Regclass, "17", "17"},
}

func showError(err error) string {
	var e *pgerror.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Code + " " + e.Message
}

func TestText(t *testing.T) {
	set := Defaults()
	for _, c := range texts {
		d, err := Parse(c.t, c.in, &set)
		if err != nil {
			if got := showError(err); got != c.out {
				t.Errorf("%s %q: %s, want %s", c.t, c.in, got, c.out)
			}
			continue
		}
		if got := String(c.t, d, &set); got != c.out {
			t.Errorf("%s %q: %s, want %s", c.t, c.in, got, c.out)
		}
		roundTrip(t, c.t, d)
	}
}

// roundTrip formats and parses a value in text and binary format.
func roundTrip(t *testing.T, typ *Type, d Datum) {
	t.Helper()
	set := Defaults()
	key := string(AppendKey(nil, typ, d))
	again, err := Parse(typ, String(typ, d, &set), &set)
	if err != nil || string(AppendKey(nil, typ, again)) != key {
		t.Errorf("%s %v reads back as %v, %v", typ, d, again, err)
	}
	b, err := AppendBinary(nil, typ, d)
	if err != nil {
		t.Errorf("%s %v: %v", typ, d, err)
		return
	}
	if again, err = ParseBinary(typ, b); err != nil || string(AppendKey(nil, typ, again)) != key {
		t.Errorf("%s %v in binary is %x and reads back as %v, %v", typ, d, b, again, err)
	}
}
