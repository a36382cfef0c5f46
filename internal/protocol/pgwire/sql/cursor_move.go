package sql

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// fetchAll is the count of FETCH ALL and of larger counts: the parser is a 32-bit program, whose
// largest long stands for ALL.
const fetchAll = 1<<31 - 1

// mover moves a cursor for FETCH or MOVE, with the rules of PostgreSQL's pquery.c.
type mover struct {
	*Portal
	c    *cursor
	move bool // MOVE returns no rows
	rows [][]value.Datum
	heap expr.Heap // of rows that only FETCH keeps
}

// move moves a cursor and returns the rows passed over, and their number.
func (p *Portal) move(n *pg.FetchStmt) ([][]value.Datum, int64, error) {
	if p.cursor == nil { // a portal of the protocol
		p.cursor = &cursor{}
	}
	m := &mover{Portal: p, c: p.cursor, move: n.Ismove}
	count := n.HowMany
	if count >= fetchAll {
		count = math.MaxInt64
	}
	n64, err := m.run(n.Direction, count)
	return m.rows, n64, err
}

func (m *mover) run(direction pg.FetchDirection, count int64) (int64, error) {
	switch direction {
	case pg.FetchDirection_FETCH_ABSOLUTE:
		return m.absolute(count)
	case pg.FetchDirection_FETCH_RELATIVE:
		switch {
		case count > 0:
			return m.after(m.forward, count-1, m.forward)
		case count < 0:
			return m.after(m.backward, -count-1, m.backward)
		}
	case pg.FetchDirection_FETCH_BACKWARD:
		count = -count
	}
	switch {
	case count > 0:
		return m.forward(count, !m.move)
	case count < 0:
		return m.back(-count)
	}
	return m.again()
}

// after makes steps whose rows are dropped, then one whose row is returned.
func (m *mover) after(first func(int64, bool) (int64, error), steps int64, last func(int64, bool) (int64, error)) (int64, error) {
	if _, err := first(steps, false); err != nil {
		return 0, err
	}
	return last(1, !m.move)
}

// back handles BACKWARD.
func (m *mover) back(count int64) (int64, error) {
	if count < math.MaxInt64 || !m.move {
		return m.backward(count, !m.move)
	}
	over := m.c.at
	if over > 0 && !m.c.ended {
		over--
	}
	return over, m.rewind()
}

// again returns the current row.
func (m *mover) again() (int64, error) {
	on := m.c.begun && !m.c.ended
	switch {
	case !on:
		return 0, nil
	case m.move:
		return 1, nil
	}
	if _, err := m.backward(1, false); err != nil {
		return 0, err
	}
	return m.forward(1, true)
}

// absolute moves to a row by number, counted from the end if it is negative.
func (m *mover) absolute(to int64) (int64, error) {
	c := m.c
	switch {
	case to == 0:
		return 0, m.rewind()
	case to < 0:
		if _, err := m.forward(math.MaxInt64, false); err != nil {
			return 0, err
		}
		return m.after(m.backward, -to-1, m.backward)
	case to-1 <= c.at/2:
		if err := m.rewind(); err != nil {
			return 0, err
		}
		return m.after(m.forward, to-1, m.forward)
	}
	at := c.at
	if c.ended {
		at++
	}
	if to <= at {
		return m.after(m.backward, at-to+1, m.forward)
	}
	return m.after(m.forward, to-at-1, m.forward)
}

// forward moves over count rows, or as many as there are.
func (m *mover) forward(count int64, want bool) (n int64, err error) {
	c := m.c
	if c.ended || count <= 0 {
		return 0, nil
	}
	for n < count {
		row, err := m.step(c.at + n)
		if err != nil {
			return 0, err
		}
		if row == nil {
			c.ended = true
			break
		}
		if n++; want {
			if err := m.add(row); err != nil {
				return 0, err
			}
		}
	}
	c.begun = c.begun || n > 0
	c.at += n
	return n, nil
}

// add adds a row to those of a FETCH. Errors: 53200.
func (m *mover) add(row []value.Datum) error {
	m.rows = append(m.rows, row)
	if m.buffer { // the cursor keeps it
		return nil
	}
	return m.heap.Keep(row)
}

// step returns the row after row number at.
func (m *mover) step(at int64) ([]value.Datum, error) {
	p := m.Portal
	if i := at - p.gone; p.buffer && i < int64(len(p.rows)) {
		return p.rows[i], nil
	}
	row, err := p.read()
	if row == nil || err != nil {
		return nil, err
	}
	row = slices.Clone(row)
	if p.buffer {
		err = p.keep(row)
	}
	return row, err
}

func onlyForward() error {
	return pgerror.New("55000", "cursor can only scan forward").WithHint("Declare it with SCROLL option to enable backward scan.")
}

// backward moves back over count rows, or as many as there are.
func (m *mover) backward(count int64, want bool) (n int64, err error) {
	c := m.c
	if !c.scroll {
		return 0, onlyForward()
	}
	if !c.begun && !c.ended || count <= 0 || !c.begun && c.at == 0 {
		return 0, nil
	}
	at := c.at
	if c.ended {
		at++
	}
	for n < count && at > 1 {
		at--
		if n++; want {
			m.rows = append(m.rows, m.Portal.rows[at-1])
		}
	}
	if n > 0 {
		c.ended = false
	}
	if c.at = at; n < count {
		c.at, c.begun = 0, false
	}
	return n, nil
}

// rewind moves before the first row.
func (m *mover) rewind() error {
	c := m.c
	if !c.begun && !c.ended {
		return nil
	}
	if !c.scroll {
		return onlyForward()
	}
	c.at, c.begun, c.ended = 0, false, false
	return nil
}
