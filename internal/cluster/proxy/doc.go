// Package proxy lets every node of a cluster serve every client: a follower forwards client
// connections to the leader, transparently to the protocols.
//
// # Path of a connection
//
// A node accepts clients on its own listeners, and terminates their TLS (Serve). While it leads,
// connections go to the listeners of the servers of its leadership (Lead). While it follows, it
// opens a stream to the leader, sends a header that describes the connection, and copies bytes both
// ways until one end closes. The leader turns the stream into a connection (Receive) with the
// client's address and TLS state, including the certificate, and serves it like its own.
//
// Nodes trust each other: the stream is one of package transport, and both of its ends have
// presented a certificate of the cluster.
//
// # When there is no leader
//
// A client waits for a leader, as in a listen backlog, until there has been none for
// Options.Patience. After that, new clients wait only for a moment. Then the client gets an error
// in its protocol (Options.TurnAway). So does a client of a protocol that the leader does not
// serve, at once. When the leadership ends, its servers close all connections,
// including those passed on by other nodes.
package proxy
