// Package transport carries messages of Raft between the nodes of a cluster, and streams of bytes
// beside them: snapshots, and the connections of clients that a node hands to the leader.
//
// # Links
//
// A node dials every other node twice for messages, and once for each stream. The control link has
// what elections and leases depend on, the bulk link has the entries of the log, so that a large
// entry never holds up a heartbeat. Messages go one way, from the node that dialed; the answers
// come by the links of the other.
//
// Messages may be lost, as Raft allows: a link whose queue is full drops, and so does one that
// cannot be dialed. Raft is told of both (Options.Unreachable). A peer that does not read costs its
// own queue and nothing else. What arrives is whole, of the node that it names, and was sent to
// this one.
//
// # Identity
//
// Both ends present a certificate of the cluster's own authority whose DNS name is that of the node
// (NodeName): it says the cluster and the node. A node is never addressed by another name, so a
// certificate of another cluster, or of another node of this one, is refused by TLS itself.
// Replica ids are never used twice, so a node that was removed cannot come back under its old name.
//
// # Format
//
// All is in frames: a length of 4 bytes, a CRC-32C of 4, both little-endian, and the payload. A
// frame that is too long, or whose checksum differs, ends the connection. The first frame is the
// hello of the node that dialed; the other answers it. Messages follow, or the bytes of the stream.
package transport
