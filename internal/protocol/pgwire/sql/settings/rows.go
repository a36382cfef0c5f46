package settings

import (
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Columns are those of pg_settings.
var Columns = []value.Field{
	{Name: "name", Type: value.Text}, {Name: "setting", Type: value.Text}, {Name: "unit", Type: value.Text},
	{Name: "category", Type: value.Text}, {Name: "short_desc", Type: value.Text}, {Name: "extra_desc", Type: value.Text},
	{Name: "context", Type: value.Text}, {Name: "vartype", Type: value.Text}, {Name: "source", Type: value.Text},
	{Name: "min_val", Type: value.Text}, {Name: "max_val", Type: value.Text}, {Name: "enumvals", Type: value.ArrayOf(value.Text)},
	{Name: "boot_val", Type: value.Text}, {Name: "reset_val", Type: value.Text}, {Name: "sourcefile", Type: value.Text},
	{Name: "sourceline", Type: value.Int4}, {Name: "pending_restart", Type: value.Bool},
}

// Rows returns the rows of pg_settings. shown returns the value of a setting at the moment, which
// may be that of the current transaction.
func (v *Session) Rows(shown func(name string) string) [][]value.Datum {
	var rows [][]value.Datum
	for _, name := range v.Names() {
		row := make([]value.Datum, len(Columns))
		row[0], row[1], row[3], row[6], row[7], row[8], row[16] = name, shown(name), "Fiveways", "user", "string", "default", false
		d := Lookup(name)
		reset, _ := v.initial(strings.ToLower(name))
		if v.Value(name) != reset {
			row[8] = "session"
		}
		if row[12], row[13] = "", reset; d != nil {
			d.describe(row)
		}
		rows = append(rows, row)
	}
	return rows
}

// describe fills in the columns that depend on the kind of the parameter. Numbers are in its unit.
func (d *Parameter) describe(row []value.Datum) {
	row[4], row[12] = d.Comment, d.initial
	switch {
	case d.internal:
		row[6] = "internal"
	case d.fixed:
		row[6] = "postmaster"
	}
	switch d.kind {
	case boolKind:
		row[7] = "bool"
	case realKind:
		row[7] = "real"
	case enumKind:
		row[7], row[11] = "enum", value.TextArray(d.values)
	case intKind:
		row[7], row[9], row[10] = "integer", strconv.FormatInt(d.min, 10), strconv.FormatInt(d.max, 10)
		if d.unit != "" {
			row[2] = d.unit
		}
		for _, i := range []int{1, 12, 13} {
			if n, err := d.parseInteger(row[i].(string)); err == nil {
				row[i] = strconv.FormatInt(n, 10)
			}
		}
	}
}
