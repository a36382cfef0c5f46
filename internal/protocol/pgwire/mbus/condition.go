package mbus

import (
	"context"
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The arguments of bindings: one has a selector as its value, the other marks those of triggers.
const (
	selectorArg = "x-sql-selector"
	triggerArg  = "x-sql-trigger"
)

// Conditions are the languages that the engine's bindings may hold conditions in, by the name of
// the argument: broker.Options.Conditions.
func Conditions() routing.Conditions {
	return routing.Conditions{
		selectorArg: func(text string) (routing.Condition, error) { return compileSelector(text) },
		triggerArg:  func(string) (routing.Condition, error) { return notRedeployed{}, nil },
	}
}

// selector is a condition over a record, as SQL writes it with the alias t. It is not changed by
// use.
type selector struct {
	condition expr.Expr // boolean; nil: always true
	want      columnSet // the columns that it looks at
}

// compileSelector compiles the text of a selector. Only what is immutable may appear in it.
func compileSelector(text string) (*selector, error) {
	s, err := compileCondition(text)
	if err != nil {
		return nil, err
	}
	if expr.VolatilityOf(s.condition) != expr.Immutable {
		return nil, pgerror.New("42P17", "functions in index predicate must be marked IMMUTABLE")
	}
	return s, nil
}

// compileCondition compiles what may depend on anything. An error says which text it is about: its
// place there is none in the statement.
func compileCondition(text string) (*selector, error) {
	s, err := compileExpression(text)
	var e *pgerror.Error
	if errors.As(err, &e) {
		told := *e
		told.Position = 0
		if told.Detail == "" {
			told.Detail = "Selector: " + text
		}
		return nil, &told
	}
	return s, err
}

func compileExpression(text string) (*selector, error) {
	node, err := selectorNode(text)
	if err != nil {
		return nil, err
	}
	s := &selector{}
	c := expr.Compiler{
		Text: text, Settings: value.Defaults(), Library: builtin.Library, Column: s.column, Sublink: noSublink, Aggregate: noAggregate, RowSet: noRowSet,
	}
	if s.condition, err = c.Compile(node); err != nil {
		return nil, err
	}
	if t := s.condition.Type(); t != value.Bool && t != value.Unknown {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "argument of WHERE must be type boolean, not type %s", t)
	}
	s.condition, err = c.Assign(s.condition, value.Bool, -1, "selector", -1)
	return s, err
}

func noSublink(*pg.SubLink) (expr.Expr, error) {
	return nil, pgerror.New(pgerror.FeatureNotSupported, "cannot use subquery in index predicate")
}

func noAggregate(*pg.FuncCall, *expr.Function, []expr.Expr) (expr.Expr, error) {
	return nil, pgerror.New(pgerror.GroupingError, "aggregate functions are not allowed in WHERE")
}

func noRowSet(*pg.FuncCall, *expr.Function, []expr.Expr) (expr.Expr, error) {
	return nil, pgerror.New(pgerror.FeatureNotSupported, "set-returning functions are not allowed in WHERE")
}

// selectorNode parses the text as an expression. It must be one as it stands, too: "a) OR (b" is
// none, and would be something else wherever it stands beside other conditions.
func selectorNode(text string) (*pg.Node, error) {
	result, err := parse.Parse("SELECT (" + text + "\n)")
	if err == nil && strings.ContainsRune(text, ')') {
		_, err = parse.Parse("SELECT " + text)
	}
	if err != nil {
		return nil, err
	}
	if len(result.Stmts) == 1 {
		sel := result.Stmts[0].Stmt.GetSelectStmt()
		plain := sel != nil && len(sel.TargetList) == 1 && len(sel.FromClause) == 0 && sel.WhereClause == nil && sel.Op == pg.SetOperation_SETOP_NONE
		if plain && len(sel.GroupClause) == 0 && len(sel.SortClause) == 0 && sel.LimitCount == nil && sel.IntoClause == nil {
			if target := sel.TargetList[0].GetResTarget(); target != nil && target.Name == "" {
				return target.Val, nil
			}
		}
	}
	return nil, pgerror.New(pgerror.SyntaxError, "a selector is one expression")
}

// column finds t.name, name, or t, the whole record.
func (s *selector) column(parts []string, location int32) (expr.Expr, error) {
	if len(parts) == 1 && parts[0] == alias {
		s.want = allColumns
		return field{-1}, nil
	}
	name := parts[len(parts)-1]
	if len(parts) == 1 || len(parts) == 2 && parts[0] == alias {
		for i, f := range value.QTModel.Fields {
			if f.Name == name {
				s.want |= 1 << i
				return field{i}, nil
			}
		}
	}
	if len(parts) > 1 && parts[0] != alias {
		return nil, pgerror.New(pgerror.UndefinedTable, "missing FROM-clause entry for table \"%s\"", parts[0])
	}
	return nil, pgerror.New(pgerror.UndefinedColumn, "column %s does not exist", quoted(strings.Join(parts, ".")))
}

func quoted(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "\"" + name + "\""
}

// alias is the name of the record in a selector.
const alias = "t"

// field is a column of the record; -1 is all of it.
type field struct{ column int }

func (f field) Type() *value.Type {
	if f.column < 0 {
		return value.QTModel
	}
	return value.QTModel.Fields[f.column].Type
}

func (f field) Eval(env *expr.Env) (value.Datum, error) {
	if f.column < 0 {
		return value.Record(env.Rows[0]), nil
	}
	return env.Rows[0][f.column], nil
}

// holds reports whether the condition is true of a message. A condition that fails, for a cast of
// what is no number, say, is not.
func (s *selector) holds(v *viewed, env *expr.Env) bool {
	return s.condition == nil || s.holdsOf(record(v, s.want), env)
}

// holdsOf is holds for a row that has what the condition wants.
func (s *selector) holdsOf(row value.Record, env *expr.Env) bool {
	e := *env
	e.Rows = [][]value.Datum{row}
	d, err := s.condition.Eval(&e)
	return err == nil && d == true
}

// selector compiles a selector that is given at the time, or finds it among those compiled last.
func (s *Session) selector(text string) (*selector, error) {
	if c := s.compiled[text]; c != nil {
		return c, nil
	}
	c, err := compileCondition(text)
	if err != nil {
		return nil, err
	}
	if s.compiled == nil || len(s.compiled) >= maxCompiled {
		s.compiled = map[string]*selector{}
	}
	s.compiled[text] = c
	return c, nil
}

// maxCompiled bounds the selectors that a session remembers.
const maxCompiled = 32

// Match reports whether the condition is true of a message on its way to a queue.
func (s *selector) Match(m *routing.Message) bool {
	return s.condition == nil || s.holdsOf(rowOf(m, s.want), background)
}

// decoded is what selectors have decoded of a message on its way.
type decoded struct {
	row  value.Record
	have columnSet
}

// rowOf is the row of a message on its way, decoded once for all the selectors that look at the
// same columns.
func rowOf(m *routing.Message, want columnSet) value.Record {
	d, ok := m.Memo.(*decoded)
	if !ok || want&^d.have != 0 {
		if ok {
			want |= d.have
		}
		d = &decoded{record(onItsWay(m), want), want}
		m.Memo = d
	}
	return d.row
}

// background is what selectors of bindings are evaluated in: they depend on the message alone.
var background = &expr.Env{Ctx: context.Background(), Settings: value.Defaults(), Notice: func(*pgerror.Error) {}}

// onItsWay is a message that is in no queue yet.
func onItsWay(m *routing.Message) *viewed {
	return &viewed{key: m.Key, props: m.Props, body: m.Body, zone: plain.Zone}
}

// notRedeployed is the condition of all triggers: a post whose header Redeploy is true is not
// copied.
type notRedeployed struct{}

// Match is that of a condition of the engine.
func (notRedeployed) Match(m *routing.Message) bool {
	var h header
	h.read(onItsWay(m))
	copied := true
	eachField(h.kept, func(name, val []byte, kind byte) {
		if string(name) == keyRedeploy && kind == 'S' {
			redeployed, err := value.Parse(value.Bool, string(val), &background.Settings)
			copied = err != nil || redeployed != true
		}
	})
	return copied
}
