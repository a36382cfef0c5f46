// Package protocol is what the protocol edges share: accepting connections,
// counting and limiting them, naming sessions, and draining.
//
// An [Edge] owns the listeners of one protocol and a goroutine per connection. The protocol brings
// a [Session] per connection and does the rest; [Life] is the end of a session, [HTTP] makes
// sessions of what net/http serves. A [Limit] is shared by all edges of a node.
package protocol
