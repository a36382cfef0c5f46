package sql

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Portal is a statement with bound parameters and the state of its execution.
type Portal struct {
	Text    string // of the message that the statement came with
	Columns []value.Field
	Formats []int16 // of the results: none, one for all, or one each; used by the protocol
	Last    bool    // set by the protocol if a Sync is next: results of the commit may then be shown

	prepared *Prepared
	plan     *plan
	env      *expr.Env
	ends     expr.Ends // for env
	sub      int       // the savepoint it was created under; a rollback to that drops it
	done     bool
	active   bool // it is being run: a function that it calls may name it
	tag      string

	// A query that is suspended between two fetches is a coroutine.
	next func() ([]value.Datum, error, bool)
	stop func()
	// Rows of a command that ran to completion, and those of a scrollable cursor.
	rows   [][]value.Datum
	heap   expr.Heap // of the rows of a cursor
	buffer bool      // rows has all rows read so far, except the first gone ones
	gone   int64
	pos    int // of the last row returned; 0 before the first
	cursor *cursor
}

// in sets the portal's env.
func (p *Portal) in(env *expr.Env) *Portal {
	p.env, env.Ends = env, &p.ends
	return p
}

// Spent reports whether the portal is a command that has run and cannot run again.
func (p *Portal) Spent() bool { return p.done && p.Columns == nil }

// Open creates a portal. args have the types of p.Params.
func (s *Session) Open(p *Prepared, args []value.Datum) (*Portal, error) {
	o, err := s.open(p, args)
	if err != nil {
		return nil, s.failed(context.Background(), err)
	}
	return o, nil
}

func (s *Session) open(p *Prepared, args []value.Datum) (*Portal, error) {
	if s.tx.state == txFailed && !endsBlock(p.stmt) {
		return nil, Aborted()
	}
	if len(args) != len(p.Params) {
		return nil, pgerror.New(pgerror.ProtocolViolation, "bind message supplies %d parameters, but prepared statement requires %d",
			len(args), len(p.Params))
	}
	s.start()
	if s.tx.state == txStatement && (p.simple == simplePart || p.simple == simpleLast) {
		s.tx.state = txImplicit
	}
	if err := s.replan(p); err != nil {
		return nil, err
	}
	if p.plan != nil && p.plan.doomed != nil {
		return nil, p.plan.doomed
	}
	env := s.env(context.Background())
	env.Params = args
	o := &Portal{Text: p.Text, prepared: p, plan: p.plan, sub: s.subtransaction()}
	if p.plan != nil {
		o.Columns = p.plan.columns
	}
	if p.simple != notSimple && s.fetchesBinary(p) {
		o.Formats = []int16{1}
	}
	return o.in(env), nil
}

// limited returns ctx with the end that statement_timeout sets.
func (s *Session) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if limit := s.vars.Timeout(); limit > 0 {
		return context.WithTimeoutCause(ctx, limit, errTimeout)
	}
	return ctx, func() {}
}

// Fetch runs the portal until it has passed max rows to row (0 = all). done reports whether the
// portal is complete; tag is its command tag then. A cancel request cancels ctx. A row is valid
// until row returns. The last statement of a simple query is committed before Fetch returns.
func (s *Session) Fetch(ctx context.Context, p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	if p.plan == nil {
		if p.prepared.simple != notSimple {
			err = s.Sync(ctx)
		}
		return true, "", err
	}
	if s.tx.state == txFailed && !endsBlock(p.prepared.stmt) {
		return false, "", Aborted()
	}
	s.start()
	ctx, cancel := s.limited(ctx)
	defer cancel()
	p.env.Ctx, p.active = ctx, true
	done, tag, err = s.advance(p, max, row)
	p.active = false
	if done || err != nil {
		p.ends.Run()
	}
	if last := p.prepared.simple == simpleOnly || p.prepared.simple == simpleLast; err == nil && done && (last || s.tx.alone) {
		err = s.Sync(ctx)
	}
	if err != nil {
		return false, "", s.failed(ctx, err)
	}
	s.tx.piped = s.tx.state != txNone && p.prepared.simple == notSimple
	return done, tag, nil
}

var errTimeout = pgerror.New(pgerror.QueryCanceled, "canceling statement due to statement timeout")

// advance continues a portal.
func (s *Session) advance(p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	switch {
	case p.plan.transaction != nil:
		p.done = true
		tag, err = s.transactionCommand(p.env.Ctx, p.plan.transaction)
		return true, tag, err
	case p.plan.query != nil:
		if err := s.beginQuery(p.plan); err != nil {
			return false, "", err
		}
		if s.showsLate(p, max) {
			tag, err = s.advanceLate(p, row)
			return true, tag, err
		}
		n := 0
		if max == 0 && p.next == nil && !p.done {
			p.done = true
			err = p.plan.query.Run(p.env, func(r []value.Datum) error { n++; return row(r) })
			return true, query.CountTag("SELECT ", n), err
		}
		for max == 0 || n < max {
			r, err := p.read()
			if err != nil {
				return false, "", err
			}
			if r == nil {
				return true, query.CountTag("SELECT ", n), nil
			}
			if err := row(r); err != nil {
				return false, "", err
			}
			n++
		}
		return false, "", nil
	}
	return s.advanceCommand(p, max, row)
}

// advanceCommand runs a command to completion, then returns its rows.
func (s *Session) advanceCommand(p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	if !p.done {
		if err := s.beginQuery(p.plan); err != nil {
			return false, "", err
		}
		out, err := p.plan.command(p.env)
		if err != nil {
			return false, "", err
		}
		p.done, p.tag, p.rows = true, out.Tag, out.Rows
	}
	for n := 0; p.pos < len(p.rows); n++ {
		if max > 0 && n == max {
			return false, "", nil
		}
		if err := row(p.rows[p.pos]); err != nil {
			return false, "", err
		}
		p.pos++
	}
	return true, p.tag, nil
}

// beginQuery prepares the transaction for a statement, or returns an error if it may not run.
func (s *Session) beginQuery(p *plan) error {
	if p.writes != "" && s.tx.ReadOnly {
		return inReadOnly(p.writes)
	}
	s.tx.queried = s.tx.queried || !p.quiet
	if !p.utility {
		s.work()
	}
	return nil
}

// read returns the next row of a query, or nil at its end.
func (p *Portal) read() ([]value.Datum, error) {
	if p.done {
		return nil, nil
	}
	if p.next == nil {
		p.next, p.stop = p.plan.query.Pull(p.env)
	}
	p.active = true
	row, err, ok := p.next()
	p.active = false
	if !ok || err != nil {
		p.close()
		return nil, err
	}
	return row, nil
}

// close ends a portal. It returns no more rows.
func (p *Portal) close() {
	p.done = true
	if p.stop != nil {
		p.stop()
		p.next, p.stop = nil, nil
	}
	p.ends.Run()
}

// Bind stores a portal under a name. Portals and the cursors of DECLARE share names. The unnamed
// portal can be replaced. The end of the transaction drops the portal.
func (s *Session) Bind(name string, p *Portal) error {
	if name != "" && s.portals[name] != nil {
		return s.failed(context.Background(), pgerror.New(pgerror.DuplicateCursor, `cursor "%s" already exists`, name))
	}
	s.Release(name)
	s.portals[name] = p
	return nil
}

// Portal returns a portal or a cursor. Errors: 34000.
func (s *Session) Portal(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil {
		return p, nil
	}
	return nil, s.failed(context.Background(), pgerror.New(pgerror.InvalidCursor, `portal "%s" does not exist`, name))
}

// Release closes a portal. It is not an error if there is none.
func (s *Session) Release(name string) {
	if p := s.portals[name]; p != nil {
		p.close()
		delete(s.portals, name)
	}
}

// dropPortals closes the portals created under a savepoint or a later one; 0: all portals of the
// transaction.
func (s *Session) dropPortals(save int) {
	for name, p := range s.portals {
		if !p.held() && p.sub >= save {
			p.close()
			delete(s.portals, name)
		}
	}
}

// failPortals closes the portals that dropPortals would drop, but keeps their names until the
// transaction is rolled back: running one results in the error of a failed transaction.
func (s *Session) failPortals(save int) {
	for _, p := range s.portals {
		if !p.held() && p.sub >= save {
			p.close()
		}
	}
}

// adoptPortals assigns the portals of a released savepoint to its parent.
func (s *Session) adoptPortals(save, parent int) {
	for _, p := range s.portals {
		if p.sub >= save {
			p.sub = parent
		}
	}
}

func severityRank(severity string) int {
	switch severity {
	case "", "ERROR", "error", "FATAL", "PANIC":
		return 9
	case "WARNING", "warning":
		return 8
	case "NOTICE", "notice":
		return 7
	case "INFO":
		return 10
	case "LOG", "log":
		return 6
	}
	return 0
}
