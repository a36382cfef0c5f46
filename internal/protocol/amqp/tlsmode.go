package amqp

import (
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TLSMode is how AMQP uses TLS: clients start with it. A client that connects without TLS where it
// must not gets the protocol header of the supported version, which is how AMQP rejects a
// connection.
var TLSMode = protocol.TLSMode{Protocol: "amqp", Refusal: []byte(amqpwire.ProtocolHeader)}
