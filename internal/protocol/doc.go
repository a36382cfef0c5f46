// Package protocol is what the protocols share: accepting connections, counting and limiting them,
// naming sessions, and draining.
//
// An [Edge] owns the listeners of one protocol and one goroutine per connection. The protocol
// implements a [Session] for each connection. [Life] ends a session; [HTTP] makes sessions of the
// connections that net/http serves. All edges of a node share one [Limit].
package protocol
