// Package authority creates certificates for first steps and for tests: a throwaway CA, a server
// certificate, and client certificates. Programs that trust the CA's certificate trust the others.
package authority
