// Package transport carries Raft messages between the nodes of a cluster. It also carries streams
// of bytes: snapshots, and client connections that a node forwards to the leader.
//
// # Links
//
// A node dials every other node twice for messages, and once for each stream. The control link
// carries the messages that elections and leases depend on, and the bulk link the entries of the
// log, so a large entry never delays a heartbeat. Messages travel only from the node that dialed.
// Answers use the links of the other node.
//
// Messages may be lost, as Raft allows: a link drops messages if its queue is full or its peer
// cannot be dialed, and reports that to Raft (Options.Unreachable). A peer that does not read fills
// only its own queue. A message that arrives is complete, comes from the node that it names, and is
// meant for this one.
//
// # Silence
//
// Every second a control link pings, and the peer answers over its own. Links whose peer leaves
// pings unanswered for five seconds are dialed again, so that a dead, halted or unreachable node is
// known to be disconnected, and both nodes talk again at once when the network is back. What was
// queued is lost. After ten seconds the streams from and to that node are closed, too: the sessions
// of its clients end, and no longer hold messages, locks and places in line.
//
// # Messages that must not be late
//
// A leader that transfers its leadership orders another node to stand for election, and suspends
// its own lease for 3 s. That order, and the vote requests that follow from it, override the lease.
// So they carry their age, measured by the peer's last ping, and are dropped after a second.
//
// # Identity
//
// Both ends present a certificate of the cluster's own CA whose DNS name (NodeName) names the
// cluster and the node. A node is addressed by this name alone, so TLS itself rejects a certificate
// of another cluster, or of another node of this one. Replica ids are never reused, so a removed
// node cannot come back under its old name.
//
// A joining node has no certificate yet. Its connections use another ALPN protocol (JoinProtocol),
// which distinguishes them from peers before a certificate is requested. This package does not
// interpret their content.
//
// # Levels
//
// A hello contains the levels of the log that its node supports, and the level of its log (package
// level). The dialed node refuses a connection if either node does not support the other's level.
//
// # Format
//
// All data is in frames: a 4-byte length, a 4-byte CRC-32C, both little-endian, and the payload. A
// frame that is too long or has a wrong checksum ends the connection. The first frame is the hello
// of the node that dialed, which the other node answers. Fields that newer versions append to it
// are ignored. Messages follow, or the bytes of the stream.
package transport
