package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// hints suggest alternatives to unsupported commands, by prefix of the command name. The first
// match applies.
var hints = []struct{ command, hint string }{
	{"CREATE ROLE", hintUsers}, {"ALTER ROLE", hintUsers}, {"DROP ROLE", hintUsers},
	{"CREATE DATABASE", hintDatabases}, {"DROP DATABASE", hintDatabases},
	{"CREATE VIEW", "Views of queues are made with mbus4.create_view(queue)."},
	{"CREATE TRIGGER", "Copies from queue to queue are made with mbus4.create_trigger(from, to, selector)."},
	{"DROP", "Queues, consumers and triggers are dropped with mbus4.drop_queue, drop_consumer and drop_trigger."},
	{"LISTEN", hintWait}, {"NOTIFY", hintWait},
	{"", hintQueues},
}

const (
	hintQueues    = "Queues are made with mbus4.create_queue(name, consumers); see mbus4.readme()."
	hintUsers     = "Users are made on the command line: fiveways user add NAME."
	hintDatabases = "A database is a virtual host, made on the command line: fiveways vhost add NAME."
	hintWait      = "Post to a queue, and ask for messages with mbus4.consume."
)

// anytime are commands without support that a read-only transaction would not refuse.
var anytime = []string{"ALTER", "ALTER SYSTEM", "CALL", "CLUSTER", "DO", "LISTEN", "LOAD", "NOTIFY", "REINDEX"}

// refuse is the error for a command that is not there. It is the one for writing where PostgreSQL
// would not come any further, either.
func (s *Session) refuse(name string) *pgerror.Error {
	if s.tx.ReadOnly && !slices.Contains(anytime, name) {
		return inReadOnly(name)
	}
	return refusal(name)
}

func inReadOnly(command string) *pgerror.Error {
	return pgerror.New("25006", "cannot execute %s in a read-only transaction", command)
}

// refusal is the error for a command that is not there.
func refusal(name string) *pgerror.Error {
	e := pgerror.Unsupported(name)
	for _, h := range hints {
		if strings.HasPrefix(name, h.command) {
			return e.WithHint("%s", h.hint)
		}
	}
	return e
}

// createExtension plans CREATE EXTENSION. The extension that queue scripts need, hstore, is built
// in.
func (p *planner) createExtension(n *pg.CreateExtensionStmt) (*plan, error) {
	if n.Extname != "hstore" {
		return nil, pgerror.Unsupported("CREATE EXTENSION \"" + n.Extname + "\"")
	}
	s := p.s
	made := s.simply(func() (string, error) {
		if !n.IfNotExists {
			return "", pgerror.New(pgerror.DuplicateObject, `extension "hstore" already exists`)
		}
		e := pgerror.Notice(`extension "hstore" already exists, skipping`)
		e.Code = pgerror.DuplicateObject
		s.notice(e)
		return "CREATE EXTENSION", nil
	})
	made.writes = "CREATE EXTENSION"
	return made, nil
}
