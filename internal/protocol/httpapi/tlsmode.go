package httpapi

import "fiveways.dev/fiveways/internal/protocol"

// MetricsTLSMode is TLSMode for the listener of the metrics.
var MetricsTLSMode = protocol.TLSMode{Protocol: "metrics", ALPN: []string{"http/1.1"}}

// TLSMode is how HTTP takes TLS: clients begin with it.
var TLSMode = protocol.TLSMode{Protocol: "http", ALPN: []string{"http/1.1"}, Refusal: []byte(
	"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" +
		`{"error":"bad_request","reason":"this broker is reached by https only from there"}` + "\n")}
