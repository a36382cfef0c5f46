// Package admission manages the identity of a node in a cluster, and the admission of new nodes.
//
// # Identity
//
// A cluster has its own certificate authority. Each node has a certificate of it that names the
// cluster and the node (transport.NodeName). Every node also has the authority's key, so any node
// can renew its own certificate while it runs, and any leader can admit others. Control of one
// node therefore means control of the cluster, as it already means access to the data, which every
// node has.
//
// # Joining
//
// An operator requests a token from a node and gives it to the new node, the newcomer. The token
// proves two things: to the cluster, by a MAC with a secret of the authority, that the newcomer may
// join; and to the newcomer, by the hash of the authority's certificate, that it is connected to
// the cluster. The newcomer checks that before it sends anything. A token admits only one node: the
// members of the cluster record used tokens until they expire.
//
// The newcomer asks the node that the token names. If another node leads, that node redirects it to
// the leader. The leader makes the newcomer a member and answers with its identity. The newcomer's
// private key never leaves it. It stores the key before it asks: a node that presents the same key
// again is the same member, so a lost answer leaves no member without a node.
//
// # Format
//
// The file, the token and the messages are described in docs/format/admission.md.
package admission
