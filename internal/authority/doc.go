// Package authority is a CA: it creates certificates of servers, of clients and of the nodes of a
// cluster. A program that trusts the CA's certificate trusts the others.
//
// It serves two ends. A cluster has an authority of its own, whose key is on every node (Load,
// Pair) and which nothing outside the cluster trusts. For tests and for trying TLS out there is one
// that is thrown away: nobody has its key once the certificates are made.
package authority
