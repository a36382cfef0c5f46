package transactions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// real is a connection to PostgreSQL.
type real struct {
	t    *testing.T
	conn *pgconn.HijackedConn
}

func dial(t *testing.T, dsn string) *real {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	return &real{t, h}
}

func (r *real) close() { _ = r.conn.Conn.Close() }

// send sends a message and returns the answers, one per line.
func (r *real) send(m message) string {
	f := r.conn.Frontend
	if m.extended {
		for _, s := range m.statements {
			f.Send(&pgproto3.Parse{Query: s})
			f.Send(&pgproto3.Bind{})
			f.Send(&pgproto3.Execute{})
		}
		f.Send(&pgproto3.Sync{})
	} else {
		f.Send(&pgproto3.Query{String: strings.Join(m.statements, "; ")})
	}
	if err := f.Flush(); err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for {
		got, err := f.Receive()
		if err != nil {
			r.t.Fatalf("%s: %v", m, err)
		}
		switch got := got.(type) {
		case *pgproto3.DataRow:
			var vals []string
			for _, v := range got.Values {
				vals = append(vals, string(v))
			}
			out = append(out, "row "+strings.Join(vals, ","))
		case *pgproto3.CommandComplete:
			out = append(out, string(got.CommandTag))
		case *pgproto3.NoticeResponse:
			out = append(out, fmt.Sprintf("%s %s %s", got.Severity, got.Code, got.Message))
		case *pgproto3.ErrorResponse:
			out = append(out, fmt.Sprintf("%s %s %s", got.Severity, got.Code, got.Message))
		case *pgproto3.ReadyForQuery:
			return strings.Join(append(out, string(got.TxStatus)), "\n")
		}
	}
}

// nothing is a Work without effects.
type nothing struct{ marks int }

func (*nothing) Begin(bool)       {}
func (*nothing) Commit() error    { return nil }
func (*nothing) Rollback()        {}
func (n *nothing) Savepoint() int { n.marks++; return n.marks }
func (*nothing) RollbackTo(int)   {}
func (*nothing) Close()           {}

// ours is a session of Fiveways.
type ours struct {
	s   *sql.Session
	out []string
}

func newSession() *ours {
	o := &ours{}
	o.s = sql.NewSession(sql.Options{
		User: "postgres", Database: "postgres", Superuser: true, Work: &nothing{},
		Notice: func(e *pgerror.Error) { o.write("%s %s %s", e.Severity, e.Code, e.Message) },
	})
	return o
}

func (o *ours) close() { o.s.Close() }

func (o *ours) write(format string, args ...any) { o.out = append(o.out, fmt.Sprintf(format, args...)) }

func (o *ours) send(m message) string {
	o.out = nil
	err := o.run(m)
	if err == nil {
		err = o.s.Sync()
	}
	var e *pgerror.Error
	if errors.As(err, &e) {
		o.write("ERROR %s %s", e.Code, e.Message)
	} else if err != nil {
		o.write("ERROR %v", err)
	}
	if err != nil && o.s.Sync() != nil {
		o.write("a second error")
	}
	o.write("%c", o.s.Status())
	return strings.Join(o.out, "\n")
}

func (o *ours) run(m message) error {
	if m.extended {
		for _, text := range m.statements {
			p, err := o.s.Prepare(text, nil)
			if err == nil {
				err = o.one(p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	all, err := o.s.Split(strings.Join(m.statements, "; "))
	for _, p := range all {
		if err := o.one(p); err != nil {
			return err
		}
	}
	return err
}

func (o *ours) one(p *sql.Prepared) error {
	portal, err := o.s.Open(p, nil)
	if err != nil {
		return err
	}
	_, tag, err := o.s.Fetch(context.Background(), portal, 0, func(row []value.Datum) error {
		var vals []string
		set := o.s.Settings()
		for i, d := range row {
			text := ""
			if d != nil {
				text = value.String(portal.Columns[i].Type, d, &set)
			}
			vals = append(vals, text)
		}
		o.write("row %s", strings.Join(vals, ","))
		return nil
	})
	if err == nil {
		o.write("%s", tag)
	}
	return err
}
