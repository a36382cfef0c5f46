package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// shown returns the current value of a setting, including settings of the transaction.
func (s *Session) shown(name string) (string, bool) {
	if s.tx.state != txNone {
		switch strings.ToLower(name) {
		case "transaction_isolation":
			return s.tx.Level, true
		case "transaction_read_only":
			return settings.OnOff(s.tx.ReadOnly), true
		case "transaction_deferrable":
			return settings.OnOff(s.tx.Deferrable), true
		}
	}
	return s.vars.Get(name)
}

func (p *planner) show(n *pg.VariableShowStmt) (*plan, error) {
	s := p.s
	if strings.EqualFold(n.Name, "all") {
		cols := []value.Field{{Name: "name", Type: value.Text}, {Name: "setting", Type: value.Text}, {Name: "description", Type: value.Text}}
		return &plan{utility: true, quiet: true, columns: cols, command: func(*expr.Env) (query.Result, error) {
			var rows [][]value.Datum
			for _, name := range s.vars.Names() {
				v, _ := s.shown(name)
				comment := ""
				if d := settings.Lookup(name); d != nil {
					comment = d.Comment
				}
				rows = append(rows, []value.Datum{name, v, comment})
			}
			return query.Result{Tag: "SHOW", Rows: rows}, nil
		}}, nil
	}
	if _, ok := s.shown(n.Name); !ok {
		return nil, settings.Unrecognised(n.Name)
	}
	name := n.Name
	if d := settings.Lookup(name); d != nil {
		name = d.Name
	}
	cols := []value.Field{{Name: name, Type: value.Text}}
	return &plan{utility: true, quiet: true, columns: cols, command: func(*expr.Env) (query.Result, error) {
		v, ok := s.shown(name)
		if !ok {
			return query.Result{}, settings.Unrecognised(name)
		}
		return query.Result{Tag: "SHOW", Rows: [][]value.Datum{{v}}}, nil
	}}, nil
}

// setCommand runs SET and RESET.
func (s *Session) setCommand(n *pg.VariableSetStmt) (string, error) {
	tag := "SET"
	switch n.Kind {
	case pg.VariableSetKind_VAR_RESET_ALL:
		s.vars.ResetAll()
		tag = "RESET"
	case pg.VariableSetKind_VAR_RESET:
		tag = "RESET"
		if err := s.vars.Reset(n.Name, false); err != nil {
			return "", err
		}
	case pg.VariableSetKind_VAR_SET_MULTI:
		if err := s.setModes(n); err != nil {
			return "", err
		}
	default:
		if err := s.setOne(n); err != nil {
			return "", err
		}
	}
	s.report()
	return tag, nil
}

// setModes runs SET TRANSACTION and SET SESSION CHARACTERISTICS.
func (s *Session) setModes(n *pg.VariableSetStmt) error {
	switch n.Name {
	case "TRANSACTION":
		if s.tx.state == txStatement {
			s.warn(pgerror.NoActiveTransaction, "SET TRANSACTION can only be used in transaction blocks")
		}
		return s.modes(n.Args)
	case "SESSION CHARACTERISTICS":
		for _, o := range n.Args {
			d := o.GetDefElem()
			if err := s.vars.Set("default_"+d.Defname, constantText(d.Arg), false); err != nil {
				return err
			}
		}
		return nil
	}
	return pgerror.Unsupported("SET " + n.Name)
}

func (s *Session) setOne(n *pg.VariableSetStmt) error {
	if n.IsLocal && s.tx.state == txStatement {
		s.warn(pgerror.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks")
	}
	name := strings.ToLower(n.Name)
	if n.Kind == pg.VariableSetKind_VAR_SET_DEFAULT {
		return s.vars.Reset(n.Name, n.IsLocal)
	}
	if n.Kind == pg.VariableSetKind_VAR_SET_CURRENT {
		v, _ := s.shown(n.Name)
		return s.vars.Set(n.Name, v, n.IsLocal)
	}
	switch name {
	case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		v, err := settings.Lookup(name).Canonical(constantText(n.Args[0]))
		if err != nil {
			return err
		}
		return s.mode(name, v)
	case "role", "session_authorization":
		return s.setUser(name, constantText(n.Args[0]), n.IsLocal)
	}
	d := settings.Lookup(name)
	if len(n.Args) > 1 && (d == nil || !d.List && d.Name != "DateStyle") {
		return pgerror.New(pgerror.InvalidParameterValue, "SET %s takes only one argument", n.Name)
	}
	return s.vars.Set(n.Name, argumentText(n.Args, d != nil && d.List), n.IsLocal)
}

// setUser runs SET ROLE and SET SESSION AUTHORIZATION. A session cannot change its user.
func (s *Session) setUser(name, to string, local bool) error {
	if to == s.opts.User || name == "role" && to == "none" || to == "default" {
		return s.vars.Set(name, to, local)
	}
	if name == "role" {
		return pgerror.New(pgerror.InsufficientPrivilege, `permission denied to set role "%s"`, to)
	}
	return pgerror.New(pgerror.InsufficientPrivilege, "permission denied to set session authorization")
}

// argumentText returns the value of SET as one text.
func argumentText(args []*pg.Node, identifiers bool) string {
	var parts []string
	for _, a := range args {
		v := constantText(a)
		if identifiers {
			v = settings.QuoteName(v)
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, ", ")
}
