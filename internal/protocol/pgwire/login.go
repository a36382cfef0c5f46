package pgwire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// scramSHA256 is the only supported SASL mechanism.
const scramSHA256 = "SCRAM-SHA-256"

// logIn authenticates the client, opens its session, and sends everything that precedes the first
// ReadyForQuery. The error is to be sent to the client. If c.over is set, the client has
// disconnected.
func (c *conn) logIn(s *start) *pgerror.Error {
	for _, text := range []string{s.user, s.database} {
		if err := charset.Valid(text); err != nil {
			return fatal("22021", "%v", err)
		}
	}
	c.user, c.database = s.user, s.database
	if e := c.checkEncryption(); e != nil {
		return e
	}
	if e := c.authenticate(); e != nil || c.over {
		return e
	}
	c.out.message(&pgproto3.AuthenticationOk{})
	if !c.srv.o.Connections.Acquire() {
		return fatal(pgerror.TooManyConnections, "sorry, too many clients already")
	}
	c.admitted = true
	c.srv.conns.enter(c)
	var err error
	if c.session, c.closeSession, err = c.srv.open(c); err != nil {
		c.srv.quiet.Warn("sql: session refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "database", c.database, "err", err)
		return loginError(err, c.user, c.database)
	}
	c.client.LogIn(protocol.Login{User: c.user, VHost: c.database, Version: "PostgreSQL 3.0", Properties: s.properties()})
	if e := c.settings(s.settings); e != nil {
		return e
	}
	for _, r := range c.session.Reported() {
		c.out.text('S', r.Name, r.Value)
	}
	at := c.out.begin('K')
	c.out.buf = binary.BigEndian.AppendUint32(c.out.buf, c.pid)
	c.out.buf = append(c.out.buf, c.key[:]...)
	c.out.end(at)
	return nil
}

// settings applies the initial settings of the server and the client.
func (c *conn) settings(list []reported) *pgerror.Error {
	if limit := c.srv.o.IdleTransactionTimeout; limit > 0 {
		list = append([]reported{{"idle_in_transaction_session_timeout", fmt.Sprintf("%dms", limit.Milliseconds())}}, list...)
	}
	for _, r := range list {
		err := charset.Valid(r.name + r.value)
		if err == nil {
			err = c.session.SetDefault(r.name, r.value)
		}
		if err != nil {
			e, _ := errorOf(err)
			told := *e
			told.Severity = severityFatal
			if told.Code == pgerror.FeatureNotSupported && r.name == clientEncoding {
				told.Message, told.Detail = fmt.Sprintf("conversion between %s and UTF8 is not supported", charset.Name(int64(charset.Number(r.value)))), ""
			}
			return &told
		}
	}
	c.changed = c.changed[:0] // Reported includes them all
	return nil
}

// checkEncryption returns PostgreSQL's error for a client that must use TLS but does not.
func (c *conn) checkEncryption() *pgerror.Error {
	peer := c.nc.RemoteAddr()
	if _, secure := protocol.StateOf(c.nc); secure || c.srv.o.Logins.TLS().MayBePlain(peer) {
		return nil
	}
	host, _, err := net.SplitHostPort(peer.String())
	if err != nil {
		host = peer.String()
	}
	return fatal(pgerror.InvalidAuthorization, `no pg_hba.conf entry for host "%s", user "%s", database "%s", no encryption`, host, c.user, c.database).
		WithHint("This broker is reached by TLS only from there: sslmode=require, or better verify-full.")
}

// certified reports whether the client has presented a certificate for the user it logs in as.
func (c *conn) certified() bool {
	if c.srv.o.Logins.TLS().UserOf(c.nc) != c.user {
		return false
	}
	err := c.srv.o.Logins.Certificate(c.attempt())
	if err != nil {
		c.srv.quiet.Warn("sql: certificate refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "err", err)
	}
	return err == nil
}

// attempt describes the client's login attempt.
func (c *conn) attempt() protocol.Attempt {
	return protocol.Attempt{Protocol: "sql", User: c.user, Peer: c.nc.RemoteAddr()}
}

// authenticate checks the identity of the client.
func (c *conn) authenticate() *pgerror.Error {
	loopback := protocol.IsLoopback(c.nc.RemoteAddr())
	how := c.srv.broker.Credentials(c.user, loopback)
	switch {
	case how.Trusted, c.certified():
		return nil
	case how.HashOnly && loopback:
		return c.clearText()
	}
	done, err := c.srv.o.Logins.Begin(c.Over(), c.attempt())
	if err != nil {
		return c.refused(err)
	}
	e, proved := c.scram(how.Scram)
	if e == nil && c.over {
		return nil // the client disconnected without a proof
	}
	if done(proved); e == nil && !proved {
		if how.HashOnly {
			return c.refused(errors.New("the broker has only a hash of the password, from RabbitMQ's definitions; set the user's password again"))
		}
		return c.refused(errors.New("the password is wrong"))
	}
	return e
}

// clearText asks for the plain password. It is used only over loopback connections.
func (c *conn) clearText() *pgerror.Error {
	c.out.message(&pgproto3.AuthenticationCleartextPassword{})
	var m pgproto3.PasswordMessage
	if e := c.answer(&m); e != nil || c.over {
		return e
	}
	if m.Password == "" {
		return c.refused(errors.New("the password is empty"))
	}
	if err := c.srv.o.Logins.Password(c.Over(), c.attempt(), m.Password); err != nil {
		return c.refused(err)
	}
	return nil
}

// scram authenticates the client with SCRAM-SHA-256 and reports whether its proof was valid. It
// returns an error if the client violates the protocol. The user name is that of the start-up
// packet; a name in the SCRAM messages is ignored.
func (c *conn) scram(verifier access.Scram) (e *pgerror.Error, proved bool) {
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return credentials(verifier) })
	if err != nil {
		return fatal(pgerror.InternalError, "%v", err), false
	}
	talk := server.NewConversation()
	c.out.message(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{scramSHA256}})
	var first pgproto3.SASLInitialResponse
	if e := c.answer(&first); e != nil || c.over {
		return e, false
	}
	if first.AuthMechanism != scramSHA256 {
		return fatal(pgerror.ProtocolViolation, "client selected an invalid SASL authentication mechanism"), false
	}
	challenge, err := talk.Step(string(first.Data))
	if err != nil {
		return fatal(pgerror.ProtocolViolation, "malformed SCRAM message").WithDetail("%v", err), false
	}
	if talk.AuthzID() != "" { // the client asks to act as another user
		return fatal(pgerror.FeatureNotSupported, "client uses authorization identity, but it is not supported"), false
	}
	c.out.message(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	var proof pgproto3.SASLResponse
	if e := c.answer(&proof); e != nil || c.over {
		return e, false
	}
	signature, err := talk.Step(string(proof.Data))
	if err != nil || !talk.Valid() {
		return nil, false
	}
	c.out.message(&pgproto3.AuthenticationSASLFinal{Data: []byte(signature)})
	return nil, true
}

// credentials converts a verifier to the type of the library.
func credentials(verifier access.Scram) (scram.StoredCredentials, error) {
	k, err := verifier.Keys()
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(k.Salt), Iters: k.Iterations}, StoredKey: k.Stored, ServerKey: k.Server,
	}, err
}

// answer writes the question and reads the client's answer into to.
func (c *conn) answer(to pgproto3.FrontendMessage) *pgerror.Error {
	if c.out.flush() != nil {
		c.over = true
		return nil
	}
	m, err := c.in.next()
	if err != nil {
		c.readAgain(err, 0)
		c.over = true
		return nil
	}
	if m.kind != 'p' {
		return fatal(pgerror.ProtocolViolation, "expected password response, got message type %d", m.kind)
	}
	if to.Decode(m.body) != nil {
		return fatal(pgerror.ProtocolViolation, "invalid message format")
	}
	return nil
}

// refused returns the error for a failed login, whatever the reason. It delays the answer to slow
// down password guessing.
func (c *conn) refused(err error) *pgerror.Error {
	c.srv.quiet.Warn("sql: login refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "err", err)
	c.Pause(c.srv.o.LoginDelay)
	return fatal(pgerror.InvalidPassword, `password authentication failed for user "%s"`, c.user)
}
