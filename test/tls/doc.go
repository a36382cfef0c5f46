// Package tls tests TLS with real clients of every protocol: connections, logins by certificate,
// and connections that must be rejected.
package tls
