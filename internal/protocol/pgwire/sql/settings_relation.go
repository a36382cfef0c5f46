package sql

import (
	"iter"
	"strconv"
	"strings"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// settingsRelation is pg_settings: the parameters of the session. To change a row's setting is to SET it.
type settingsRelation struct{ s *Session }

const oidSettings = 12104

var settingsColumns = []value.Field{
	{Name: "name", Type: value.Text}, {Name: "setting", Type: value.Text}, {Name: "unit", Type: value.Text}, {Name: "category", Type: value.Text},
	{Name: "short_desc", Type: value.Text}, {Name: "extra_desc", Type: value.Text}, {Name: "context", Type: value.Text},
	{Name: "vartype", Type: value.Text}, {Name: "source", Type: value.Text}, {Name: "min_val", Type: value.Text}, {Name: "max_val", Type: value.Text},
	{Name: "enumvals", Type: value.Text.Array}, {Name: "boot_val", Type: value.Text}, {Name: "reset_val", Type: value.Text},
	{Name: "sourcefile", Type: value.Text}, {Name: "sourceline", Type: value.Int4}, {Name: "pending_restart", Type: value.Bool},
}

func (settingsRelation) OID() uint32            { return oidSettings }
func (settingsRelation) Name() string           { return "pg_settings" }
func (settingsRelation) Kind() byte             { return 'v' }
func (settingsRelation) Columns() []value.Field { return settingsColumns }

func (r settingsRelation) Scan(*expr.Env, []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		for _, d := range settingList {
			if !yield(r.row(d), nil) {
				return
			}
		}
	}
}

func (r settingsRelation) row(d *setting) []value.Datum {
	now, reset := r.s.vars.value(d.name), d.initial
	if own, ok := r.s.vars.defaults[strings.ToLower(d.name)]; ok {
		reset = own
	}
	row := []value.Datum{
		d.name, d.bare(now), nil, "Fiveways", d.comment, nil, d.context(), kindNames[d.kind], "default", nil, nil, nil, d.bare(d.initial), d.bare(reset), nil, nil,
		false,
	}
	if d.unit != "" {
		row[2] = d.unit
	}
	if now != reset {
		row[8] = "session"
	}
	if d.kind == intSetting {
		row[9], row[10] = strconv.FormatInt(d.min, 10), strconv.FormatInt(d.max, 10)
	}
	if d.kind == enumSetting {
		row[11] = value.TextArray(d.values)
	}
	return row
}

var kindNames = map[settingKind]string{
	textSetting: "string", boolSetting: "bool", intSetting: "integer", realSetting: "real", enumSetting: "enum",
}

// bare is a value in its unit, without it.
func (d *setting) bare(v string) string {
	if d.kind != intSetting || d.unit == "" {
		return v
	}
	if n, err := d.parseInteger(v); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return v
}

func (d *setting) context() string {
	switch {
	case d.internal:
		return "internal"
	case d.fixed:
		return "postmaster"
	}
	return "user"
}

// Update sets what was changed.
func (r settingsRelation) Update(_ *expr.Env, row, changed []value.Datum) error {
	to, ok := changed[1].(string)
	if !ok {
		return pgerror.New(pgerror.NullNotAllowed, "SET requires a value")
	}
	if err := r.s.vars.set(row[0].(string), to, false); err != nil {
		return err
	}
	r.s.report()
	return nil
}
