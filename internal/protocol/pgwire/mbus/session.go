package mbus

import (
	"crypto/rand"
	"encoding/hex"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Options describe a session.
type Options struct {
	User       string
	Database   string              // as given by the client
	Largest    int64               // bytes of a message body; 0: no limit
	Semaphores *semaphores.Manager // the broker's; nil: there are none
	Loans      *loans.Manager      // the broker's
}

// Session is the state that the functions of one client work on. It is the Work of its sql.Session,
// and expr.Env.Session. Its methods must be called from one goroutine.
type Session struct {
	b          *broker.Broker
	own        *broker.Session
	user       string
	database   string
	largest    int64                      // bytes of a message body; 0: no limit
	semaphores *semaphores.Manager        // nil: there are none
	owners     map[string]*broker.Session // by owner of the views that were used
	tag        string                     // part of the names of temporary queues
	temps      []string                   // temporary queues created so far, including deleted ones
	tempNo     int

	work    journal
	tx      loans.Transaction
	room    int64 // bytes available to the posts of a transaction
	most    int   // bytes of memory for the messages that one call returns
	defs    definitions
	encoder encoder
	closed  bool

	running  bool                 // a run function is executing
	compiled map[string]*selector // selectors given to dyn_consume

	// Run runs the statements of a text in the open transaction; it is the Run of the sql.Session.
	// If it is nil, run functions are refused.
	Run func(env *expr.Env, text string, types []*value.Type, args []value.Datum, row func([]value.Datum) error) error
	// InBlock reports whether the open transaction is an explicit block that the client ends with
	// COMMIT. If it is nil, that is always assumed.
	InBlock func() bool
}

var (
	_ sql.Work  = (*Session)(nil)
	_ sql.Roles = (*Session)(nil)
)

// NewSession returns the session of a client that has access to the virtual host of own. Close
// closes own too.
func NewSession(b *broker.Broker, own *broker.Session, o Options) *Session {
	var random [4]byte
	rand.Read(random[:]) // never fails
	s := &Session{b: b, own: own, user: o.User, database: o.Database, largest: o.Largest, semaphores: o.Semaphores, tag: hex.EncodeToString(random[:]),
		room: int64(b.MaxGroupBytes()), most: 256 << 20}
	s.tx = loans.Transaction{Manager: o.Loans, Holdings: s.holding}
	return s
}

// Superuser reports whether the user currently is an administrator.
func (s *Session) Superuser() bool { return slices.Contains(s.tags(), catalog.TagAdministrator) }

// tags returns the current tags of the user.
func (s *Session) tags() []string {
	u, err := s.b.User(s.user)
	if err != nil {
		return nil
	}
	return u.Tags
}

// of returns the session that a function was called in.
func of(env *expr.Env) *Session { return env.Session.(*Session) }

// vhost returns the name of the session's virtual host.
func (s *Session) vhost() string { return s.own.VHost() }

// mayChange returns an error in a read-only transaction.
func (s *Session) mayChange(function string) error {
	if s.work.readOnly {
		return pgerror.New("25006", "cannot execute %s() in a read-only transaction", function)
	}
	return nil
}

// ownerSession returns a session with the rights of the owner of a view.
func (s *Session) ownerSession(owner string) (*broker.Session, error) {
	if owner == s.user {
		return s.own, nil
	}
	if have := s.owners[owner]; have != nil {
		return have, nil
	}
	o, err := s.b.NewSession(broker.SessionOptions{User: owner, VHost: s.vhost(), Name: "view of " + owner})
	if err != nil {
		return nil, s.failed(err)
	}
	if s.owners == nil {
		s.owners = map[string]*broker.Session{}
	}
	s.owners[owner] = o
	return o, nil
}

// Close ends the session: it rolls back the open transaction and deletes temporary queues.
func (s *Session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.Rollback()
	for _, o := range s.owners {
		o.Close()
	}
	s.own.Close()
}
