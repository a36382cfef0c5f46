package pgwire

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
)

// Conditions are the languages of SQL that conditions of bindings may be in:
// broker.Options.Conditions of every broker that serves this protocol, or opens the data of one
// that did.
func Conditions() routing.Conditions { return mbus.Conditions() }

// OrderOf is the place that a message of this protocol has in its queue: broker.Options.Order of
// every broker that serves it.
func OrderOf(m message.Envelope) (dispatch.Place, bool) { return mbus.OrderOf(m) }
