package amqp

import (
	"fiveways/internal/protocol"
	"fiveways/internal/protocol/amqp/amqpwire"
)

// Door is how AMQP takes TLS: clients begin with it. Who may not come without
// hears the header of our version, which is how AMQP says no.
var Door = protocol.Door{Protocol: "amqp", Refusal: []byte(amqpwire.ProtocolHeader)}
