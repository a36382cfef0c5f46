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
	Database   string              // as the client named it
	Largest    int64               // bytes of a message's body; 0: no limit
	Semaphores *semaphores.Manager // of the broker; nil: there are none
	Loans      *loans.Manager      // of the broker
}

// Session is what the functions of one client work on. It is the Work of its sql.Session, and
// expr.Env.Session. Its methods belong to one goroutine.
type Session struct {
	b          *broker.Broker
	own        *broker.Session
	user       string
	database   string
	largest    int64                      // bytes of a message's body; 0: no limit
	semaphores *semaphores.Manager        // nil: there are none
	owners     map[string]*broker.Session // of views that were used, by the name of the view's owner
	tag        string                     // of the session, in the names of temporary queues
	temps      []string                   // temporary queues made so far, with those that have gone
	tempNo     int

	work    journal
	tx      loans.Transaction
	room    int64 // bytes that the posts of a transaction may take
	defs    definitions
	encoder encoder
	closed  bool

	running  bool                 // a run function is at work
	compiled map[string]*selector // selectors given to dyn_consume

	// Run runs the statements of a text in the open transaction; it is that of the sql.Session.
	// nil: run functions are refused.
	Run func(env *expr.Env, text string, types []*value.Type, args []value.Datum, row func([]value.Datum) error) error
	// InBlock reports whether the open transaction is one that its client ends, by COMMIT; nil:
	// always.
	InBlock func() bool
}

var (
	_ sql.Work  = (*Session)(nil)
	_ sql.Roles = (*Session)(nil)
)

// NewSession returns the session of a client that was let into the virtual host of own; Close
// closes own too.
func NewSession(b *broker.Broker, own *broker.Session, o Options) *Session {
	var random [4]byte
	rand.Read(random[:]) // never fails
	s := &Session{b: b, own: own, user: o.User, database: o.Database, largest: o.Largest, semaphores: o.Semaphores, tag: hex.EncodeToString(random[:]),
		room: int64(b.MaxGroupBytes())}
	s.tx = loans.Transaction{Manager: o.Loans, Holdings: s.holding}
	return s
}

// Superuser reports whether the user may do everything, as it is now.
func (s *Session) Superuser() bool { return slices.Contains(s.tags(), catalog.TagAdministrator) }

// tags are those of the user, as they are now.
func (s *Session) tags() []string {
	u, err := s.b.User(s.user)
	if err != nil {
		return nil
	}
	return u.Tags
}

// of is the session that a function was called in.
func of(env *expr.Env) *Session { return env.Session.(*Session) }

// vhost is the name of the session's virtual host.
func (s *Session) vhost() string { return s.own.VHost() }

// mayChange refuses what changes something in a transaction that only reads.
func (s *Session) mayChange(function string) error {
	if s.work.readOnly {
		return pgerror.New("25006", "cannot execute %s() in a read-only transaction", function)
	}
	return nil
}

// ownerSession is a session with the rights of the owner of a view.
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

// Close ends the session: what is open is rolled back, temporary queues go.
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
