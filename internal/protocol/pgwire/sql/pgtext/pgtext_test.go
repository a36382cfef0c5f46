package pgtext

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

func TestCase(t *testing.T) {
	for _, c := range []struct{ in, lower, upper, initcap string }{
		{"", "", "", ""},
		{"привет, МИР", "привет, мир", "ПРИВЕТ, МИР", "Привет, Мир"},
		{"Ёлка ёж", "ёлка ёж", "ЁЛКА ЁЖ", "Ёлка Ёж"},
		{"straße", "straße", "STRAßE", "Straße"},
		{"ὈΔΥΣΣΕΎΣ", "ὀδυσσεύσ", "ὈΔΥΣΣΕΎΣ", "Ὀδυσσεύσ"}, // no final sigma
		{"ıIİi", "ıiii", "IIİI", "Iiii"},
		{"ǆ ǅ Ǆ", "ǆ ǆ ǆ", "Ǆ Ǆ Ǆ", "Ǆ Ǆ Ǆ"},
		{"a\xffB\xd0", "a\xffb\xd0", "A\xffB\xd0", "A\xffb\xd0"}, // invalid UTF-8 is unchanged
		{"it's o'neil-smith 3rd _x", "it's o'neil-smith 3rd _x", "IT'S O'NEIL-SMITH 3RD _X", "It'S O'Neil-Smith 3rd _X"},
	} {
		if got := Lower(c.in); got != c.lower {
			t.Errorf("lower %q: %q", c.in, got)
		}
		if got := Upper(c.in); got != c.upper {
			t.Errorf("upper %q: %q", c.in, got)
		}
		if got := Initcap(c.in); got != c.initcap {
			t.Errorf("initcap %q: %q", c.in, got)
		}
	}
}

// classes are PostgreSQL's character classes, in the order of the query below.
var classes = []struct {
	name string
	is   func(rune) bool
}{
	{"alnum", IsAlnum}, {"alpha", IsAlpha}, {"blank", IsBlank}, {"cntrl", IsControl}, {"digit", IsDigit}, {"graph", IsGraph}, {"lower", IsLower},
	{"print", IsPrint}, {"punct", IsPunct}, {"space", IsSpace}, {"upper", IsUpper}, {"xdigit", IsHexDigit},
}

// known is the maximum number of characters whose class may differ from that of the oracle's C
// library, which has another version of Unicode.
const known = 5000

// TestCharacters compares every character with a real PostgreSQL. There are no differences in the
// scripts up to Cyrillic.
func TestCharacters(t *testing.T) {
	dsn := os.Getenv("EXPRESSIONS_DSN")
	if dsn == "" {
		dsn = postgres.Start(t, postgres.Options{})
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var columns strings.Builder
	for _, c := range classes {
		columns.WriteString(" || (chr(i) ~ '[[:" + c.name + ":]]')::int")
	}
	rows, err := conn.Query(t.Context(), "select i, encode(convert_to(lower(chr(i)) || upper(chr(i)), 'UTF8'), 'hex'), ''"+columns.String()+
		" from generate_series(1, 1114111) i where i not between 55296 and 57343")
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	for rows.Next() {
		var r rune
		var cases, in string
		if err := rows.Scan(&r, &cases, &in); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString([]byte(Lower(string(r)) + Upper(string(r)))); got != cases {
			t.Errorf("U+%04X: cases %s, PostgreSQL %s", r, got, cases)
		}
		same := true
		for i, c := range classes {
			if c.is(r) != (in[i] == '1') {
				same = false
				if r <= 0x52F {
					t.Errorf("U+%04X: %s is %v", r, c.name, c.is(r))
				}
			}
		}
		if !same {
			different++
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d characters in other classes", different); different > known {
		t.Errorf("%d characters are in other classes than PostgreSQL's", different)
	}
}
