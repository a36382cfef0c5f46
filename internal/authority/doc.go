// Package authority is a CA: it creates certificates of servers, of clients and of the nodes of a
// cluster. A program that trusts the CA's certificate trusts the others.
//
// It has two uses. A cluster has an authority of its own, whose key is on every node (Load, Pair)
// and which nothing outside the cluster trusts. For tests and for trying out TLS there is a
// throwaway authority: its key is discarded once the certificates are created.
package authority
