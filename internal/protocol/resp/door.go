package resp

import "fiveways/internal/protocol"

// Door is how the Redis protocol takes TLS: clients begin with it.
var Door = protocol.Door{Protocol: "redis", Refusal: []byte("-NOAUTH this broker is reached by TLS only from there; redis-cli --tls, rediss://\r\n")}
