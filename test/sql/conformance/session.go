package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	statementPatience = 20 * time.Second
	waitPatience      = 300 * time.Millisecond // how long a statement that must wait is observed
)

// session is a connection of a script. extended selects the extended protocol.
type session struct {
	conn     *pgconn.PgConn
	extended bool
	notices  []string
	pending  chan []string // receives the answer of a waiting statement
	last     string        // first column of the last row
}

func openSession(ctx context.Context, dsn string, extended bool) (*session, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	s := &session{extended: extended}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		s.notices = append(s.notices, fmt.Sprintf("%s: %s", n.Severity, n.Message))
	}
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	s.conn, err = pgconn.ConnectConfig(ctx, config)
	return s, err
}

func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), statementPatience)
	defer cancel()
	s.conn.Close(ctx) //nolint:errcheck // a waiting session is cut
}

// run returns the server's answer to a statement.
func (s *session) run(ctx context.Context, sql string) (answer []string) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	s.notices = nil
	var rows *pgconn.MultiResultReader
	var err error
	if s.extended {
		r := s.conn.ExecParams(ctx, sql, nil, nil, nil, nil)
		answer, err = s.read(r)
	} else {
		rows = s.conn.Exec(ctx, sql)
		for rows.NextResult() {
			var part []string
			part, err = s.read(rows.ResultReader())
			answer = append(answer, part...)
			if err != nil {
				break
			}
		}
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		answer = describe(err)
	}
	return append(s.notices, answer...)
}

// read formats a result as lines.
func (s *session) read(r *pgconn.ResultReader) (lines []string, err error) {
	fields := r.FieldDescriptions()
	var header []string
	for _, f := range fields {
		header = append(header, f.Name)
	}
	n := 0
	for r.NextRow() {
		row := make([]string, len(header))
		for i, v := range r.Values() {
			switch {
			case v == nil:
				row[i] = "NULL"
			case header[i] == "id":
				row[i] = "<id>"
			default:
				row[i] = strings.ReplaceAll(string(v), "\n", `\n`)
			}
		}
		if n++; len(row) > 0 {
			s.last = string(r.Values()[0])
		}
		lines = append(lines, strings.Join(row, " | "))
	}
	tag, err := r.Close()
	if err != nil {
		return nil, err
	}
	if fields == nil {
		return []string{tag.String()}, nil
	}
	if n == 0 {
		lines = []string{"(0 rows)"}
	}
	return append([]string{strings.Join(header, " | ")}, lines...), nil
}

// describe formats an error as far as both servers must agree on it.
func describe(err error) []string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return []string{"connection: " + err.Error()}
	}
	return []string{fmt.Sprintf("%s %s: %s", e.Severity, e.Code, strings.ReplaceAll(e.Message, "\n", `\n`))}
}

// start starts a statement that must wait. If it does not wait, start returns its answer.
func (s *session) start(ctx context.Context, sql string) []string {
	s.pending = make(chan []string, 1)
	go func() { s.pending <- s.run(ctx, sql) }()
	select {
	case early := <-s.pending:
		s.pending = nil
		return append([]string{"it did not wait"}, early...)
	case <-time.After(waitPatience):
		return nil
	}
}

// answer returns the answer of the statement that waited.
func (s *session) answer() []string {
	if s.pending == nil {
		return []string{"nothing waits"}
	}
	defer func() { s.pending = nil }()
	return <-s.pending // the statement has its own timeout
}
