package semaphoresql_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/semaphoresql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node is a broker with semaphores in memory, with SQL sessions by name.
type node struct {
	t        testing.TB
	b        *broker.Broker
	m        *semaphores.Manager
	loans    loans.Manager
	sessions map[string]*session
}

func newNode(t testing.TB, fs vfs.FS) *node {
	t.Helper()
	n := &node{t: t, m: semaphores.New(semaphores.Options{Logger: slog.New(slog.DiscardHandler)}), sessions: map[string]*session{}}
	n.b = enginetest.Open(t, fs, func(o *broker.Options) {
		o.Conditions, o.Order, o.StateMachines = mbus.Conditions(), mbus.OrderOf, protocoltest.Machines(n.m, nil)
	})
	if err := n.m.Start(n.b); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) close() {
	for _, s := range n.sessions {
		s.sql.Close()
		s.work.Close()
	}
	n.m.Stop()
	enginetest.Close(n.t, n.b)
}

// session is an SQL session of one client.
type session struct {
	sql  *sql.Session
	work *mbus.Session
	out  strings.Builder
}

// addUser creates a user with the given permission patterns.
func (n *node) addUser(name, configure, write, read string) {
	n.t.Helper()
	_, err := n.b.PutUser(catalog.UserSpec{Name: name, Password: "secret"})
	if err == nil {
		_, err = n.b.SetPermission(catalog.Permission{User: name, VHost: "/", Configure: configure, Write: write, Read: read})
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// session returns the session with a name, "user" or "user/anything", and opens it if necessary.
func (n *node) session(name string) *session {
	n.t.Helper()
	if s := n.sessions[name]; s != nil {
		return s
	}
	user, _, _ := strings.Cut(name, "/")
	engine, err := n.b.NewSession(broker.SessionOptions{User: user, VHost: "/"})
	if err != nil {
		n.t.Fatal(err)
	}
	s := &session{work: mbus.NewSession(n.b, engine, mbus.Options{User: user, Database: "fiveways", Semaphores: n.m, Loans: &n.loans})}
	s.sql = sql.NewSession(sql.Options{
		User: user, Database: "fiveways", Schemas: slices.Concat(s.work.Schemas(), semaphoresql.Schemas(s.work)), Work: s.work, Session: s.work, Roles: s.work,
		Notice: func(e *pgerror.Error) { fmt.Fprintf(&s.out, "%s: %s\n", e.Severity, e.Message) },
	})
	n.sessions[name] = s
	return s
}

// run executes one message of the simple protocol and returns its output.
func (s *session) run(text string) string {
	s.out.Reset()
	if err := s.all(text); err != nil {
		s.fail(err)
	}
	return s.out.String()
}

func (s *session) all(text string) error {
	list, err := s.sql.Split(text)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := s.one(p); err != nil {
			return err
		}
	}
	return s.sql.Sync(context.Background())
}

func (s *session) one(p *sql.Prepared) error {
	portal, err := s.sql.Open(p, nil)
	if err != nil {
		return err
	}
	_, tag, err := s.sql.Fetch(context.Background(), portal, 0, func(row []value.Datum) error {
		set := s.sql.Settings()
		for i, d := range row {
			text := "NULL"
			if d != nil {
				text = value.String(portal.Columns[i].Type, d, &set)
			}
			if i > 0 {
				s.out.WriteString(" | ")
			}
			s.out.WriteString(text)
		}
		s.out.WriteString("\n")
		return nil
	})
	if err == nil {
		fmt.Fprintln(&s.out, tag)
	}
	return err
}

func (s *session) fail(err error) {
	var e *pgerror.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(&s.out, "ERROR: %v\n", err)
		return
	}
	fmt.Fprintf(&s.out, "ERROR: %s %s\n", e.Code, e.Message)
	for _, more := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}} {
		if more.text != "" {
			fmt.Fprintf(&s.out, "%s: %s\n", more.name, more.text)
		}
	}
}

// TestScripts runs the scripts in testdata. "sql" sends a message in the session that the option as
// names: the user, or user/anything for another session of the same user. "user" creates a user
// with permission patterns: configure, write, read.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			n := newNode(t, vfs.NewMem())
			defer n.close()
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "user":
					words := strings.Fields(d.Input)
					n.addUser(words[0], words[1], words[2], words[3])
					return ""
				case "sql":
					who := "guest"
					if d.HasArg("as") {
						d.ScanArgs(t, "as", &who)
					}
					return n.session(who).run(d.Input)
				}
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
				return ""
			})
		})
	}
}
