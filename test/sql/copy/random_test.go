package copy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
	"fiveways.dev/fiveways/test/sql/sides"
)

// words are the parts of random data.
var words = []string{
	"1", "2", "a", "b c", ",", ",", "\t", "\t", "|", "\n", "\n", "\n", "\r\n", "\r", "\"", "\"", "'", "\\", "\\\\", "\\.", "\\.\n", "\\N", "nil", "\\x4", "\\101", "\\t", "\\\n",
	"ä", "😀", "\\xc3\\xa4", "\xff", "\x00", "1\ta\t\\N\n", "1,a,\n", "2,\"x\",\n", "id,name,at\n", "\\b", ";", " ",
}

// The options of random statements, by direction. With a backslash as the quote PostgreSQL counts
// some characters twice, depending on how the data is split.
var (
	optionsIn = []string{
		"", "csv", "csv header", "(format csv, quote '''', escape '\\')", "(format csv, escape '\\')", "(format csv, null 'nil', force_null (name, id))", "(format csv, force_not_null (name))",
		"(delimiter '|', null 'nil')", "(delimiter ',')", "(header)", "(format csv, header match)", "(format csv, delimiter ';', quote ',')", "(encoding 'latin1')", "(format csv, encoding 'sjis')",
	}
	optionsOut = []string{
		"", "csv", "csv header", "(format csv, quote '''', escape '\\')", "(format csv, force_quote *)", "(format csv, null 'nil', force_quote (b))", "(delimiter '|', null 'nil')", "(delimiter ',', header)",
		"binary", "(encoding 'latin1')", "(encoding 'sjis', format csv)", "(format csv, delimiter ';', quote ',')", "(format csv, escape 'a')",
	}
)

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }

// random returns a trial of a statement that reads or writes.
func random(rng *rand.Rand) trial {
	if rng.IntN(4) == 0 {
		value := func() string {
			if rng.IntN(6) == 0 {
				return "null"
			}
			text := ""
			for range rng.IntN(4) {
				text += pick(rng, words)
			}
			text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
			return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
		}
		var rows []string
		for range 1 + rng.IntN(3) {
			rows = append(rows, fmt.Sprintf("(%s::text, %s::text)", value(), value()))
		}
		columns := pick(rng, []string{"*", "b", "b, a, b as c"})
		return trial{text: fmt.Sprintf("copy (select %s from (values %s) v(a, b)) to stdout %s", columns, strings.Join(rows, ", "), pick(rng, optionsOut))}
	}
	c := trial{text: "copy t" + pick(rng, []string{"", "", " (name)", " (name, id)"}) + " from stdin " + pick(rng, optionsIn)}
	data := ""
	for range rng.IntN(14) {
		data += pick(rng, words)
	}
	for data != "" {
		n := 1 + rng.IntN(len(data))
		c.in, data = append(c.in, data[:n]), data[n:]
	}
	return c
}

// TestServerRandom compares random statements and data with a real server. COPIES is their number,
// and COPIES_SEED selects them.
func TestServerRandom(t *testing.T) {
	c, _ := sides.Start(t, setUp)
	h := sides.Hijack(t, c)
	many, rng := seeded.Cases(t, "COPIES", 1500, 9)
	for range many {
		c := random(rng)
		if want, got := theirs(t, h, c), ours(c); got != want {
			t.Errorf("%s\n\twant %s\n\tgot  %s", c, want, got)
		}
	}
}
