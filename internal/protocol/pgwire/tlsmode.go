package pgwire

import (
	"encoding/binary"
	"io"
	"net"

	"fiveways.dev/fiveways/internal/protocol"
)

// TLSMode is how PostgreSQL's protocol takes TLS: clients ask for it first, or, since
// version 17, begin with it.
var TLSMode = protocol.TLSMode{Protocol: "sql", ALPN: []string{"postgresql"}, Ask: askForTLS}

// askBytes is how long the packets are in which a client asks for encryption.
const askBytes = 8

// askForTLS serves a client that asks for TLS before it sends its start-up
// packet. It reads no further than what is answered: what follows the answer is
// TLS, or the connection fails.
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
