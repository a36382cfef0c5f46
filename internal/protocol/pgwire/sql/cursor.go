package sql

import (
	"context"
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// cursor is what a portal made by DECLARE has beside a portal of the protocol.
type cursor struct {
	scroll, noScroll bool
	hold             bool // outlives its transaction
	kept             bool // its transaction is over
	binary           bool
	made             value.TimestampTZ
	at               int  // rows before the place where it stands
	behind           bool // it stands after the last row
	query            string
}

// The options of DECLARE, as PostgreSQL's parser gives them.
const (
	cursorBinary   = 0x01
	cursorScroll   = 0x02
	cursorNoScroll = 0x04
	cursorHold     = 0x20
)

func (p *Portal) held() bool { return p.cursor != nil && p.cursor.kept }

func (p *planner) declare(n *pg.DeclareCursorStmt, of *Prepared) (*plan, error) {
	made, err := p.queryPlan(n.Query.GetSelectStmt())
	if err != nil {
		return nil, err
	}
	s := p.s
	return &plan{command: func(env *expr.Env) (result, error) {
		c := &cursor{
			scroll: n.Options&cursorScroll != 0, noScroll: n.Options&cursorNoScroll != 0, hold: n.Options&cursorHold != 0,
			binary: n.Options&cursorBinary != 0, made: env.Stmt, query: of.source,
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
		o := &Portal{
			Columns: made.columns, prepared: &Prepared{Text: of.Text, stmt: of.stmt}, plan: made, env: inner, sub: s.subtransaction(), cursor: c,
		}
		o.buffer = c.scroll
		s.portals[n.Portalname] = o
		return result{tag: "DECLARE CURSOR"}, nil
	}}, nil
}

func noCursor(name string) error {
	return pgerror.New(pgerror.InvalidCursor, `cursor "%s" does not exist`, name)
}

// fetch plans FETCH and MOVE.
func (p *planner) fetch(n *pg.FetchStmt) (*plan, error) {
	s := p.s
	o := s.portals[n.Portalname]
	if o == nil || o.plan.query == nil {
		return nil, noCursor(n.Portalname)
	}
	made := &plan{utility: true, quiet: true}
	tag := "MOVE "
	if !n.Ismove {
		made.columns, tag = o.Columns, "FETCH "
	}
	made.command = func(env *expr.Env) (result, error) {
		o := s.portals[n.Portalname]
		if o == nil {
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
		if n.Ismove {
			rows = nil
		}
		return result{tag: countTag(tag, count), rows: rows}, nil
	}
	return made, nil
}

// fetchAll is the count of FETCH ALL.
const fetchAll = 1<<63 - 1

// move moves a cursor and returns the rows that it went over, and how many they were.
func (p *Portal) move(n *pg.FetchStmt) ([][]value.Datum, int, error) {
	if p.cursor == nil {
		p.cursor = &cursor{noScroll: true, at: p.pos}
	}
	count := n.HowMany
	switch n.Direction {
	case pg.FetchDirection_FETCH_BACKWARD:
		if count < 0 {
			return p.forward(-count)
		}
		return p.backward(count)
	case pg.FetchDirection_FETCH_ABSOLUTE:
		return p.absolute(count)
	case pg.FetchDirection_FETCH_RELATIVE:
		return p.relative(count)
	}
	if count < 0 {
		return p.backward(-count)
	}
	return p.forward(count)
}

// forward goes over count rows; none stays on the row where it is and gives it again.
func (p *Portal) forward(count int64) (rows [][]value.Datum, n int, err error) {
	if count == 0 {
		return p.again()
	}
	for int64(n) < count {
		row, err := p.step()
		if err != nil {
			return nil, 0, err
		}
		if row == nil {
			break
		}
		rows = append(rows, row)
		n++
	}
	return rows, n, nil
}

// step goes to the next row and returns it; nil: there is none.
func (p *Portal) step() ([]value.Datum, error) {
	c := p.cursor
	if c.behind {
		return nil, nil
	}
	if p.buffer && c.at < len(p.rows) {
		c.at++
		return p.rows[c.at-1], nil
	}
	row, err := p.read()
	if err != nil {
		return nil, err
	}
	c.at++
	if row == nil {
		c.behind = true
		return nil, nil
	}
	row = slices.Clone(row)
	if p.buffer {
		p.rows = append(p.rows, row)
	} else {
		p.rows = [][]value.Datum{row}
	}
	return row, nil
}

// again is the row where the cursor stands.
func (p *Portal) again() ([][]value.Datum, int, error) {
	c := p.cursor
	if c.behind || c.at == 0 || len(p.rows) == 0 {
		return nil, 0, nil
	}
	if p.buffer {
		return p.rows[c.at-1 : c.at], 1, nil
	}
	return p.rows, 1, nil
}

func onlyForward() error {
	return pgerror.New("55000", "cursor can only scan forward").WithHint("Declare it with SCROLL option to enable backward scan.")
}

func (p *Portal) backward(count int64) (rows [][]value.Datum, n int, err error) {
	if count == 0 {
		return p.again()
	}
	c := p.cursor
	if !p.buffer {
		return nil, 0, onlyForward()
	}
	for int64(n) < count && c.at > 1 {
		c.at--
		c.behind = false
		rows = append(rows, p.rows[c.at-1])
		n++
	}
	if int64(n) < count {
		c.at, c.behind = 0, false
	}
	return rows, n, nil
}

// absolute goes to a row by its number, from the end when it is negative.
func (p *Portal) absolute(to int64) ([][]value.Datum, int, error) {
	c := p.cursor
	if to < 0 {
		if _, _, err := p.forward(fetchAll); err != nil {
			return nil, 0, err
		}
		if !p.buffer && to < -1 {
			return nil, 0, onlyForward()
		}
		if !p.buffer {
			return p.lastRow()
		}
		to += int64(len(p.rows)) + 1
		if to < 0 {
			to = 0
		}
	}
	if to < int64(c.at) || to == 0 && c.at > 0 {
		if !p.buffer {
			return nil, 0, onlyForward()
		}
		c.at, c.behind = 0, false
	}
	return p.skipTo(to)
}

func (p *Portal) lastRow() ([][]value.Datum, int, error) {
	if len(p.rows) == 0 {
		return nil, 0, nil
	}
	p.cursor.at--
	return p.rows, 1, nil
}

// skipTo goes forward to a row and gives it alone.
func (p *Portal) skipTo(to int64) ([][]value.Datum, int, error) {
	c := p.cursor
	if to == 0 {
		return nil, 0, nil
	}
	if to == int64(c.at) {
		return p.again()
	}
	for int64(c.at) < to {
		row, err := p.step()
		if err != nil {
			return nil, 0, err
		}
		if row == nil {
			return nil, 0, nil
		}
	}
	return p.again()
}

func (p *Portal) relative(by int64) ([][]value.Datum, int, error) {
	switch {
	case by == 0:
		return p.again()
	case by > 0:
		return p.skipTo(int64(p.cursor.at) + by)
	}
	return p.absolute(max(int64(p.cursor.at)+by, 0))
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

// readAll keeps all rows that are still to come.
func (p *Portal) readAll() error {
	p.env.Ctx = context.Background()
	c := p.cursor
	if !p.buffer {
		p.rows, p.buffer, c.at = nil, true, 0
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
