package resp

import "fiveways.dev/fiveways/internal/protocol"

// TLSMode is how the Redis protocol takes TLS: clients begin with it.
var TLSMode = protocol.TLSMode{Protocol: "redis", Refusal: []byte("-NOAUTH this broker is reached by TLS only from there; redis-cli --tls, rediss://\r\n")}
