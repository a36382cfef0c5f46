package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// functionScan reads functions in FROM.
type functionScan struct{ exec.Calls }

func (s *functionScan) run(env *expr.Env, emit func() error) error { return s.Run(env, emit) }

func (l *level) fromFunction(n *pg.RangeFunction) (source, *namespace, error) {
	s := &functionScan{exec.Calls{Ordinality: -1}}
	var fields []value.Field
	name := ""
	var whole *value.Type
	functions := tree.UnnestEach(n.Functions)
	for i, f := range functions {
		parts := f.GetList().GetItems()
		defs, err := l.definitions(n, parts, len(functions))
		if err != nil {
			return nil, nil, err
		}
		call, fs, err := l.functionCall(parts[0], defs)
		if err != nil {
			return nil, nil, err
		}
		s.List = append(s.List, call)
		called := tree.ColumnName(parts[0])
		if i == 0 {
			name = called
		}
		if fs == nil {
			fs = []value.Field{{Name: called, Type: call.Type()}}
			if n.Alias != nil && len(functions) == 1 {
				fs[0].Name = n.Alias.Aliasname
			}
		} else if len(functions) == 1 && !n.Ordinality {
			whole = call.Type()
		}
		call.Width = len(fs)
		fields = append(fields, fs...)
	}
	if n.Ordinality {
		fields = append(fields, value.Field{Name: "ordinality", Type: value.Int8})
	}
	s.Base = l.slot(len(fields))
	at := s.Base
	for _, c := range s.List {
		c.Base = at
		at += c.Width
	}
	if n.Ordinality {
		s.Ordinality = at
	}
	ns, err := l.bring(n.Alias, name, "", fields, s.Base, nil)
	switch {
	case err != nil:
		return nil, nil, err
	case whole != nil && whole.Kind == 'c':
		ns.items[0].typ = whole
	case len(functions) == 1 && len(fields) == 1:
		ns.items[0].single = true
	}
	return s, ns, nil
}

// functionCall plans one call. defs is its column definition list. fields is nil for a function
// that returns one plain column.
func (l *level) functionCall(n *pg.Node, defs []*pg.Node) (call *exec.Call, fields []value.Field, err error) {
	row, err := l.definedRow(defs)
	if err != nil {
		return nil, nil, err
	}
	if call, fields, err = l.functionOf(n, row); err != nil {
		return nil, nil, err
	}
	return call, fields, l.checkDefined(n, call, defs, row)
}

// functionOf is functionCall without checks of the column definition list, which defines row.
func (l *level) functionOf(n *pg.Node, row *value.Type) (*exec.Call, []value.Field, error) {
	call := &exec.Call{}
	in := clause{name: "functions in FROM", sets: true}
	before := len(l.sets)
	e, err := l.compileRows(n, in, row)
	if err != nil {
		return nil, nil, err
	}
	l.noteLateral()
	if made := l.sets[before:]; len(made) > 0 {
		ref, ok := e.(*slotRef)
		if !ok || ref.slot != made[len(made)-1].Slot || len(made) > 1 {
			return nil, nil, pgerror.New(pgerror.FeatureNotSupported, "set-returning functions must appear at top level of FROM").
				At(l.p.Text, expr.Location(n))
		}
		set := made[0]
		l.sets = l.sets[:before]
		call.Fn, call.Args = set.Fn, set.Args
		return call, exec.ResultFields(set.Fn), nil
	}
	call.Scalar = e
	if fields := e.Type().Fields; len(fields) > 0 {
		call.Spread = true
		return call, fields, nil
	}
	return call, nil, nil
}
