package httpapi

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

	"fiveways/internal/broker"
	"fiveways/internal/protocol"
)

// need is what a path asks of who calls it. More than a login is asked where RabbitMQ asks for a tag.
type need uint8

const (
	login          need = iota // a user; its permissions say what it may do
	management                 // one with a tag that opens RabbitMQ's management API
	administration             // one with the tag administrator
)

// managers are the tags that open RabbitMQ's management API.
var managers = []string{"management", "policymaker", "monitoring", broker.TagAdministrator}

// caller is who makes a request, and over what.
type caller struct {
	operator bool            // may do everything: the request came over the admin socket, or from this process
	user     string          // "" before the login, and of the operator
	peer     net.Addr        // nil of the operator
	id       string          // of the request, for the log
	ending   context.Context // over when the server drains: what waits ends; nil: never
	conn     *http.ResponseController
}

type callerKey struct{}

func callerOf(ctx context.Context) *caller { return ctx.Value(callerKey{}).(*caller) }

// name is who the caller is, for the log.
func (c *caller) name() string {
	if c.operator {
		return "operator"
	}
	return protocol.Clipped(c.user)
}

// takesTime lets an answer take d longer than others.
func (c *caller) takesTime(d time.Duration) {
	// Writers that know no deadlines are those of this process.
	_ = c.conn.SetReadDeadline(time.Time{}) // the request is in; else the end of its time would look like the client's
	_ = c.conn.SetWriteDeadline(time.Now().Add(d + patience))
}

// whenEnding has f called when the server drains; the result says that it need not.
func (c *caller) whenEnding(f func()) (not func() bool) {
	if c.ending == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(c.ending, f)
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

// Refusals of who may not. The words are RabbitMQ's.
var (
	errNoLogin = &refused{http.StatusUnauthorized, Refusal{"not_authorised", "Login needed"}}
	errLogin   = &refused{http.StatusUnauthorized, Refusal{"not_authorised", "Login failed"}}
	errName    = &refused{http.StatusUnauthorized, Refusal{"not_authorised",
		"User guest with its first password is let in under the address of this machine only, such as 127.0.0.1"}}
	errNotManager       = &refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not management user"}}
	errNotAdministrator = &refused{http.StatusUnauthorized, Refusal{"not_authorised", "Not administrator user"}}
)

// admit makes sure that the caller has what a path needs.
func (a *API) admit(r *http.Request, n need) error {
	c := callerOf(r.Context())
	if c.operator {
		return nil
	}
	if err := a.login(r, c); err != nil {
		return err
	}
	if n == login {
		return nil
	}
	u, err := a.broker.User(c.user)
	switch {
	case err != nil: // deleted since
		return errLogin
	case n == administration && !slices.Contains(u.Tags, broker.TagAdministrator):
		return errNotAdministrator
	case !slices.ContainsFunc(u.Tags, func(tag string) bool { return slices.Contains(managers, tag) }):
		return errNotManager
	}
	return nil
}

// login finds out who the caller is. A wrong password is answered late, so that guessing is slow.
func (a *API) login(r *http.Request, c *caller) error {
	user, password, ok := r.BasicAuth()
	if !ok {
		return errNoLogin
	}
	loopback := protocol.IsLoopback(c.peer)
	err := a.broker.Authenticate(user, password, loopback)
	refusal := errLogin
	if err == nil && loopback && !protocol.IsPlainHost(r.Host) && a.broker.Credentials(user, loopback).Trusted {
		// A page from elsewhere knows that password, and can give its own name this machine's address.
		err, refusal = errors.New("under the host "+protocol.Clipped(r.Host)), errName
	}
	if err != nil {
		a.log.Warn("http: login refused", "request", c.id, "peer", c.peer, "user", protocol.Clipped(user), "err", protocol.Clipped(err.Error()))
		pause(r.Context(), a.loginDelay)
		return refusal
	}
	c.user = user
	return nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
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

// in does something in a virtual host in the name of the caller. The context ends when the client is gone, or when the user or the virtual host is
// deleted, which is its cause then.
func (a *API) in(r *http.Request, vhost string, fn func(ctx context.Context, s *broker.Session) error) error {
	c := callerOf(r.Context())
	if c.operator {
		s, err := a.broker.Operate(vhost)
		if err != nil {
			return err
		}
		defer s.Close()
		return fn(r.Context(), s)
	}
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	s, err := a.broker.NewSession(broker.SessionOptions{User: c.user, VHost: vhost, Name: c.peer.String(), Evict: end})
	if err != nil {
		return err
	}
	defer s.Close()
	return fn(ctx, s)
}
