// Package proxy lets every node of a cluster serve every client: a follower forwards client
// connections to the leader, transparently to the protocols.
//
// # Path of a connection
package proxy
