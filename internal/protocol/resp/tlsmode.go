package resp

import "fiveways.dev/fiveways/internal/protocol"

// TLSMode describes TLS in the Redis protocol: clients start with the TLS handshake.
var TLSMode = protocol.TLSMode{Protocol: "redis", Refusal: []byte("-NOAUTH this broker is reached by TLS only from there; redis-cli --tls, rediss://\r\n")}
