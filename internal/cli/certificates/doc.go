// Package certificates has the command that creates certificates for tests and for trying TLS out.
package certificates
