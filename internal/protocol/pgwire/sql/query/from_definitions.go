package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// definitions returns the column definition list of one of the functions of an item of FROM. parts
// are its call and its own list.
func (l *level) definitions(n *pg.RangeFunction, parts []*pg.Node, functions int) ([]*pg.Node, error) {
	if len(n.Coldeflist) == 0 {
		if len(parts) < 2 {
			return nil, nil
		}
		return parts[1].GetList().GetItems(), nil
	}
	wrong, hint := "", ""
	switch {
	case functions > 1 && n.IsRowsfrom:
		wrong = "ROWS FROM() with multiple functions cannot have a column definition list"
		hint = "Put a separate column definition list for each function inside ROWS FROM()."
	case functions > 1:
		wrong = "UNNEST() with multiple arguments cannot have a column definition list"
		hint = "Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition list to each one."
	case n.Ordinality:
		wrong = "WITH ORDINALITY cannot be used with a column definition list"
		hint = "Put the column definition list inside ROWS FROM()."
	default:
		return n.Coldeflist, nil
	}
	return nil, l.error(pgerror.SyntaxError, n.Coldeflist[0].GetColumnDef().GetLocation(), "%s", wrong).WithHint("%s", hint)
}

// definedRow returns the type of the rows that a column definition list defines, or nil if there is
// no list.
func (l *level) definedRow(defs []*pg.Node) (*value.Type, error) {
	if len(defs) == 0 {
		return nil, nil
	}
	var fields []value.Field
	for _, d := range defs {
		d := d.GetColumnDef()
		if d.TypeName.Setof {
			return nil, l.error("42P16", d.Location, `column "%s" cannot be declared SETOF`, d.Colname)
		}
		t, mod, err := l.compiler().TypeOf(d.TypeName)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(fields, func(f value.Field) bool { return f.Name == d.Colname }) {
			return nil, pgerror.New("42701", `column name "%s" specified more than once`, d.Colname)
		}
		fields = append(fields, value.Field{Name: d.Colname, Type: t, Mod: mod + 1})
	}
	return value.RowType(fields), nil
}

// checkDefined returns an error if a function in FROM needs a column definition list and has none,
// or the other way round. row is the type that the list defines.
func (l *level) checkDefined(n *pg.Node, call *exec.Call, defs []*pg.Node, row *value.Type) error {
	t, out := call.Type(), call.Fn != nil && len(call.Fn.Columns) > 0
	wrong := ""
	switch {
	case row == nil && t.OID == value.RecordT.OID && !out:
		return l.error(pgerror.SyntaxError, expr.Location(n), `a column definition list is required for functions returning "record"`)
	case row == nil || t == row:
		return nil
	case t.Kind == 'c':
		wrong = "a column definition list is redundant for a function returning a named composite type"
	case out:
		wrong = "a column definition list is redundant for a function with OUT parameters"
	default:
		wrong = `a column definition list is only allowed for functions returning "record"`
	}
	return l.error(pgerror.SyntaxError, defs[0].GetColumnDef().GetLocation(), "%s", wrong)
}
