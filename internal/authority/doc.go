// Package authority makes certificates for first steps and for tests: an
// authority of its own, a certificate of a server, and certificates of clients.
// Programs that are given the authority's certificate trust the others.
package authority
