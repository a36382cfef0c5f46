package httpapi

import "fiveways/internal/protocol"

// MetricsDoor is Door for the listener of the metrics.
var MetricsDoor = protocol.Door{Protocol: "metrics", ALPN: []string{"http/1.1"}}

// Door is how HTTP takes TLS: clients begin with it.
var Door = protocol.Door{Protocol: "http", ALPN: []string{"http/1.1"}, Refusal: []byte(
	"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" +
		`{"error":"bad_request","reason":"this broker is reached by https only from there"}` + "\n")}
