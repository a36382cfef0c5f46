package sql

import (
	"strings"
	"testing"
)

// A statement that buffers too much ends with an error, and the session survives.
func TestHeap(t *testing.T) {
	const wide = "repeat('x', 1000000) || g"
	rows := " from generate_series(1, 1000000000000) g"
	for _, text := range []string{
		"select " + wide + rows + " order by 1",
		"select g" + rows + " order by " + wide,
		"select count(*) from (select distinct " + wide + rows + ") t",
		"select count(*) from (select " + wide + " x" + rows + ") t group by x",
		"select array_agg(" + wide + ")" + rows,
		"select array_agg(" + wide + " order by g)" + rows,
		"select string_agg(" + wide + ", ',')" + rows,
		"select count(distinct " + wide + ")" + rows,
		"select 1 from (select 1) a join (select " + wide + " x" + rows + ") b on true",
		"select length(array_to_string(string_to_array(repeat(',', 100000000), ','), ''))",
		"select count(*) from string_to_table(repeat(',', 100000000), ',')",
		"select rank() over (order by x) from (select " + wide + " x" + rows + ") t",
		"begin; declare c cursor for select " + wide + rows + "; fetch all from c",
		"begin; declare c scroll cursor for select " + wide + rows + "; move all from c",
		"declare c cursor with hold for select " + wide + rows,
	} {
		c := newClient(false)
		c.query(text)
		if got := c.take(); !strings.Contains(got, "out of memory") && !strings.Contains(got, "too large") && !strings.Contains(got, "array size exceeds") {
			t.Errorf("%s: %.200s", text, got)
		}
		c.query("rollback; select 'alive'")
		if got := c.take(); !strings.Contains(got, "alive") {
			t.Errorf("after %s: %.200s", text, got)
		}
		c.s.Close()
	}
}
