package httpapi

import "fiveways.dev/fiveways/internal/protocol"

// MetricsTLSMode is the TLSMode of the listener for metrics.
var MetricsTLSMode = protocol.TLSMode{Protocol: "metrics", ALPN: []string{"http/1.1"}}

// TLSMode describes TLS over HTTP: the client sends the handshake first.
var TLSMode = protocol.TLSMode{Protocol: "http", ALPN: []string{"http/1.1"}, Refusal: []byte(
	"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" +
		`{"error":"bad_request","reason":"this broker is reached by https only from there"}` + "\n")}
