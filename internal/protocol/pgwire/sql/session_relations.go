package sql

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
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
	for _, r := range []schema.Relation{
		&sessionRelation{12094, "pg_prepared_statements", fields("name", value.Text, "statement", value.Text, "prepare_time", value.TimestampTZType,
			"parameter_types", value.ArrayOf(value.Regtype), "from_sql", value.Bool, "generic_plans", value.Int8, "custom_plans", value.Int8),
			c.s.preparedRows},
		&sessionRelation{12079, "pg_cursors", fields("name", value.Text, "statement", value.Text, "is_holdable", value.Bool, "is_binary", value.Bool,
			"is_scrollable", value.Bool, "creation_time", value.TimestampTZType), c.s.cursorRows},
		&settingsRelation{sessionRelation{12100, "pg_settings", settings.Columns, c.s.settingRows}, c.s},
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
		rows = append(rows, []value.Datum{name, strings.TrimSpace(p.source), p.made, value.NewArray(value.Regtype, types), p.sql, int64(0), int64(0)})
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
		return r.s.vars.Reset(row[0].(string), false)
	}
	err := r.s.vars.Set(row[0].(string), v, false)
	r.s.report()
	return err
}

func sameText(a, b value.Datum) bool {
	x, ok := a.(string)
	y, too := b.(string)
	return !ok && !too || ok && too && x == y
}

func (s *Session) settingRows() [][]value.Datum {
	return s.vars.Rows(func(name string) string {
		shown, _ := s.shown(name)
		return shown
	})
}
