package pgwire

import (
	"encoding/binary"
	"io"
	"net"

	"fiveways.dev/fiveways/internal/protocol"
)

// TLSMode describes how PostgreSQL clients start TLS: they ask for it first or, since version 17,
// begin with it.
var TLSMode = protocol.TLSMode{Protocol: "sql", ALPN: []string{"postgresql"}, Ask: askForTLS}

// askBytes is the length of the packets in which a client asks for encryption.
const askBytes = 8

// askForTLS serves a client that asks for TLS before it sends its start-up packet. It does not read
// past the request that it answers: what follows must be TLS, or the connection fails.
func askForTLS(nc net.Conn) (rest net.Conn, secure bool, err error) {
	var packet [askBytes]byte
	for asked := false; ; asked = true {
		if _, err := io.ReadFull(nc, packet[:]); err != nil {
			return nc, false, err
		}
		code := binary.BigEndian.Uint32(packet[4:])
		switch {
		case binary.BigEndian.Uint32(packet[:]) != askBytes:
			return protocol.Unread(nc, packet[:]), false, nil
		case code == askSSL:
			_, err := nc.Write([]byte{'S'})
			return nc, true, err
		case code != askGSS || asked:
			return protocol.Unread(nc, packet[:]), false, nil
		}
		if _, err := nc.Write([]byte{'N'}); err != nil {
			return nc, false, err
		}
	}
}
