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

// Binding arguments: the first holds a selector, the second marks the bindings of triggers.
const (
	selectorArg = "x-sql-selector"
	triggerArg  = "x-sql-trigger"
)

// Conditions returns the languages of conditions in the engine's bindings, by argument name:
// broker.Options.Conditions.
func Conditions() routing.Conditions {
	return routing.Conditions{
		selectorArg: func(text string) (routing.Condition, error) { return compileSelector(text) },
		triggerArg:  func(string) (routing.Condition, error) { return notRedeployed{}, nil },
	}
}

// selector is an SQL condition over a record with the alias t. It is immutable.
type selector struct {
	condition expr.Expr // boolean; nil: always true
	want      columnSet // the columns that the condition reads
}

// compileSelector compiles a selector, which may contain only immutable functions.
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

// compileCondition compiles a condition without restrictions on volatility. An error includes the
// text of the condition instead of a position, because the text has no position in the statement.
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

// selectorNode parses text as an expression. The text must also be valid without parentheses around
// it: "a) OR (b" is rejected, because it would change the meaning of surrounding conditions.
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

// column resolves t.name, name, or t (the whole record).
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

// field is a column of the record, or the whole record if column is -1.
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

// holds reports whether the condition is true of a message. A condition that fails is not true, for
// example one with an invalid cast to a number.
func (s *selector) holds(v *viewed, env *expr.Env) bool {
	return s.condition == nil || s.holdsOf(record(v, s.want), env)
}

// holdsOf is holds for a row with the columns that the condition reads.
func (s *selector) holdsOf(row value.Record, env *expr.Env) bool {
	e := *env
	e.Rows = [][]value.Datum{row}
	d, err := s.condition.Eval(&e)
	return err == nil && d == true
}

// selector compiles a selector given in a call, or returns it from the cache.
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

// maxCompiled limits the number of selectors that a session caches.
const maxCompiled = 32

// Match reports whether the condition is true of a message that is being routed.
func (s *selector) Match(m *routing.Message) bool {
	return s.condition == nil || s.holdsOf(rowOf(m, s.want), background)
}

// decoded holds the columns that selectors have decoded from a message that is being routed.
type decoded struct {
	row  value.Record
	have columnSet
}

// rowOf returns the row of a message that is being routed. It is decoded once for all selectors
// that read the same columns.
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

// background is the environment of binding selectors, which depend on the message alone.
var background = &expr.Env{Ctx: context.Background(), Settings: value.Defaults(), Notice: func(*pgerror.Error) {}}

// onItsWay returns a message that is not in a queue yet.
func onItsWay(m *routing.Message) *viewed {
	return &viewed{key: m.Key, props: m.Props, body: m.Body, zone: plain.Zone}
}

// notRedeployed is the condition of all triggers: a message whose header Redeploy is true is not
// copied.
type notRedeployed struct{}

// Match implements routing.Condition.
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
