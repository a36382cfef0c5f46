package sql

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// sessionRelation is a view of pg_catalog over the state of the session.
type sessionRelation struct {
	oid  uint32
	name string
	cols []value.Field
	rows func() [][]value.Datum
}

func (r *sessionRelation) OID() uint32            { return r.oid }
func (r *sessionRelation) Name() string           { return r.name }
func (r *sessionRelation) Kind() byte             { return 'v' }
func (r *sessionRelation) Columns() []value.Field { return r.cols }

func (r *sessionRelation) Scan(*expr.Env, []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		for _, row := range r.rows() {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// fields returns columns from alternating names and types.
func fields(list ...any) []value.Field {
	var all []value.Field
	for i := 0; i < len(list); i += 2 {
		all = append(all, value.Field{Name: list[i].(string), Type: list[i+1].(*value.Type)})
	}
	return all
}

func (c *sessionSchema) addRelations() {
	for _, r := range []Relation{
		&sessionRelation{12094, "pg_prepared_statements", fields("name", value.Text, "statement", value.Text, "prepare_time", value.TimestampTZType,
			"parameter_types", value.ArrayOf(value.Regtype), "from_sql", value.Bool, "generic_plans", value.Int8, "custom_plans", value.Int8),
			c.s.preparedRows},
		&sessionRelation{12079, "pg_cursors", fields("name", value.Text, "statement", value.Text, "is_holdable", value.Bool, "is_binary", value.Bool,
			"is_scrollable", value.Bool, "creation_time", value.TimestampTZType), c.s.cursorRows},
		&settingsRelation{sessionRelation{12100, "pg_settings", fields("name", value.Text, "setting", value.Text, "unit", value.Text,
			"category", value.Text, "short_desc", value.Text, "extra_desc", value.Text, "context", value.Text, "vartype", value.Text,
			"source", value.Text, "min_val", value.Text, "max_val", value.Text, "enumvals", value.ArrayOf(value.Text), "boot_val", value.Text,
			"reset_val", value.Text, "sourcefile", value.Text, "sourceline", value.Int4, "pending_restart", value.Bool), c.s.settingRows}, c.s},
	} {
		c.relations[r.Name()] = r
	}
}

func (s *Session) preparedRows() [][]value.Datum {
	var rows [][]value.Datum
	for _, name := range slices.Sorted(maps.Keys(s.statements)) {
		p := s.statements[name]
		if name == "" {
			continue
		}
		var types []value.Datum
		for _, t := range p.Params {
			types = append(types, int64(t.OID))
		}
		rows = append(rows, []value.Datum{name, strings.TrimSpace(p.source), p.made, arrayOf(value.Regtype, types), p.sql, int64(0), int64(0)})
	}
	return rows
}

func (s *Session) cursorRows() [][]value.Datum {
	var rows [][]value.Datum
	for _, name := range slices.Sorted(maps.Keys(s.portals)) {
		if c := s.portals[name].cursor; c != nil {
			rows = append(rows, []value.Datum{name, strings.TrimSpace(c.query), c.hold, c.binary, c.scroll, c.made})
		}
	}
	return rows
}

// settingsRelation is pg_settings. An UPDATE of it is a SET.
type settingsRelation struct {
	sessionRelation
	s *Session
}

// Update sets the setting if the column setting has changed.
func (r *settingsRelation) Update(_ *expr.Env, row, changed []value.Datum) error {
	for i := range row {
		if i != 1 && !sameText(row[i], changed[i]) {
			return pgerror.New(pgerror.FeatureNotSupported, `cannot update column "%s" of view "pg_settings"`, r.cols[i].Name)
		}
	}
	v, ok := changed[1].(string)
	if !ok {
		return r.s.vars.reset(row[0].(string))
	}
	err := r.s.vars.set(row[0].(string), v, false)
	r.s.report()
	return err
}

func sameText(a, b value.Datum) bool {
	x, ok := a.(string)
	y, too := b.(string)
	return !ok && !too || ok && too && x == y
}

func (s *Session) settingRows() [][]value.Datum {
	var rows [][]value.Datum
	for _, name := range s.vars.names() {
		shown, _ := s.shown(name)
		row := make([]value.Datum, 17)
		row[0], row[1], row[3], row[6], row[7], row[8], row[16] = name, shown, "Fiveways", "user", "string", "default", false
		if now, reset := s.vars.value(name), s.vars.resetValue(name); now != reset {
			row[8] = "session"
		}
		row[12], row[13] = "", s.vars.resetValue(name)
		if d := settingsByName[strings.ToLower(name)]; d != nil {
			d.describe(row)
		}
		rows = append(rows, row)
	}
	return rows
}

// describe fills in the columns of pg_settings that depend on the kind of the setting. Numbers are
// in the unit of the setting.
func (d *setting) describe(row []value.Datum) {
	row[4], row[12] = d.comment, d.initial
	switch {
	case d.internal:
		row[6] = "internal"
	case d.fixed:
		row[6] = "postmaster"
	}
	switch d.kind {
	case boolSetting:
		row[7] = "bool"
	case realSetting:
		row[7] = "real"
	case enumSetting:
		row[7] = "enum"
		var all []value.Datum
		for _, v := range d.values {
			all = append(all, v)
		}
		row[11] = arrayOf(value.Text, all)
	case intSetting:
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
