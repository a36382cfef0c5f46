package sql

import (
	"context"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// cursor is the additional state of a portal created by DECLARE.
type cursor struct {
	scroll bool
	hold   bool // survives its transaction
	kept   bool // its transaction has ended
	binary bool
	made   temporal.TimestampTZ
	query  string

	at    int64 // the current row, from 1; after the last row, the number of rows; 0 before the first
	begun bool  // it is not before the first row
	ended bool  // it is after the last row
}

// Options of DECLARE in the parse tree.
const (
	cursorBinary = 0x01
	cursorScroll = 0x02
	cursorHold   = 0x20
)

func (p *Portal) held() bool { return p.cursor != nil && p.cursor.kept }

func (p *planner) declare(n *pg.DeclareCursorStmt, of *Prepared) (*plan, error) {
	made, err := p.queryPlan(n.Query.GetSelectStmt())
	if err != nil {
		return nil, err
	}
	s := p.s
	return &plan{doomed: made.doomed, command: func(env *expr.Env) (query.Result, error) {
		c := &cursor{
			scroll: n.Options&cursorScroll != 0, hold: n.Options&cursorHold != 0, binary: n.Options&cursorBinary != 0, made: env.Stmt, query: of.source,
		}
		if !c.hold && s.tx.state != txImplicit {
			if err := s.inBlock("DECLARE CURSOR"); err != nil {
				return query.Result{}, err
			}
		}
		if s.portals[n.Portalname] != nil {
			return query.Result{}, pgerror.New(pgerror.DuplicateCursor, `cursor "%s" already exists`, n.Portalname)
		}
		inner := s.env(env.Ctx)
		inner.Params = slices.Clone(env.Params)
		o := (&Portal{
			Text: of.Text, Columns: made.columns, prepared: &Prepared{Text: of.Text, stmt: of.stmt}, plan: made, sub: s.subtransaction(), cursor: c,
		}).in(inner)
		o.buffer = c.scroll
		s.portals[n.Portalname] = o
		return query.Result{Tag: "DECLARE CURSOR"}, nil
	}}, nil
}

func noCursor(name string) error {
	return pgerror.New(pgerror.InvalidCursor, `cursor "%s" does not exist`, name)
}

// fetch plans FETCH and MOVE. The cursor may be declared after the FETCH was bound, for example in
// a pipeline. Such a FETCH returns no rows and only moves the cursor.
func (p *planner) fetch(n *pg.FetchStmt) *plan {
	s := p.s
	made := &plan{utility: true, quiet: true}
	tag := "MOVE "
	if !n.Ismove {
		tag = "FETCH "
		if o := s.portals[n.Portalname]; o != nil {
			made.columns = o.Columns
		}
	}
	made.command = func(env *expr.Env) (query.Result, error) {
		o := s.portals[n.Portalname]
		if o == nil || o.plan.query == nil {
			return query.Result{}, noCursor(n.Portalname)
		}
		if o.active {
			return query.Result{}, pgerror.New("55000", `portal "%s" cannot be run`, n.Portalname)
		}
		if !o.held() {
			if err := s.beginQuery(o.plan); err != nil {
				return query.Result{}, err
			}
			o.env.Ctx = env.Ctx
		}
		rows, count, err := o.move(n)
		if err != nil {
			return query.Result{}, err
		}
		if made.columns == nil {
			rows = nil
		}
		return query.Result{Tag: query.CountTag(tag, int(count)), Rows: rows}, nil
	}
	return made
}

// fetchesBinary reports whether a statement is a FETCH of a BINARY cursor. That is the only result
// of a simple query which is not text.
func (s *Session) fetchesBinary(p *Prepared) bool {
	n := p.stmt.GetFetchStmt()
	if n == nil || n.Ismove {
		return false
	}
	o := s.portals[n.Portalname]
	return o != nil && o.cursor != nil && o.cursor.binary
}

// holdCursors reads all rows of WITH HOLD cursors before their transaction commits.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if p.cursor == nil || !p.cursor.hold || p.cursor.kept {
			continue
		}
		if err := p.readAll(ctx); err != nil {
			return err
		}
		p.cursor.kept = true
	}
	return nil
}

// readAll buffers all remaining rows. For a forward-only cursor, the rows already passed are not
// buffered; gone counts them.
func (p *Portal) readAll(ctx context.Context) error {
	p.env.Ctx = ctx
	if !p.buffer {
		p.buffer, p.gone = true, p.cursor.at
	}
	for {
		row, err := p.read()
		if err != nil {
			return err
		}
		if row == nil {
			return nil
		}
		if err := p.keep(slices.Clone(row)); err != nil {
			return err
		}
	}
}

// keep buffers a row. Errors: 53200.
func (p *Portal) keep(row []value.Datum) error {
	p.rows = append(p.rows, row)
	return p.heap.Keep(row)
}

func (p *planner) closeCursor(n *pg.ClosePortalStmt) *plan {
	s := p.s
	return &plan{utility: true, command: func(*expr.Env) (query.Result, error) {
		if n.Portalname == "" {
			for name, o := range s.portals {
				if !o.active {
					s.Release(name)
				}
			}
			return query.Result{Tag: "CLOSE CURSOR ALL"}, nil
		}
		switch o := s.portals[n.Portalname]; {
		case o == nil:
			return query.Result{}, noCursor(n.Portalname)
		case o.active:
			return query.Result{}, pgerror.New("24000", `cannot drop active portal "%s"`, n.Portalname)
		}
		s.Release(n.Portalname)
		return query.Result{Tag: "CLOSE CURSOR"}, nil
	}}
}
