// Package protocol is what the protocols have in common: it accepts, counts and limits connections,
// numbers sessions and drains them.
//
// An [Edge] owns the listeners of one protocol and one goroutine per connection. The protocol
// implements a [Session] for each connection. [Life] signals the end of a session; [HTTP] makes
// sessions of the connections that net/http serves. All edges of a node share one [Limit].
package protocol
