package amqpwire

import "fiveways.dev/fiveways/internal/core/message"

// ConnectionStart begins the negotiation; Mechanisms and Locales are separated by spaces.
type ConnectionStart struct {
	VersionMajor     uint8
	VersionMinor     uint8
	ServerProperties message.Table
	Mechanisms       string
	Locales          string
}

func (*ConnectionStart) ID() MethodID { return IDConnectionStart }

func (m *ConnectionStart) arguments(a *arguments) {
	a.octet(&m.VersionMajor)
	a.octet(&m.VersionMinor)
	a.table(&m.ServerProperties)
	a.longStr(&m.Mechanisms)
	a.longStr(&m.Locales)
}

// ConnectionStartOk chooses a SASL mechanism and carries its first response.
type ConnectionStartOk struct {
	ClientProperties message.Table
	Mechanism        string
	Response         []byte
	Locale           string
}

func (*ConnectionStartOk) ID() MethodID { return IDConnectionStartOk }

func (m *ConnectionStartOk) arguments(a *arguments) {
	a.table(&m.ClientProperties)
	a.shortStr(&m.Mechanism)
	a.longBytes(&m.Response)
	a.shortStr(&m.Locale)
}

// ConnectionSecure asks for a further SASL step.
type ConnectionSecure struct {
	Challenge []byte
}

func (*ConnectionSecure) ID() MethodID             { return IDConnectionSecure }
func (m *ConnectionSecure) arguments(a *arguments) { a.longBytes(&m.Challenge) }

// ConnectionSecureOk answers a SASL challenge.
type ConnectionSecureOk struct {
	Response []byte
}

func (*ConnectionSecureOk) ID() MethodID             { return IDConnectionSecureOk }
func (m *ConnectionSecureOk) arguments(a *arguments) { a.longBytes(&m.Response) }

// ConnectionTune proposes limits: channels, bytes per frame, seconds between heartbeats; 0 means no
// limit, or no heartbeats.
type ConnectionTune struct {
	ChannelMax uint16
	FrameMax   uint32
	Heartbeat  uint16
}

func (*ConnectionTune) ID() MethodID { return IDConnectionTune }

func (m *ConnectionTune) arguments(a *arguments) {
	a.short(&m.ChannelMax)
	a.long(&m.FrameMax)
	a.short(&m.Heartbeat)
}

// ConnectionTuneOk settles the limits of ConnectionTune.
type ConnectionTuneOk ConnectionTune

func (*ConnectionTuneOk) ID() MethodID             { return IDConnectionTuneOk }
func (m *ConnectionTuneOk) arguments(a *arguments) { (*ConnectionTune)(m).arguments(a) }

// ConnectionOpen chooses the virtual host.
type ConnectionOpen struct {
	VirtualHost string
}

func (*ConnectionOpen) ID() MethodID { return IDConnectionOpen }

func (m *ConnectionOpen) arguments(a *arguments) {
	a.name(&m.VirtualHost)
	a.reservedShortStr()
	a.reservedOctet()
}

// ConnectionOpenOk ends the negotiation.
type ConnectionOpenOk struct{}

func (*ConnectionOpenOk) ID() MethodID           { return IDConnectionOpenOk }
func (*ConnectionOpenOk) arguments(a *arguments) { a.reservedShortStr() }

// ConnectionClose ends the connection, as ChannelClose does a channel.
type ConnectionClose ChannelClose

func (*ConnectionClose) ID() MethodID             { return IDConnectionClose }
func (m *ConnectionClose) arguments(a *arguments) { (*ChannelClose)(m).arguments(a) }

// ConnectionCloseOk confirms ConnectionClose.
type ConnectionCloseOk struct{}

func (*ConnectionCloseOk) ID() MethodID         { return IDConnectionCloseOk }
func (*ConnectionCloseOk) arguments(*arguments) {}

// ConnectionBlocked tells a publisher that the server has stopped reading.
type ConnectionBlocked struct {
	Reason string
}

func (*ConnectionBlocked) ID() MethodID             { return IDConnectionBlocked }
func (m *ConnectionBlocked) arguments(a *arguments) { a.text(&m.Reason) }

// ConnectionUnblocked tells a publisher that the server reads again.
type ConnectionUnblocked struct{}

func (*ConnectionUnblocked) ID() MethodID         { return IDConnectionUnblocked }
func (*ConnectionUnblocked) arguments(*arguments) {}

// ConnectionUpdateSecret replaces the credentials of an open connection.
type ConnectionUpdateSecret struct {
	NewSecret []byte
	Reason    string
}

func (*ConnectionUpdateSecret) ID() MethodID { return IDConnectionUpdateSecret }

func (m *ConnectionUpdateSecret) arguments(a *arguments) {
	a.longBytes(&m.NewSecret)
	a.shortStr(&m.Reason)
}

// ConnectionUpdateSecretOk confirms ConnectionUpdateSecret.
type ConnectionUpdateSecretOk struct{}

func (*ConnectionUpdateSecretOk) ID() MethodID         { return IDConnectionUpdateSecretOk }
func (*ConnectionUpdateSecretOk) arguments(*arguments) {}
