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
	Login          Need = iota // a user; its permissions say what it may do
	Management                 // one with a tag that opens RabbitMQ's management API
	Policymaking               // one with the tag policymaker or administrator
	Monitoring                 // one with the tag monitoring or administrator
	Administration             // one with the tag administrator
	Anyone                     // nothing: what is no secret, such as the files of the page
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

// Tags that RabbitMQ's management API knows beside that of the engine.
const (
	tagManagement  = "management"
	tagPolicymaker = "policymaker"
	tagMonitoring  = "monitoring"
)

// Caller is the user of a request, and its connection.
type Caller struct {
	Operator bool             // may do everything: the request came over the admin socket, or from this process
	User     string           // "" before the login, and of the operator
	Peer     net.Addr         // nil of the operator
	Client   *protocol.Client // the connection; nil: there is none that operators see
	ID       string           // of the request, for the log
	Ending   context.Context  // over when the server drains: what waits ends; nil: never
	Conn     *http.ResponseController
	conn     *placed  // that the request came over; nil: none
	tags     []string // of the user, once admit has asked for them
	refusal  string   // what Refuse answered
}

type callerKey struct{}

// CallerOf is the caller of a request's context.
func CallerOf(ctx context.Context) *Caller { return ctx.Value(callerKey{}).(*Caller) }

// Name is the caller's name in the log.
func (c *Caller) Name() string {
	if c.Operator {
		return "operator"
	}
	return protocol.Clipped(c.User)
}

// TakesTime lets an answer take d longer than others.
func (c *Caller) TakesTime(d time.Duration) {
	// Writers that know no deadlines are those of this process.
	_ = c.Conn.SetReadDeadline(time.Time{}) // the request is in; else the end of its time would look like the client's
	_ = c.Conn.SetWriteDeadline(time.Now().Add(d + patience))
}

// WhenEnding has f called when the server drains; the result says that it need not.
func (c *Caller) WhenEnding(f func()) (not func() bool) {
	if c.Ending == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(c.Ending, f)
}

// peerOf is where a request over the network comes from.
func peerOf(r *http.Request) net.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{} // not this machine, at least
	}
	return net.TCPAddrFromAddrPort(at)
}

// requestID is what names a request in the log: what the client calls it, or a name of ours.
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
	errLogin   = &Refused{http.StatusUnauthorized, Refusal{"not_authorized", "Login failed"}} // spelt so by RabbitMQ, and here only
	errName    = &Refused{http.StatusUnauthorized, Refusal{"not_authorised",
		"User guest with its first password is let in under the address of this machine only, such as 127.0.0.1"}}
	errNotManager       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not management user"}}
	errNotMonitor       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not monitor user"}}
	errNotAuthorised    = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "User not authorised to access object"}}
	errNotAdministrator = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not administrator user"}}
	errNoPlace          = &Refused{http.StatusServiceUnavailable, Refusal{"unavailable", "the broker has as many connections as it may"}}
	errNotVisible       = &Refused{http.StatusUnauthorized, Refusal{"not_authorised", "User not authorised to access virtual host"}}
)

// admit makes sure that the caller has what a path needs.
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
	if err != nil { // deleted since
		return errLogin
	}
	c.tags = u.Tags
	if opener := openers[n]; !c.has(opener.tags...) {
		return opener.refusal
	}
	return nil
}

// has reports whether the caller has one of some tags.
func (c *Caller) has(tags ...string) bool {
	return slices.ContainsFunc(c.tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

// login authenticates the caller. A wrong password is answered late, so that guessing is slow.
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
		// A page from elsewhere knows that password, and can give its own name this machine's
		// address.
		err, refusal = errors.New("under the host "+protocol.Clipped(r.Host)), errName
	}
	if err != nil {
		a.quiet.Warn("http: login refused", "request", c.ID, "peer", c.Peer, "user", protocol.Clipped(user), "err", protocol.Clipped(err.Error()))
		Pause(r.Context(), a.loginDelay)
		return refusal
	}
	return a.enter(c, user)
}

// enter admits a user that has proved its name, if there is a place for its connection.
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

// certificate takes the certificate that the client showed for a login.
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

// Pause waits, or until ctx ends.
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

// In does something in a virtual host in the name of the caller. The context ends when the client
// is gone, or when the user or the virtual host is deleted, which is its cause then.
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

// Session opens a session as the caller's user; the calling code must close it. evict is called
// when the user or the virtual host is deleted: then it must be closed soon.
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
