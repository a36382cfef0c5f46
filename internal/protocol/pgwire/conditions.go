package pgwire

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
)

// Conditions returns the SQL languages of binding conditions. Set broker.Options.Conditions to it
// in every broker that serves this protocol or opens the data of a broker that did.
func Conditions() routing.Conditions { return mbus.Conditions() }

// OrderOf returns the place of a message of this protocol in its queue. Set broker.Options.Order to
// it in every broker that serves this protocol.
func OrderOf(m message.Envelope) (dispatch.Place, bool) { return mbus.OrderOf(m) }
