package pgwire

import (
	"fiveways/internal/core/routing"
	"fiveways/internal/protocol/pgwire/mbus"
)

// Conditions are the languages of SQL that conditions of bindings may be in: broker.Options.Conditions of every broker that serves this
// protocol, or opens the data of one that did.
func Conditions() routing.Conditions { return mbus.Conditions() }
