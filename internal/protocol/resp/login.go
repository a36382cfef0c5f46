package resp

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// guest is the user of a client that does not log in. This is only allowed from this machine, and
// while guest has the well-known password. Redis calls this user "default", and clients may do so
// as well.
const (
	guest       = "guest"
	defaultUser = "default"
	rootVHost   = "/"
)

// trusted reports whether the client is admitted without a login, as the user of its certificate or
// as guest.
func (c *conn) trusted() bool {
	if c.certUser != "" {
		return true
	}
	if c.mistaken {
		return false
	}
	loopback := protocol.IsLoopback(c.nc.RemoteAddr())
	return loopback && c.srv.broker.Credentials(guest, loopback).Trusted
}

// enter makes sure that the client has a session, or returns the error that explains why it does
// not.
func (c *conn) enter() command.Error {
	if c.mistaken && c.assumed {
		c.leave()
		c.user, c.assumed = "", false
		c.welcome()
	}
	if c.session != nil {
		return ""
	}
	if !c.trusted() {
		return errNoAuth
	}
	if c.certUser != "" {
		return c.open(c.certUser, c.srv.homeOf(c.certUser))
	}
	e := c.open(guest, rootVHost)
	c.assumed = e == ""
	return e
}

// attempt returns a login attempt of the user.
func (c *conn) attempt(user string) protocol.Attempt {
	return protocol.Attempt{Protocol: "redis", User: user, Peer: c.nc.RemoteAddr()}
}

// certified logs the client in with its TLS certificate, if it presented one.
func (c *conn) certified() {
	user := c.srv.o.Logins.TLS().UserOf(c.nc)
	if user == "" {
		return
	}
	if err := c.srv.o.Logins.Certificate(c.attempt(user)); err != nil {
		c.srv.quiet.Warn("redis: certificate refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", protocol.Clipped(user), "err", err)
		return
	}
	c.certUser = user
}

// open opens an engine session for an authenticated user, and closes the previous one.
func (c *conn) open(user, vhost string) command.Error {
	if !c.admitted && !c.srv.o.Connections.Acquire() {
		c.srv.rejected.Add(1)
		c.over, c.linger = true, true
		return "ERR max number of clients reached"
	}
	c.admitted = true
	s, err := c.srv.broker.NewSession(broker.SessionOptions{
		User: user, VHost: vhost, Name: c.client.Name(), Evict: c.evict, Instead: c.session, Done: c.Leaving(),
		Gone: func() bool { return protocol.Gone(c.nc) },
	})
	if err != nil {
		c.srv.quiet.Warn("redis: session refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", user, "vhost", vhost, "err", err)
		return command.Error(command.Text(err))
	}
	if c.session != nil && (c.session.VHost() != vhost || c.user != user) {
		c.watched = nil
		c.dropAll()
	}
	if c.session != nil {
		c.session.Close()
	}
	c.user, c.session = user, s
	c.change(func(f *face) { f.user, f.vhost = user, vhost })
	c.client.LogIn(protocol.Login{User: user, VHost: vhost, Version: "RESP"})
	c.parser.Stranger = false
	if c.login != nil {
		c.login.Stop()
		c.login = nil
	}
	return ""
}

// evict ends the connection. The engine calls it when the session must end. Any goroutine may call
// it.
func (c *conn) evict(reason error) {
	c.end(command.Error(command.Text(reason)))
}

// authenticate logs a user in. After a failure the client is no longer treated as guest: commands
// meant for one user and virtual host must not run as another user in another virtual host.
func (c *conn) authenticate(user, password string) command.Error {
	e := c.prove(user, password)
	switch {
	case e == "":
		c.assumed, c.mistaken = false, false
	case c.certUser == "" && (c.session == nil || c.assumed):
		c.mistaken = true
	}
	return e
}

// prove opens a session if the password is right. It delays the answer to a wrong password, to slow
// down guessing.
func (c *conn) prove(user, password string) command.Error {
	if user == defaultUser {
		user = guest
	}
	if err := c.srv.o.Logins.Password(c.Over(), c.attempt(user), password); err != nil {
		c.srv.quiet.Warn("redis: login refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", user, "err", err)
		c.Pause(c.srv.o.LoginDelay)
		return errWrongPass
	}
	return c.open(user, c.srv.homeOf(user))
}

// homeOf returns the virtual host in which a user starts: "/", or the user's first virtual host if
// the user has no permissions in "/".
func (s *Server) homeOf(user string) string {
	all := s.broker.Permissions(user, "")
	if len(all) == 0 || slices.ContainsFunc(all, func(p catalog.Permission) bool { return p.VHost == rootVHost }) {
		return rootVHost
	}
	return all[0].VHost
}

// auth implements AUTH [user] password.
func auth(c *conn, args [][]byte) {
	user, password := defaultUser, string(args[len(args)-1])
	switch len(args) {
	case 2:
	case 3:
		user = string(args[1])
	default:
		c.w.Error(string(command.ErrSyntax))
		return
	}
	if e := c.authenticate(user, password); e != "" {
		c.w.Error(string(e))
		return
	}
	c.w.OK()
}

// hello implements HELLO [version [AUTH user password] [SETNAME name]].
func hello(c *conn, args [][]byte) {
	resp3, e := c.w.RESP3, command.Error("")
	if len(args) > 1 {
		switch version, ok := command.Integer(args[1]); {
		case !ok:
			e = "ERR Protocol version is not an integer or out of range"
		case version != 2 && version != 3:
			e = "NOPROTO unsupported protocol version"
		default:
			resp3 = version == 3
		}
	}
	if e == "" {
		e = c.helloOptions(args)
	}
	if e == "" && c.enter() != "" {
		e = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to " +
			"authenticate the client and select the RESP protocol version at the same time"
	}
	if e != "" {
		c.w.Error(string(e))
		return
	}
	c.speak(resp3)
	c.greet()
}

// speak sets the protocol version.
func (c *conn) speak(resp3 bool) {
	c.w.RESP3 = resp3
	c.resp3.Store(resp3)
}

// helloOptions applies the options that follow the version in HELLO.
func (c *conn) helloOptions(args [][]byte) command.Error {
	var user, password, name string
	given, rename := false, false
	for i := 2; i < len(args); i++ {
		switch left := len(args) - 1 - i; {
		case left >= 2 && strings.EqualFold(string(args[i]), "AUTH"):
			user, password, given = string(args[i+1]), string(args[i+2]), true
			i += 2
		case left >= 1 && strings.EqualFold(string(args[i]), "SETNAME"):
			name, rename = string(args[i+1]), true
			i++
		default:
			return command.Errorf("ERR Syntax error in HELLO option '%s'", args[i])
		}
	}
	if rename && !isGraphic(name) {
		return c.setName(name)
	}
	if given {
		if e := c.authenticate(user, password); e != "" {
			return e
		}
	}
	if rename {
		return c.setName(name)
	}
	return ""
}

// greet writes the reply of HELLO, which describes the server.
func (c *conn) greet() {
	version := int64(2)
	if c.w.RESP3 {
		version = 3
	}
	c.w.Map(7)
	c.w.TextField("server", "redis")
	c.w.TextField("version", redisVersion)
	c.w.Field("proto", version)
	c.w.Field("id", int64(c.id))
	c.w.TextField("mode", "standalone")
	c.w.TextField("role", "master")
	c.w.BulkString("modules")
	c.w.Array(0)
}

// redisVersion is the Redis version that clients are told. Some clients depend on it.
const redisVersion = "7.0.15"

// selectVHost implements SELECT: 0 selects the virtual host "/", a name any other one.
func selectVHost(c *conn, args [][]byte) {
	vhost := string(args[1])
	if n, ok := command.Integer(args[1]); ok {
		if n != 0 {
			c.w.Error("ERR DB index is out of range")
			return
		}
		vhost = rootVHost
	}
	if vhost != c.session.VHost() {
		if c.executing {
			c.w.Error("ERR another virtual host cannot be selected inside a transaction")
			return
		}
		if e := c.open(c.user, vhost); e != "" {
			c.w.Error(string(e))
			return
		}
	}
	c.w.OK()
}
