package amqp

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// handshakeFrameMax bounds frames before connection.tune-ok. It leaves room for tokens used as
// passwords.
const handshakeFrameMax = 64 << 10

// headerAMQP09 is the protocol header of 0-9, which RabbitMQ accepts, too.
const headerAMQP09 = "AMQP\x01\x01\x00\x09"

// clientProperties is what connection.start-ok reports about the client.
type clientProperties struct {
	cancelNotify bool // understands basic.cancel from the server
	blocked      bool // understands connection.blocked
	all          message.Table
	mechanism    string // used for the login
	loginClose   bool   // understands connection.close after a refused login
}

func readClientProperties(t message.Table) clientProperties {
	v, _ := t.Get("capabilities")
	capabilities, _ := v.(message.Table)
	has := func(name string) bool {
		v, _ := capabilities.Get(name)
		set, _ := v.(bool)
		return set
	}
	return clientProperties{
		cancelNotify: has("consumer_cancel_notify"),
		blocked:      has("connection.blocked"),
		loginClose:   has("authentication_failure_close"),
	}
}

// serverProperties describes the server. The capabilities are RabbitMQ's; clients check them.
func (s *Server) serverProperties() message.Table {
	var capabilities message.Table
	for _, name := range []string{
		"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify", "connection.blocked",
		"consumer_priorities", "authentication_failure_close", "per_consumer_qos", "direct_reply_to",
	} {
		capabilities = append(capabilities, message.Field{Name: name, Value: true})
	}
	return message.Table{
		{Name: "product", Value: s.o.Product},
		{Name: "version", Value: s.o.Version},
		{Name: "fiveways_version", Value: s.o.Build},
		{Name: "platform", Value: runtime.Version()},
		{Name: "copyright", Value: "The Fiveways authors"},
		{Name: "information", Value: "Licensed under the Apache License 2.0"},
		{Name: "cluster_name", Value: s.o.NodeName},
		{Name: "capabilities", Value: capabilities},
	}
}

// protocolHeader handles the first bytes of a client, and reports whether frames follow.
func (c *conn) protocolHeader() bool {
	pending := c.in.Pending()
	if len(pending) < len(amqpwire.ProtocolHeader) {
		return false
	}
	header := string(pending[:len(amqpwire.ProtocolHeader)])
	if header != amqpwire.ProtocolHeader && header != headerAMQP09 {
		c.out.add(func(dst []byte) []byte { return append(dst, amqpwire.ProtocolHeader...) })
		c.out.signal()
		c.state = closed
		return false
	}
	c.in.Consume(len(header))
	c.send(&amqpwire.ConnectionStart{
		VersionMajor: 0, VersionMinor: 9, ServerProperties: c.srv.serverProperties(),
		Mechanisms: c.mechanisms(), Locales: "en_US",
	})
	c.state = wantStartOk
	return true
}

func unexpectedMethod(s state) *fault {
	names := map[state]string{wantStartOk: "starting", wantTuneOk: "tuning", wantOpen: "opening", running: "running"}
	return faultf(amqpcode.ChannelError, "unexpected method in connection state %s", names[s])
}

// connectionMethod handles a method of channel 0.
func (c *conn) connectionMethod(payload []byte) error {
	m, err := amqpwire.DecodeMethod(payload)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *amqpwire.ConnectionClose:
		c.endSession()
		c.send(&amqpwire.ConnectionCloseOk{})
		c.state, c.linger = closed, true
		return nil
	case *amqpwire.ConnectionStartOk:
		if c.state == wantStartOk {
			return c.startOk(m)
		}
	case *amqpwire.ConnectionTuneOk:
		if c.state == wantTuneOk {
			return c.tuneOk(m)
		}
	case *amqpwire.ConnectionOpen:
		if c.state == wantOpen {
			return c.openVHost(m)
		}
	case *amqpwire.ConnectionUpdateSecret:
		if c.state == running {
			return c.updateSecret(m)
		}
	case *amqpwire.ConnectionCloseOk:
		return nil // to a close that the server sent while the client sent its own
	}
	return unexpectedMethod(c.state)
}

// startOk logs the client in.
func (c *conn) startOk(m *amqpwire.ConnectionStartOk) error {
	c.peer = readClientProperties(m.ClientProperties)
	c.peer.all, c.peer.mechanism = m.ClientProperties, m.Mechanism
	user, err := c.authenticate(m)
	if isFault(err) {
		return err
	}
	if err != nil {
		c.srv.quiet.Warn("amqp: login refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", user, "mechanism", m.Mechanism, "err", err)
		c.refuseLogin(m.Mechanism)
		return nil
	}
	c.user = user
	c.send(&amqpwire.ConnectionTune{
		ChannelMax: c.srv.o.ChannelMax, FrameMax: c.srv.o.FrameMax, Heartbeat: uint16(c.srv.o.Heartbeat / time.Second),
	})
	c.state = wantTuneOk
	return nil
}

// external is the SASL mechanism of clients that have authenticated with a certificate.
const external = "EXTERNAL"

// mechanisms returns the SASL mechanisms that the client may choose from.
func (c *conn) mechanisms() string {
	if _, secure := protocol.StateOf(c.nc); secure && c.srv.o.Logins.TLS().AsksCertificates() {
		return "PLAIN AMQPLAIN " + external
	}
	return "PLAIN AMQPLAIN"
}

// authenticate authenticates the client. An error that is not a fault means that the login failed.
func (c *conn) authenticate(m *amqpwire.ConnectionStartOk) (user string, err error) {
	at := protocol.Attempt{Protocol: "amqp091", Peer: c.nc.RemoteAddr()}
	if m.Mechanism == external && strings.Contains(c.mechanisms(), external) {
		// As in RabbitMQ the response, which may ask to act as another user, is ignored.
		if at.User = c.srv.o.Logins.TLS().UserOf(c.nc); at.User == "" {
			return "", errors.New("the client sent no certificate, or one that names no user")
		}
		return at.User, c.srv.o.Logins.Certificate(at)
	}
	user, password, err := credentials(m.Mechanism, m.Response)
	if err != nil {
		return "", err
	}
	if user == "" && c.srv.o.Operator {
		c.operator = true
		return "", nil
	}
	at.User = user
	return user, c.srv.o.Logins.Password(c.Over(), at, password)
}

// isFault reports whether an error is sent to the client unchanged.
func isFault(err error) bool {
	var f *fault
	return errors.As(err, &f)
}

// refuseLogin ends the connection some time after a failed login, so that guessing passwords is
// slow.
func (c *conn) refuseLogin(mechanism string) {
	if c.peer.loginClose {
		f := faultf(amqpcode.AccessRefused, "Login was refused using authentication mechanism %s. For details see the broker logfile.", mechanism)
		c.send(&amqpwire.ConnectionClose{ReplyCode: f.code, ReplyText: f.Error()})
	}
	delay := time.NewTimer(c.srv.o.LoginDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-c.attention:
	case <-c.Over():
	}
	c.state = closed
}

// credentials reads the response of a SASL mechanism.
func credentials(mechanism string, response []byte) (user, password string, err error) {
	switch mechanism {
	case "PLAIN":
		parts := bytes.Split(response, []byte{0})
		if len(parts) != 3 || len(parts[0]) > 0 { // acting as another user is not allowed
			return "", "", faultf(amqpcode.SyntaxError, "response %s invalid", octets(response))
		}
		return string(parts[1]), string(parts[2]), nil
	case "AMQPLAIN":
		t, err := message.DecodeTable(response)
		if err != nil {
			return "", "", faultf(amqpcode.SyntaxError, "response %s invalid", octets(response))
		}
		login, hasLogin := t.Get("LOGIN")
		pass, hasPass := t.Get("PASSWORD")
		if !hasLogin || !hasPass {
			return "", "", faultf(amqpcode.SyntaxError, "AMQPLAIN auth info is missing LOGIN or PASSWORD field")
		}
		user, okUser := text(login)
		password, okPass := text(pass)
		if !okUser || !okPass {
			return "", "", faultf(amqpcode.SyntaxError, "AMQPLAIN auth info has a LOGIN or PASSWORD field that is not a string")
		}
		return user, password, nil
	}
	return "", "", faultf(amqpcode.CommandInvalid, "unknown authentication mechanism '%s'", mechanism)
}

// text returns the string in a table's value: a long string or a byte string.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case message.Bytes:
		return string(v), true
	}
	return "", false
}

// tuneOk applies the client's limits, which may be lower than the server's; 0 means no limit.
func (c *conn) tuneOk(m *amqpwire.ConnectionTuneOk) error {
	c.frameMax = c.srv.o.FrameMax
	if err := negotiate("frame_max", m.FrameMax, amqpwire.MinFrameMax, &c.frameMax); err != nil {
		return err
	}
	channelMax := uint32(c.srv.o.ChannelMax)
	if err := negotiate("channel_max", uint32(m.ChannelMax), 1, &channelMax); err != nil {
		return err
	}
	c.channelMax = int(channelMax)
	c.beat.interval = time.Duration(m.Heartbeat) * time.Second
	c.state = wantOpen
	return nil
}

// negotiate lowers the server's limit to what the client asks for.
func negotiate(name string, asked, least uint32, ours *uint32) error {
	switch {
	case asked == 0:
	case asked < least:
		return faultf(amqpcode.NotAllowed, "negotiated %s = %d is lower than the minimum allowed value (%d)", name, asked, least)
	case asked > *ours:
		return faultf(amqpcode.NotAllowed, "negotiated %s = %d is higher than the maximum allowed value (%d)", name, asked, *ours)
	default:
		*ours = asked
	}
	return nil
}

// openVHost opens the session. From here on the connection is open.
func (c *conn) openVHost(m *amqpwire.ConnectionOpen) error {
	if !c.srv.o.Connections.Acquire() {
		return faultf(amqpcode.NotAllowed, "connection refused: node connection limit (%d) is reached", c.srv.o.Connections.Max())
	}
	c.admitted = true
	s, err := c.newSession(m.VirtualHost)
	if err != nil {
		return err
	}
	c.session = s
	c.out.mu.Lock()
	c.out.window = s.Window()
	c.out.mu.Unlock()
	c.state = running
	c.client.LogIn(protocol.Login{
		User: c.user, VHost: m.VirtualHost, Version: "AMQP 0-9-1", Mechanism: c.peer.mechanism, Properties: c.peer.all,
		FrameMax: int(c.frameMax), ChannelMax: c.channelMax, Heartbeat: c.beat.interval,
	})
	c.send(&amqpwire.ConnectionOpenOk{})
	c.beat.start(c)
	return nil
}

func (c *conn) newSession(vhost string) (*broker.Session, error) {
	if c.operator {
		return c.srv.broker.OperateFor(vhost, c)
	}
	return c.srv.broker.NewSession(broker.SessionOptions{User: c.user, VHost: vhost, Sink: c, Name: c.client.Name(), Evict: c.evict, Done: c.Leaving()})
}

// updateSecret handles a new secret, which is meant to renew a login that expires. Logins by
// password do not expire: as in RabbitMQ any secret is accepted and ignored, but the user must
// still be allowed here.
func (c *conn) updateSecret(m *amqpwire.ConnectionUpdateSecret) error {
	if err := c.session.MayEnter(); err != nil {
		c.srv.o.Log.Warn("amqp: new secret refused", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "reason", m.Reason, "err", err)
		return faultf(amqpcode.NotAllowed, "New secret was refused by one of the backends")
	}
	c.send(&amqpwire.ConnectionUpdateSecretOk{})
	return nil
}
