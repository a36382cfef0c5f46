// Package admission is the identity of a node of a cluster, and how a new node gets one.
//
// # Identity
//
// A cluster has an authority of its own, and each node a certificate of it, which names the cluster
// and the node (transport.NodeName). Every node has the authority's key, too: any node can renew
// its own certificate while it runs, and any leader can admit others. So a node that is taken over
// takes the cluster with it, as it would with the data that every node has.
//
// # Joining
//
// An operator asks a node for a token and gives it to the new node, the newcomer. The token proves
// two things: to the cluster, by a MAC under a secret of the authority, that the newcomer may come;
// and to the newcomer, by the hash of the authority's certificate, that it speaks to the cluster.
// The newcomer checks that before it sends anything. One node can join with a token: the members
// of the cluster say which were used, until they expire.
//
// The newcomer asks the node that the token names, which names the leader if it is another. The
// leader makes the newcomer a member and answers with its identity. The newcomer's private key
// never leaves it. It keeps the key before it asks: a node that shows the same key again is the
// same member, so a lost answer leaves no member without a node.
//
// # Format
//
// The file, the token and the messages are described in docs/format/admission.md.
package admission
