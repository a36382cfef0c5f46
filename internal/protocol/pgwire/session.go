package pgwire

import (
	"context"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/semaphoresql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// session is the part of sql.Session that a connection uses. Tests have other implementations.
type session interface {
	SetDefault(name, value string) error
	Reported() []sql.Setting
	IdleInTransactionTimeout() time.Duration
	IdleTimeout() time.Duration
	Settings() value.Settings

	Split(text string) ([]*sql.Prepared, error)
	Prepare(text string, oids []uint32) (*sql.Prepared, error)
	Store(name string, p *sql.Prepared) error
	Statement(name string) (*sql.Prepared, error)
	Deallocate(name string)
	Open(p *sql.Prepared, args []value.Datum) (*sql.Portal, error)
	Bind(name string, p *sql.Portal) error
	Portal(name string) (*sql.Portal, error)
	Release(name string)
	AsksLast(p *sql.Portal) bool
	Fetch(ctx context.Context, p *sql.Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error)
	Status() byte
	Fail()
	Sync(ctx context.Context) error
	Close()
}

// opener opens the session of an authenticated user. The caller calls the second result after it
// has closed the session.
type opener func(c *conn) (session, func(), error)

// openSession opens an engine session and an SQL session on top of it.
func (s *Server) openSession(c *conn) (session, func(), error) {
	engine, err := s.engineSession(c)
	if err != nil {
		return nil, nil, err
	}
	work := mbus.NewSession(s.broker, engine, mbus.Options{
		User: c.user, Database: c.database, Largest: s.o.MaxMessageSize, Semaphores: s.o.Semaphores, Loans: &s.loans,
	})
	schemas := slices.Concat(work.Schemas(), semaphoresql.Schemas(work))
	catalogs := s.catalogs(c, work, schemas)
	session := sql.NewSession(sql.Options{
		User: c.user, Database: c.database, Superuser: work.Superuser(), BackendPID: c.pid, Notice: c.notice, Parameter: c.parameter, Copier: c,
		Schemas: slices.Concat(catalogs.Schemas(), schemas), Names: catalogs.Names(), Roles: work, Work: work, Session: work,
		Signal: func(pid uint32, terminate bool) (bool, error) {
			return s.conns.signal(c, work.Superuser(), pid, terminate)
		},
	})
	work.Run, catalogs.Transaction = session.Run, session.TransactionID
	work.InBlock = func() bool { return session.Status() != 'I' }
	return session, work.Close, nil
}

func (s *Server) engineSession(c *conn) (*broker.Session, error) {
	return s.broker.NewSession(broker.SessionOptions{
		User: c.user, VHost: vhostOf(c.database), Name: c.client.Name(), Evict: c.evict, Done: c.Leaving(),
	})
}

// notice sends a notice to the client.
func (c *conn) notice(e *pgerror.Error) { c.out.problem('N', e) }

// parameter records a changed setting, which is reported to the client before the next
// ReadyForQuery.
func (c *conn) parameter(name, value string) {
	if name == clientEncoding {
		c.speak(value)
	}
	if name == "application_name" {
		c.name.Store(&value)
	}
	at := slices.IndexFunc(c.changed, func(r reported) bool { return r.name == name })
	if at < 0 {
		c.changed = append(c.changed, reported{name: name})
		at = len(c.changed) - 1
	}
	c.changed[at].value = value
}

// rootDatabase is the database name of the virtual host "/".
const (
	rootDatabase = "fiveways"
	rootVHost    = "/"
)

// vhostOf returns the virtual host that a database name stands for.
func vhostOf(database string) string {
	if database == rootDatabase {
		return rootVHost
	}
	return database
}
