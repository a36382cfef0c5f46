// Package proxy has every node of a cluster serve every client: the connection of a client that
// comes to a node which does not lead goes on to the leader, and no protocol needs to know.
//
// # Way of a connection
//
// A node accepts a client, and ends its TLS, on its own listeners (Serve). While it leads, the
// connection goes to the listeners that the servers of its leadership accept from (Lead). While it
// follows, the node opens a stream to the leader, says whose connection it is, and copies bytes
// both ways until one end closes. The leader makes a connection of the stream (Receive) that has
// the client's address and what its TLS came to, certificate included, and serves it like one of
// its own.
//
// Nodes trust each other: the stream is one of package transport, whose both ends have shown a
// certificate of the cluster.
//
// # When there is no leader
//
// A client waits for one, as in a backlog, until there has been none for Options.Patience; one that
// comes later waits only for a moment. Then the client is told so, in the words of its protocol
// (Options.TurnAway). When the leadership ends, its servers close the connections, and with them go
// those that other nodes pass on.
package proxy
