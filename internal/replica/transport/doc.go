// Package transport carries Raft messages between the nodes of a cluster. It also carries streams
// of bytes: snapshots, and client connections that a node forwards to the leader.
//
// # Links
//
// A node dials every other node twice for messages, and once for each stream. The control link
// carries what elections and leases depend on, and the bulk link the entries of the log, so that a
// large entry never delays a heartbeat. Messages go one way, from the node that dialed; the answers
// come over the links of the other node.
//
// Messages may be lost, as Raft allows: a link drops messages if its queue is full or its peer
// cannot be dialed, and reports that to Raft (Options.Unreachable). A peer that does not read fills
// only its own queue. A message that arrives is complete, comes from the node that it names, and is
// meant for this one.
//
// # Messages that must not be late
//
// An order to stand for election, and the votes that a node asks for because of one, override the
// lease of the leader, which is without one for 3 s after it has given such an order. So they say
// how old they are, as the peer's last ping shows, and are dropped when that is over a second.
//
// # Identity
//
// Both ends present a certificate of the cluster's own CA whose DNS name (NodeName) names the
// cluster and the node. A node is addressed by this name alone, so TLS itself rejects a certificate
// of another cluster, or of another node of this one. Replica ids are never reused, so a removed
// node cannot come back under its old name.
//
// A node that is to join has no certificate yet. Its connections have an ALPN protocol of their own
// (JoinProtocol), by which they are told from peers before a certificate is asked for; what they
// say is no matter of this package.
//
// # Levels
//
// A hello says which levels of the log its node supports, and at which one its log is (package
// level). A connection between nodes of which one does not support the level of the other is
// refused by the node that is dialed, in each direction.
//
// # Format
//
// All data is in frames: a length of 4 bytes, a CRC-32C of 4, both little-endian, and the payload.
// A frame that is too long, or whose checksum differs, ends the connection. The first frame is the
// hello of the node that dialed, which the other node answers; what a newer version adds to its end
// is not read. Messages follow, or the bytes of the stream.
package transport
