package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol"
)

// Need is what a path requires of its caller. More than a login is required where RabbitMQ requires
// a tag.
type Need uint8

const (
	Login          Need = iota // any user; its permissions decide what it may do
	Management                 // a user with a tag that opens RabbitMQ's management API
	Policymaking               // a user with the tag policymaker or administrator
	Monitoring                 // a user with the tag monitoring or administrator
	Administration             // a user with the tag administrator
	Anyone                     // no login: for what is not secret, such as the files of the page
)

// openers are the tags that satisfy each need, and the error for a caller without any of them.
var openers = map[Need]struct {
	tags    []string
	refusal *Refused
}{
	Management:     {[]string{tagManagement, tagPolicymaker, tagMonitoring, catalog.TagAdministrator}, errNotManager},
	Policymaking:   {[]string{tagPolicymaker, catalog.TagAdministrator}, errNotAuthorised},
	Monitoring:     {[]string{tagMonitoring, catalog.TagAdministrator}, errNotMonitor},
	Administration: {[]string{catalog.TagAdministrator}, errNotAdministrator},
}

// Tags of RabbitMQ's management API that the engine does not define.
const (
	tagManagement  = "management"
	tagPolicymaker = "policymaker"
	tagMonitoring  = "monitoring"
)

// Caller is the user of a request, and its connection.
type Caller struct {
	Operator bool             // has all permissions: the request came over the admin socket, or from this process
	User     string           // "" before the login, and for the operator
	Peer     net.Addr         // nil for the operator
	Client   *protocol.Client // the connection; nil: none that operators see
	ID       string           // of the request, for the log
	Ending   context.Context  // done when the server drains, which ends requests that wait; nil: never
	Conn     *http.ResponseController
	conn     *placed  // the connection of the request; nil: none
	tags     []string // the user's tags, once admit has read them
	refusal  string   // the error that Refuse answered with
}

type callerKey struct{}

// CallerOf returns the caller of a request from its context.
func CallerOf(ctx context.Context) *Caller { return ctx.Value(callerKey{}).(*Caller) }

// Name returns the caller's name for the log.
func (c *Caller) Name() string {
	if c.Operator {
		return "operator"
	}
	return protocol.Clipped(c.User)
}

// TakesTime extends the deadline of an answer by d.
func (c *Caller) TakesTime(d time.Duration) {
	// Only writers in this process do not support deadlines.
	_ = c.Conn.SetReadDeadline(time.Time{}) // the request has been read; otherwise its timeout would look like a disconnect
	_ = c.Conn.SetWriteDeadline(time.Now().Add(d + patience))
}

// WhenEnding arranges for f to be called when the server drains. The result cancels that.
func (c *Caller) WhenEnding(f func()) (not func() bool) {
	if c.Ending == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(c.Ending, f)
}

// peerOf returns the address that a request over the network comes from.
func peerOf(r *http.Request) net.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{} // unknown, but not the local machine
	}
	return net.TCPAddrFromAddrPort(at)
}

// requestID returns the id of a request for the log: the client's id, or a generated one.
func requestID(r *http.Request) string {
	const most = 128
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > most || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return rand.Text()
	}
	return id
}

// Errors for callers without permission. The texts are RabbitMQ's.
var (
	errNoLogin = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Login needed"}}
	errLogin   = &Refused{http.StatusUnauthorized, Refusal{"not_authorized", "Login failed"}} // RabbitMQ spells it this way only here
	errName    = &Refused{http.StatusUnauthorized, Refusal{"not_authorised",
		"User guest with its first password is let in under the address of this machine only, such as 127.0.0.1"}}
	errNotManager       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not management user"}}
	errNotMonitor       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not monitor user"}}
	errNotAuthorised    = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "User not authorised to access object"}}
	errNotAdministrator = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not administrator user"}}
	errNoPlace          = &Refused{http.StatusServiceUnavailable, Refusal{"unavailable", "the broker has as many connections as it may"}}
	errNotVisible       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "User not authorised to access virtual host"}}
)

// admit authenticates the caller and returns an error unless it satisfies n.
func (a *API) admit(r *http.Request, n Need) error {
	c := CallerOf(r.Context())
	if c.Operator || n == Anyone {
		return nil
	}
	if err := a.login(r, c); err != nil {
		return err
	}
	if n == Login {
		return nil
	}
	u, err := a.Broker.User(c.User)
	if err != nil { // the user has been deleted since
		return errLogin
	}
	c.tags = u.Tags
	if opener := openers[n]; !c.has(opener.tags...) {
		return opener.refusal
	}
	return nil
}

// has reports whether the caller has one of the tags.
func (c *Caller) has(tags ...string) bool {
	return slices.ContainsFunc(c.tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

// login authenticates the caller. It delays the answer to a wrong password, to slow down guessing.
func (a *API) login(r *http.Request, c *Caller) error {
	at := protocol.Attempt{Protocol: "http", Peer: c.Peer}
	user, password, ok := r.BasicAuth()
	if !ok {
		return a.certificate(r, c, at)
	}
	at.User = user
	loopback := protocol.IsLoopback(c.Peer)
	err := a.Logins.Password(r.Context().Done(), at, password)
	refusal := errLogin
	if err == nil && loopback && !protocol.IsPlainHost(r.Host) && a.Broker.Credentials(user, loopback).Trusted {
		// A web page of another site knows that password, and can make its own name resolve to this
		// machine's address.
		err, refusal = errors.New("under the host "+protocol.Clipped(r.Host)), errName
	}
	if err != nil {
		a.quiet.Warn("http: login refused", "request", c.ID, "peer", c.Peer, "user", protocol.Clipped(user), "err", protocol.Clipped(err.Error()))
		Pause(r.Context(), a.loginDelay)
		return refusal
	}
	return a.enter(c, user)
}

// enter admits an authenticated user, if its connection gets a place.
func (a *API) enter(c *Caller, user string) error {
	if c.conn != nil && !c.conn.take() {
		a.quiet.Warn("http: request refused: the limit of connections is reached", "request", c.ID, "peer", c.Peer, "limit", c.conn.limit.Max())
		return errNoPlace
	}
	c.User = user
	if cl := c.Client; cl != nil && (cl.Login() == nil || cl.Login().User != user) {
		cl.LogIn(protocol.Login{User: user, Version: "HTTP/1.1"})
	}
	return nil
}

// certificate logs in a client by its certificate.
func (a *API) certificate(r *http.Request, c *Caller, at protocol.Attempt) error {
	if at.User = a.Logins.TLS().UserIn(r.TLS); at.User == "" || r.Header.Get("Authorization") != "" {
		return errNoLogin
	}
	if err := a.Logins.Certificate(at); err != nil {
		a.quiet.Warn("http: certificate refused", "request", c.ID, "peer", c.Peer, "user", protocol.Clipped(at.User), "err", protocol.Clipped(err.Error()))
		return errLogin
	}
	return a.enter(c, at.User)
}

// Pause waits for d, or until ctx is done.
func Pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// In calls fn with a session of the caller in a virtual host. The context is canceled when the
// client disconnects, or when the user or the virtual host is deleted; then the deletion is its
// cause.
func (a *API) In(r *http.Request, vhost string, fn func(ctx context.Context, s *broker.Session) error) error {
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	s, err := a.Session(r, vhost, end)
	if err != nil {
		return err
	}
	defer s.Close()
	return a.orDeleted(CallerOf(r.Context()), fn(ctx, s))
}

// orDeleted returns err, or ErrUserDeleted where the caller was refused because its user has been
// deleted: the permissions are removed before the sessions are evicted.
func (a *API) orDeleted(c *Caller, err error) error {
	if c.Operator || !errors.Is(err, failure.ErrAccessRefused) {
		return err
	}
	if _, there := a.Broker.User(c.User); there == nil {
		return err
	}
	return &failure.Error{Err: failure.ErrUserDeleted, Kind: "user", Name: c.User, User: c.User}
}

// Session opens a session of the caller's user, which the calling code must close. evict is called
// when the user or the virtual host is deleted; then the session must be closed soon.
func (a *API) Session(r *http.Request, vhost string, evict func(reason error)) (*broker.Session, error) {
	c := CallerOf(r.Context())
	if c.Operator {
		return a.Broker.Operate(vhost)
	}
	ctx, leave := context.WithCancel(r.Context())
	return a.Broker.NewSession(broker.SessionOptions{
		User: c.User, VHost: vhost, Name: c.Peer.String(), Brief: true, Done: ctx.Done(),
		Evict: func(reason error) {
			evict(reason)
			leave()
		},
	})
}
