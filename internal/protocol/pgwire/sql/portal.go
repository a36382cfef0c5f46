package sql

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Portal is a statement with its parameters, being run.
type Portal struct {
	Text    string // of the message that the statement came with
	Columns []value.Field
	Formats []int16 // of the results: none, one for all, or one each; the protocol keeps them here
	Last    bool    // the protocol has seen that a Sync is next: what the portal shows may be what is known after the commit

	prepared *Prepared
	plan     *plan
	env      *expr.Env
	ends     expr.Ends // of what env is for
	sub      int       // the savepoint it was made under; it goes when that is rolled back
	done     bool
	tag      string

	// A query that stops between two fetches is a coroutine.
	next func() ([]value.Datum, error, bool)
	stop func()
	// Rows of what runs to its end at once, and those of a scrollable cursor.
	rows   [][]value.Datum
	buffer bool // rows has all that were read, but for the first gone ones
	gone   int64
	pos    int // of the row last given; 0 before the first
	cursor *cursor
}

// in gives the portal its env.
func (p *Portal) in(env *expr.Env) *Portal {
	p.env, env.Ends = env, &p.ends
	return p
}

// errStop ends a query whose rows are not needed any more.
var errStop = errors.New("sql: no more rows are wanted")

// Spent tells that the portal is a command that has run: it cannot run again.
func (p *Portal) Spent() bool { return p.done && p.Columns == nil }

// Open makes a portal. Values are in the types of p.Params.
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
	return o.in(env), nil
}

// Fetch runs the portal until max rows were given to row (0 = all); done tells that it is at its
// end and tag is the command tag then. ctx is ended by a cancel request. A row is valid until row
// returns. The last statement of a simple query is committed before Fetch returns.
func (s *Session) Fetch(ctx context.Context, p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	if p.plan == nil {
		if p.prepared.simple != notSimple {
			err = s.Sync()
		}
		return true, "", err
	}
	if s.tx.state == txFailed && !endsBlock(p.prepared.stmt) {
		return false, "", Aborted()
	}
	s.start()
	if limit := s.vars.timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	p.env.Ctx = ctx
	done, tag, err = s.advance(p, max, row)
	if done || err != nil {
		p.ends.Run()
	}
	if last := p.prepared.simple == simpleOnly || p.prepared.simple == simpleLast; err == nil && done && (last || s.tx.alone) {
		err = s.Sync()
	}
	if err != nil {
		return false, "", s.failed(ctx, err)
	}
	s.tx.piped = s.tx.state != txNone && p.prepared.simple == notSimple
	return done, tag, nil
}

var errTimeout = pgerror.New(pgerror.QueryCanceled, "canceling statement due to statement timeout")

// advance runs a portal on.
func (s *Session) advance(p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	switch {
	case p.plan.transaction != nil:
		p.done = true
		tag, err = s.transactionCommand(p.plan.transaction)
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
			err = p.plan.query.run(p.env, func(r []value.Datum) error { n++; return row(r) })
			return true, countTag("SELECT ", n), err
		}
		for max == 0 || n < max {
			r, err := p.read()
			if err != nil {
				return false, "", err
			}
			if r == nil {
				return true, countTag("SELECT ", n), nil
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

// advanceCommand runs what is no query to its end, then gives out its rows.
func (s *Session) advanceCommand(p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	if !p.done {
		if err := s.beginQuery(p.plan); err != nil {
			return false, "", err
		}
		out, err := p.plan.command(p.env)
		if err != nil {
			return false, "", err
		}
		p.done, p.tag, p.rows = true, out.tag, out.rows
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

// beginQuery is what the transaction must know of a statement before it runs.
func (s *Session) beginQuery(p *plan) error {
	if p.writes != "" && s.tx.readOnly {
		return inReadOnly(p.writes)
	}
	s.tx.queried = s.tx.queried || !p.quiet
	if !p.utility {
		s.work()
	}
	return nil
}

func countTag(word string, n int) string {
	var buf [32]byte
	return string(strconv.AppendInt(append(buf[:0], word...), int64(n), 10))
}

// read returns the next row of a query, nil at its end.
func (p *Portal) read() ([]value.Datum, error) {
	if p.done {
		return nil, nil
	}
	if p.next == nil {
		p.next, p.stop = pull(p.plan.query, p.env)
	}
	row, err, ok := p.next()
	if !ok || err != nil {
		p.close()
		return nil, err
	}
	return row, nil
}

// pull turns a query around: its rows are asked for one by one. stop must be called when not all
// are.
func pull(q query, env *expr.Env) (next func() ([]value.Datum, error, bool), stop func()) {
	return iter.Pull2(func(yield func([]value.Datum, error) bool) {
		err := q.run(env, func(row []value.Datum) error {
			if !yield(row, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	})
}

// close ends a portal; it gives no more rows.
func (p *Portal) close() {
	p.done = true
	if p.stop != nil {
		p.stop()
		p.next, p.stop = nil, nil
	}
	p.ends.Run()
}

// Bind keeps a portal by a name that it shares with the cursors of DECLARE; the one without a name
// is replaced at will. The end of its transaction drops it.
func (s *Session) Bind(name string, p *Portal) error {
	if name != "" && s.portals[name] != nil {
		return s.failed(context.Background(), pgerror.New(pgerror.DuplicateCursor, `cursor "%s" already exists`, name))
	}
	s.Release(name)
	s.portals[name] = p
	return nil
}

// Portal finds a portal or a cursor. Errors: 34000.
func (s *Session) Portal(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil {
		return p, nil
	}
	return nil, s.failed(context.Background(), pgerror.New(pgerror.InvalidCursor, `portal "%s" does not exist`, name))
}

// Release closes a portal; one that is not there is no error.
func (s *Session) Release(name string) {
	if p := s.portals[name]; p != nil {
		p.close()
		delete(s.portals, name)
	}
}

// dropPortals closes those made under a savepoint, or under one after it; 0: all of the
// transaction.
func (s *Session) dropPortals(save int) {
	for name, p := range s.portals {
		if !p.held() && p.sub >= save {
			p.close()
			delete(s.portals, name)
		}
	}
}

// failPortals closes those that dropPortals drops. Their names are known until the transaction is
// rolled back: to run one is the error of a transaction that has failed.
func (s *Session) failPortals(save int) {
	for _, p := range s.portals {
		if !p.held() && p.sub >= save {
			p.close()
		}
	}
}

// adoptPortals gives those of a released savepoint to what is around it.
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
