package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// shown returns the current value of a setting, including settings of the transaction.
func (s *Session) shown(name string) (string, bool) {
	onOff := map[bool]string{true: "on", false: "off"}
	if s.tx.state != txNone {
		switch strings.ToLower(name) {
		case "transaction_isolation":
			return s.tx.level, true
		case "transaction_read_only":
			return onOff[s.tx.readOnly], true
		case "transaction_deferrable":
			return onOff[s.tx.defers], true
		}
	}
	return s.vars.get(name)
}

func (p *planner) show(n *pg.VariableShowStmt) (*plan, error) {
	s := p.s
	if strings.EqualFold(n.Name, "all") {
		cols := []value.Field{{Name: "name", Type: value.Text}, {Name: "setting", Type: value.Text}, {Name: "description", Type: value.Text}}
		return &plan{utility: true, quiet: true, columns: cols, command: func(*expr.Env) (result, error) {
			var rows [][]value.Datum
			for _, name := range s.vars.names() {
				v, _ := s.shown(name)
				comment := ""
				if d := settingsByName[strings.ToLower(name)]; d != nil {
					comment = d.comment
				}
				rows = append(rows, []value.Datum{name, v, comment})
			}
			return result{tag: "SHOW", rows: rows}, nil
		}}, nil
	}
	if _, ok := s.shown(n.Name); !ok {
		return nil, unrecognised(n.Name)
	}
	name := n.Name
	if d := settingsByName[strings.ToLower(name)]; d != nil {
		name = d.name
	}
	cols := []value.Field{{Name: name, Type: value.Text}}
	return &plan{utility: true, quiet: true, columns: cols, command: func(*expr.Env) (result, error) {
		v, ok := s.shown(name)
		if !ok {
			return result{}, unrecognised(name)
		}
		return result{tag: "SHOW", rows: [][]value.Datum{{v}}}, nil
	}}, nil
}

// setCommand runs SET and RESET.
func (s *Session) setCommand(n *pg.VariableSetStmt) (string, error) {
	tag := "SET"
	switch n.Kind {
	case pg.VariableSetKind_VAR_RESET_ALL:
		s.vars.resetAll()
		tag = "RESET"
	case pg.VariableSetKind_VAR_RESET:
		tag = "RESET"
		if err := s.vars.reset(n.Name); err != nil {
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
			if err := s.vars.set("default_"+d.Defname, constantText(d.Arg), false); err != nil {
				return err
			}
		}
		return nil
	}
	return unsupported("SET " + n.Name)
}

func (s *Session) setOne(n *pg.VariableSetStmt) error {
	if n.IsLocal && s.tx.state == txStatement {
		s.warn(pgerror.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks")
	}
	name := strings.ToLower(n.Name)
	if n.Kind == pg.VariableSetKind_VAR_SET_DEFAULT {
		return s.vars.reset(n.Name)
	}
	if n.Kind == pg.VariableSetKind_VAR_SET_CURRENT {
		v, _ := s.shown(n.Name)
		return s.vars.set(n.Name, v, n.IsLocal)
	}
	switch name {
	case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		v, err := settingsByName[name].canonical(constantText(n.Args[0]))
		if err != nil {
			return err
		}
		return s.mode(name, v)
	case "role", "session_authorization":
		return s.setUser(name, constantText(n.Args[0]), n.IsLocal)
	}
	d := settingsByName[name]
	if len(n.Args) > 1 && (d == nil || !d.list && d.name != "DateStyle") {
		return pgerror.New(pgerror.InvalidParameterValue, "SET %s takes only one argument", n.Name)
	}
	return s.vars.set(n.Name, argumentText(n.Args, d != nil && d.list), n.IsLocal)
}

// setUser runs SET ROLE and SET SESSION AUTHORIZATION. A session cannot change its user.
func (s *Session) setUser(name, to string, local bool) error {
	if to == s.opts.User || name == "role" && to == "none" || to == "default" {
		return s.vars.set(name, to, local)
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
			v = quoteName(v)
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, ", ")
}

// constantText returns a constant in a SET command as text.
func constantText(n *pg.Node) string {
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		return plainConstant(n.AConst)
	case *pg.Node_TypeCast: // SET TIME ZONE INTERVAL '+03:00' HOUR TO MINUTE
		return intervalHours(constantText(n.TypeCast.Arg))
	case *pg.Node_String_:
		return n.String_.Sval
	case *pg.Node_Integer:
		return plainInt(n.Integer.Ival)
	case *pg.Node_Boolean:
		return map[bool]string{true: "on", false: "off"}[n.Boolean.Boolval]
	}
	return ""
}
