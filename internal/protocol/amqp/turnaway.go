package amqp

import (
	"io"
	"net"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TurnAway tells a client why it is not served, with the connection.close 320 of a stopping broker.
// It accepts any login and answers connection.open, because clients take an
// earlier close for a refused login. nc stays open.
func TurnAway(nc net.Conn, reason string) {
	header := make([]byte, len(amqpwire.ProtocolHeader))
	if _, err := io.ReadFull(nc, header); err != nil {
		return
	}
	if h := string(header); h != amqpwire.ProtocolHeader && h != headerAMQP09 {
		io.WriteString(nc, amqpwire.ProtocolHeader) //nolint:errcheck // only a courtesy
		return
	}
	var in protocol.Input
	in.Init(nc)
	defer in.Release()
	start := &amqpwire.ConnectionStart{VersionMajor: 0, VersionMinor: 9, Mechanisms: "PLAIN AMQPLAIN " + external, Locales: "en_US"}
	tune := &amqpwire.ConnectionTune{ChannelMax: 1, FrameMax: handshakeFrameMax}
	if say(nc, start) && hear(&in, amqpwire.IDConnectionStartOk) && say(nc, tune) && hear(&in, amqpwire.IDConnectionOpen) {
		say(nc, closeOf(faultf(amqpcode.ConnectionForced, "%s", reason)))
	}
}

// say sends a method and reports whether it succeeded.
func say(nc net.Conn, m amqpwire.Method) bool {
	_, err := nc.Write(amqpwire.AppendMethodFrame(nil, 0, m))
	return err == nil
}

// hear reads until a method id has arrived, and reports whether it has.
func hear(in *protocol.Input, id amqpwire.MethodID) bool {
	for {
		f, n, err := amqpwire.ParseFrame(in.Pending(), handshakeFrameMax)
		if err == nil && n == 0 {
			err = in.Fill(frameSize(in.Pending()))
		}
		if err != nil {
			return false
		}
		if n == 0 {
			continue
		}
		in.Consume(n)
		if is, _, err := amqpwire.SplitMethod(f.Payload); err == nil && f.Type == amqpwire.FrameMethod && is == id {
			return true
		}
	}
}
