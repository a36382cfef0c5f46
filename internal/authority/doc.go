// Package authority creates certificates for tests and for trying TLS out: a throwaway CA, a server
// certificate, and client certificates. A program that trusts the CA's certificate trusts the
// others.
package authority
