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
	"fiveways.dev/fiveways/test/sql/sides"
)

// real is a connection to PostgreSQL.
type real struct {
	t    *testing.T
	conn *pgconn.HijackedConn
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
			out = append(out, "row "+sides.Theirs(got.Values, ""))
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

// ours is a session of Fiveways.
type ours struct {
	s   *sql.Session
	out []string
}

func newSession() *ours {
	o := &ours{}
	options := sides.Options()
	options.Superuser = true
	options.Notice = func(e *pgerror.Error) { o.write("%s %s %s", e.Severity, e.Code, e.Message) }
	o.s = sql.NewSession(options)
	return o
}

func (o *ours) close() { o.s.Close() }

func (o *ours) write(format string, args ...any) { o.out = append(o.out, fmt.Sprintf(format, args...)) }

func (o *ours) send(m message) string {
	o.out = nil
	err := o.run(m)
	if err == nil {
		err = o.s.Sync(context.Background())
	}
	var e *pgerror.Error
	if errors.As(err, &e) {
		o.write("ERROR %s %s", e.Code, e.Message)
	} else if err != nil {
		o.write("ERROR %v", err)
	}
	if err != nil && o.s.Sync(context.Background()) != nil {
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
		set := o.s.Settings()
		o.write("row %s", sides.Ours(portal.Columns, row, &set, ""))
		return nil
	})
	if err == nil {
		o.write("%s", tag)
	}
	return err
}
