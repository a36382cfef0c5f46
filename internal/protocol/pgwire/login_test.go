package pgwire

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol"
)

var userSpec = catalog.UserSpec{Name: "u", Password: "secret"}

// connect logs in with the pgx client.
func (n *node) connect(user, password string) (*pgconn.PgConn, error) {
	n.t.Helper()
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: n.addr, Path: "/fiveways", RawQuery: "sslmode=disable"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgconn.Connect(ctx, u.String())
	if err == nil {
		n.t.Cleanup(func() { c.Close(context.Background()) })
	}
	return c, err
}

func (n *node) user(spec catalog.UserSpec) {
	n.t.Helper()
	if _, err := n.b.PutUser(spec); err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.b.SetPermission(catalog.Permission{User: spec.Name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		n.t.Fatal(err)
	}
}

func TestLogin(t *testing.T) {
	n := startNode(t, Options{})
	n.user(userSpec)
	n.user(catalog.UserSpec{Name: "ü, =", Password: "пароль ä"})
	n.user(catalog.UserSpec{Name: "hash", Algorithm: access.RabbitMD5, Hash: "UxE6o4sC1GUaxzf4JhkhrD20KZQ="}) // s3cret-ä
	n.user(catalog.UserSpec{Name: "bare"})
	for _, c := range []struct {
		user, password string
		welcome        bool
	}{
		{"guest", "guest", true}, {"guest", "", true},
		{"u", "secret", true}, {"u", "Secret", false}, {"u", " ", false},
		{"ü, =", "пароль ä", true}, {"ü, =", "x", false},
		{"hash", "s3cret-ä", true}, {"hash", "secret", false},
		{"bare", "secret", false}, {"none", "secret", false},
	} {
		_, err := n.connect(c.user, c.password)
		var e *pgconn.PgError
		switch {
		case c.welcome && err != nil:
			t.Errorf("%s: %v", c.user, err)
		case !c.welcome && (!errors.As(err, &e) || e.Code != "28P01" || e.Severity != "FATAL" ||
			e.Message != `password authentication failed for user "`+c.user+`"`):
			t.Errorf("%s: %v", c.user, err)
		}
	}
	if err := n.b.SetPassword("guest", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.connect("guest", "guest"); err == nil {
		t.Error("the old password of guest is still good")
	}
	if _, err := n.connect("guest", "other"); err != nil {
		t.Error(err)
	}
	if log := n.log.String(); strings.Contains(log, "Secret") || strings.Contains(log, "SCRAM-SHA-256$") {
		t.Error("the log has a secret")
	}
}

// TestUnknownUsersLookLikeOthers: a login of an unknown user is indistinguishable from one with a
// wrong password.
func TestUnknownUsersLookLikeOthers(t *testing.T) {
	n := startNode(t, Options{})
	n.user(userSpec)
	challenge := func(user string) string {
		c := n.dial().start(protocol3, "user", user, "database", "fiveways")
		c.expect("R sasl SCRAM-SHA-256")
		c.send(&pgproto3.SASLInitialResponse{AuthMechanism: scramSHA256, Data: []byte("n,,n=,r=abc")})
		m, err := c.f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(m.(*pgproto3.AuthenticationSASLContinue).Data), ",s=")
		c.send(&pgproto3.SASLResponse{Data: []byte("c=biws,r=abc,p=AAAA")})
		c.expect(`E FATAL 28P01 password authentication failed for user "` + user + `" / gone`)
		return rest
	}
	known, unknown := challenge("u"), challenge("none")
	if len(known) != len(unknown) || known != challenge("u") || unknown != challenge("none") || unknown == challenge("nobody") {
		t.Errorf("%s, %s", known, unknown)
	}
}

func TestLoginThatMakesNoSense(t *testing.T) {
	n := startNode(t, Options{})
	n.user(userSpec)
	for name, c := range map[string]struct {
		send []pgproto3.FrontendMessage
		want string
	}{
		"a query":   {[]pgproto3.FrontendMessage{&pgproto3.Query{String: "rows 1"}}, "E FATAL 08P01 expected password response, got message type 81 / gone"},
		"mechanism": {[]pgproto3.FrontendMessage{&pgproto3.SASLInitialResponse{AuthMechanism: "PLAIN", Data: []byte("x")}}, "E FATAL 08P01 client selected an invalid SASL authentication mechanism / gone"},
		"channel binding": {[]pgproto3.FrontendMessage{&pgproto3.SASLInitialResponse{AuthMechanism: scramSHA256, Data: []byte("p=tls-unique,,n=,r=abc")}},
			"E FATAL 08P01 malformed SCRAM message | client requires channel binding but server doesn't support it / gone"},
		"too long": {[]pgproto3.FrontendMessage{&pgproto3.SASLInitialResponse{AuthMechanism: scramSHA256, Data: make([]byte, 100_000)}},
			"E FATAL 08P01 invalid message length / gone"},
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			cl := n.dial().start(protocol3, "user", "u", "database", "fiveways")
			cl.expect("R sasl SCRAM-SHA-256")
			for _, m := range c.send {
				cl.f.Send(m)
			}
			cl.f.Flush() //nolint:errcheck // the server may have closed
			cl.expect(c.want)
		})
	}
}

// TestRefusedLoginTakesItsTime: a refused login is delayed, and a drain does not wait for it.
func TestRefusedLoginTakesItsTime(t *testing.T) {
	const delay = 100 * time.Millisecond
	n := startNode(t, Options{Shared: protocol.Shared{LoginDelay: delay}})
	n.user(userSpec)
	began := time.Now()
	if _, err := n.connect("u", "x"); err == nil || time.Since(began) < delay {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
