package amqpwire

import (
	"bytes"
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/message"
)

// ConnectionStart begins the negotiation; Mechanisms and Locales are separated by spaces.
type ConnectionStart struct {
	VersionMajor     uint8
	VersionMinor     uint8
	ServerProperties message.Table
	Mechanisms       string
	Locales          string
}

// ID is IDConnectionStart.
func (*ConnectionStart) ID() MethodID { return IDConnectionStart }

// Decode implements Method.
func (m *ConnectionStart) Decode(args []byte) error {
	r := message.NewReader(args)
	m.VersionMajor = r.Uint8()
	m.VersionMinor = r.Uint8()
	m.ServerProperties = r.Table()
	m.Mechanisms = string(r.LongStr())
	m.Locales = string(r.LongStr())
	return done(&r, IDConnectionStart)
}

// Append implements Method.
func (m *ConnectionStart) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionStart)
	dst = append(dst, m.VersionMajor)
	dst = append(dst, m.VersionMinor)
	dst = message.AppendTable(dst, m.ServerProperties)
	dst = message.AppendLongStr(dst, m.Mechanisms)
	return message.AppendLongStr(dst, m.Locales)
}

// ConnectionStartOk chooses a SASL mechanism and carries its first response.
type ConnectionStartOk struct {
	ClientProperties message.Table
	Mechanism        string
	Response         []byte
	Locale           string
}

// ID is IDConnectionStartOk.
func (*ConnectionStartOk) ID() MethodID { return IDConnectionStartOk }

// Decode implements Method.
func (m *ConnectionStartOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.ClientProperties = r.Table()
	m.Mechanism = shortString(&r)
	m.Response = bytes.Clone(r.LongStr())
	m.Locale = shortString(&r)
	return done(&r, IDConnectionStartOk)
}

// Append implements Method.
func (m *ConnectionStartOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionStartOk)
	dst = message.AppendTable(dst, m.ClientProperties)
	dst = message.AppendShortStr(dst, m.Mechanism)
	dst = message.AppendLongStr(dst, m.Response)
	return message.AppendShortStr(dst, m.Locale)
}

// ConnectionSecure asks for a further SASL step.
type ConnectionSecure struct {
	Challenge []byte
}

// ID is IDConnectionSecure.
func (*ConnectionSecure) ID() MethodID { return IDConnectionSecure }

// Decode implements Method.
func (m *ConnectionSecure) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Challenge = bytes.Clone(r.LongStr())
	return done(&r, IDConnectionSecure)
}

// Append implements Method.
func (m *ConnectionSecure) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionSecure)
	return message.AppendLongStr(dst, m.Challenge)
}

// ConnectionSecureOk answers a SASL challenge.
type ConnectionSecureOk struct {
	Response []byte
}

// ID is IDConnectionSecureOk.
func (*ConnectionSecureOk) ID() MethodID { return IDConnectionSecureOk }

// Decode implements Method.
func (m *ConnectionSecureOk) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Response = bytes.Clone(r.LongStr())
	return done(&r, IDConnectionSecureOk)
}

// Append implements Method.
func (m *ConnectionSecureOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionSecureOk)
	return message.AppendLongStr(dst, m.Response)
}

// ConnectionTune proposes limits: channels, bytes per frame, seconds between heartbeats; 0 means no
// limit, or no heartbeats.
type ConnectionTune struct {
	ChannelMax uint16
	FrameMax   uint32
	Heartbeat  uint16
}

// ID is IDConnectionTune.
func (*ConnectionTune) ID() MethodID { return IDConnectionTune }

// Decode implements Method.
func (m *ConnectionTune) Decode(args []byte) error { return m.decode(args, IDConnectionTune) }

func (m *ConnectionTune) decode(args []byte, id MethodID) error {
	r := message.NewReader(args)
	m.ChannelMax = r.Uint16()
	m.FrameMax = r.Uint32()
	m.Heartbeat = r.Uint16()
	return done(&r, id)
}

// Append implements Method.
func (m *ConnectionTune) Append(dst []byte) []byte { return m.append(dst, IDConnectionTune) }

func (m *ConnectionTune) append(dst []byte, id MethodID) []byte {
	dst = appendID(dst, id)
	dst = binary.BigEndian.AppendUint16(dst, m.ChannelMax)
	dst = binary.BigEndian.AppendUint32(dst, m.FrameMax)
	return binary.BigEndian.AppendUint16(dst, m.Heartbeat)
}

// ConnectionTuneOk settles the limits of ConnectionTune.
type ConnectionTuneOk ConnectionTune

// ID is IDConnectionTuneOk.
func (*ConnectionTuneOk) ID() MethodID { return IDConnectionTuneOk }

// Decode implements Method.
func (m *ConnectionTuneOk) Decode(args []byte) error {
	return (*ConnectionTune)(m).decode(args, IDConnectionTuneOk)
}

// Append implements Method.
func (m *ConnectionTuneOk) Append(dst []byte) []byte {
	return (*ConnectionTune)(m).append(dst, IDConnectionTuneOk)
}

// ConnectionOpen chooses the virtual host.
type ConnectionOpen struct {
	VirtualHost string
}

// ID is IDConnectionOpen.
func (*ConnectionOpen) ID() MethodID { return IDConnectionOpen }

// Decode implements Method.
func (m *ConnectionOpen) Decode(args []byte) error {
	r := message.NewReader(args)
	m.VirtualHost = name(&r)
	r.ShortStr() // reserved
	r.Uint8()    // reserved
	return done(&r, IDConnectionOpen)
}

// Append implements Method.
func (m *ConnectionOpen) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionOpen)
	dst = message.AppendShortStr(dst, m.VirtualHost)
	dst = append(dst, 0)  // reserved
	return append(dst, 0) // reserved
}

// ConnectionOpenOk ends the negotiation.
type ConnectionOpenOk struct{}

// ID is IDConnectionOpenOk.
func (*ConnectionOpenOk) ID() MethodID { return IDConnectionOpenOk }

// Decode implements Method.
func (*ConnectionOpenOk) Decode(args []byte) error {
	r := message.NewReader(args)
	r.ShortStr() // reserved
	return done(&r, IDConnectionOpenOk)
}

// Append implements Method.
func (*ConnectionOpenOk) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionOpenOk)
	return append(dst, 0) // reserved
}

// ConnectionClose ends the connection, as ChannelClose does a channel.
type ConnectionClose ChannelClose

// ID is IDConnectionClose.
func (*ConnectionClose) ID() MethodID { return IDConnectionClose }

// Decode implements Method.
func (m *ConnectionClose) Decode(args []byte) error {
	return (*ChannelClose)(m).decode(args, IDConnectionClose)
}

// Append implements Method.
func (m *ConnectionClose) Append(dst []byte) []byte {
	return (*ChannelClose)(m).append(dst, IDConnectionClose)
}

// ConnectionCloseOk confirms ConnectionClose.
type ConnectionCloseOk struct{}

// ID is IDConnectionCloseOk.
func (*ConnectionCloseOk) ID() MethodID { return IDConnectionCloseOk }

// Decode implements Method.
func (*ConnectionCloseOk) Decode(args []byte) error { return noArgs(args, IDConnectionCloseOk) }

// Append implements Method.
func (*ConnectionCloseOk) Append(dst []byte) []byte { return appendID(dst, IDConnectionCloseOk) }

// ConnectionBlocked tells a publisher that the server has stopped reading.
type ConnectionBlocked struct {
	Reason string
}

// ID is IDConnectionBlocked.
func (*ConnectionBlocked) ID() MethodID { return IDConnectionBlocked }

// Decode implements Method.
func (m *ConnectionBlocked) Decode(args []byte) error {
	r := message.NewReader(args)
	m.Reason = shortString(&r)
	return done(&r, IDConnectionBlocked)
}

// Append implements Method.
func (m *ConnectionBlocked) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionBlocked)
	return message.AppendShortStr(dst, cut(m.Reason))
}

// ConnectionUnblocked tells a publisher that the server reads again.
type ConnectionUnblocked struct{}

// ID is IDConnectionUnblocked.
func (*ConnectionUnblocked) ID() MethodID { return IDConnectionUnblocked }

// Decode implements Method.
func (*ConnectionUnblocked) Decode(args []byte) error { return noArgs(args, IDConnectionUnblocked) }

// Append implements Method.
func (*ConnectionUnblocked) Append(dst []byte) []byte { return appendID(dst, IDConnectionUnblocked) }

// ConnectionUpdateSecret replaces the credentials of an open connection.
type ConnectionUpdateSecret struct {
	NewSecret []byte
	Reason    string
}

// ID is IDConnectionUpdateSecret.
func (*ConnectionUpdateSecret) ID() MethodID { return IDConnectionUpdateSecret }

// Decode implements Method.
func (m *ConnectionUpdateSecret) Decode(args []byte) error {
	r := message.NewReader(args)
	m.NewSecret = bytes.Clone(r.LongStr())
	m.Reason = shortString(&r)
	return done(&r, IDConnectionUpdateSecret)
}

// Append implements Method.
func (m *ConnectionUpdateSecret) Append(dst []byte) []byte {
	dst = appendID(dst, IDConnectionUpdateSecret)
	dst = message.AppendLongStr(dst, m.NewSecret)
	return message.AppendShortStr(dst, m.Reason)
}

// ConnectionUpdateSecretOk confirms ConnectionUpdateSecret.
type ConnectionUpdateSecretOk struct{}

// ID is IDConnectionUpdateSecretOk.
func (*ConnectionUpdateSecretOk) ID() MethodID { return IDConnectionUpdateSecretOk }

// Decode implements Method.
func (*ConnectionUpdateSecretOk) Decode(args []byte) error {
	return noArgs(args, IDConnectionUpdateSecretOk)
}

// Append implements Method.
func (*ConnectionUpdateSecretOk) Append(dst []byte) []byte {
	return appendID(dst, IDConnectionUpdateSecretOk)
}
