// Package tls has real clients of every protocol speak TLS with the broker, log in
// by certificates, and be refused.
package tls
