package sql

import (
	"context"
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// cursor is what a portal made by DECLARE has beside a portal of the protocol.
type cursor struct {
	scroll bool
	hold   bool // outlives its transaction
	kept   bool // its transaction is over
	binary bool
	made   value.TimestampTZ
	query  string

	at    int64 // the row it stands on, from 1; the last one when it stands behind that, 0 before the first
	begun bool  // it does not stand before the first row
	ended bool  // it stands behind the last row
}

// The options of DECLARE, as PostgreSQL's parser gives them.
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
	return &plan{doomed: made.doomed, command: func(env *expr.Env) (result, error) {
		c := &cursor{
			scroll: n.Options&cursorScroll != 0, hold: n.Options&cursorHold != 0, binary: n.Options&cursorBinary != 0, made: env.Stmt, query: of.source,
		}
		if !c.hold && s.tx.state != txImplicit {
			if err := s.inBlock("DECLARE CURSOR"); err != nil {
				return result{}, err
			}
		}
		if s.portals[n.Portalname] != nil {
			return result{}, pgerror.New(pgerror.DuplicateCursor, `cursor "%s" already exists`, n.Portalname)
		}
		inner := s.env(env.Ctx)
		inner.Params = slices.Clone(env.Params)
		o := (&Portal{
			Text: of.Text, Columns: made.columns, prepared: &Prepared{Text: of.Text, stmt: of.stmt}, plan: made, sub: s.subtransaction(), cursor: c,
		}).in(inner)
		o.buffer = c.scroll
		s.portals[n.Portalname] = o
		return result{tag: "DECLARE CURSOR"}, nil
	}}, nil
}

func noCursor(name string) error {
	return pgerror.New(pgerror.InvalidCursor, `cursor "%s" does not exist`, name)
}

// fetch plans FETCH and MOVE. Their cursor may come later, in a pipeline for example: a FETCH that
// was bound before it returns no rows, and only moves it.
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
	made.command = func(env *expr.Env) (result, error) {
		o := s.portals[n.Portalname]
		if o == nil || o.plan.query == nil {
			return result{}, noCursor(n.Portalname)
		}
		if !o.held() {
			if err := s.beginQuery(o.plan); err != nil {
				return result{}, err
			}
			o.env.Ctx = env.Ctx
		}
		rows, count, err := o.move(n)
		if err != nil {
			return result{}, err
		}
		if made.columns == nil {
			rows = nil
		}
		return result{tag: countTag(tag, int(count)), rows: rows}, nil
	}
	return made
}

// holdCursors reads the rows of WITH HOLD cursors to their ends, before their transaction commits.
func (s *Session) holdCursors() error {
	for _, p := range s.portals {
		if p.cursor == nil || !p.cursor.hold || p.cursor.kept {
			continue
		}
		if err := p.readAll(); err != nil {
			if errors.Is(err, context.Canceled) {
				return pgerror.New(pgerror.QueryCanceled, "canceling statement due to user request")
			}
			return err
		}
		p.cursor.kept = true
	}
	return nil
}

// readAll keeps all rows that are still to come. What a forward cursor has gone over is left out,
// which changes where it stands.
func (p *Portal) readAll() error {
	p.env.Ctx = context.Background()
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
		p.rows = append(p.rows, slices.Clone(row))
	}
}

func (p *planner) closeCursor(n *pg.ClosePortalStmt) *plan {
	s := p.s
	return &plan{utility: true, command: func(*expr.Env) (result, error) {
		if n.Portalname == "" {
			for name, o := range s.portals {
				if o.cursor != nil {
					s.Release(name)
				}
			}
			return result{tag: "CLOSE CURSOR ALL"}, nil
		}
		if s.portals[n.Portalname] == nil {
			return result{}, noCursor(n.Portalname)
		}
		s.Release(n.Portalname)
		return result{tag: "CLOSE CURSOR"}, nil
	}}
}
