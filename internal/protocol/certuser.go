package protocol

import (
	"crypto/tls"
	"crypto/x509"
	"net"
)

// CertUser is the field of a client's certificate that names the user.
type CertUser uint8

// The names are RabbitMQ's (ssl_cert_login_from).
const (
	CommonName        CertUser = iota
	DistinguishedName          // as in RFC 4514: CN=alice,O=Example
	AlternativeName            // the first DNS name, else the first e-mail address, else the first URI
)

// Name returns the user that a certificate names, or "" if it names none.
func (u CertUser) Name(c *x509.Certificate) string {
	switch u {
	case DistinguishedName:
		return c.Subject.String()
	case AlternativeName:
		switch {
		case len(c.DNSNames) > 0:
			return c.DNSNames[0]
		case len(c.EmailAddresses) > 0:
			return c.EmailAddresses[0]
		case len(c.URIs) > 0:
			return c.URIs[0].String()
		}
		return ""
	}
	return c.Subject.CommonName
}

// AsksCertificates reports whether clients are asked for certificates.
func (t *TLS) AsksCertificates() bool { return t != nil && t.o.ClientCA != "" }

// UserOf returns the user named by the certificate that the client of a connection presented, or ""
// if it presented none. The handshake has verified the certificate.
func (t *TLS) UserOf(nc net.Conn) string {
	state, ok := StateOf(nc)
	if t == nil || !ok {
		return ""
	}
	return t.UserIn(&state)
}

// UserIn is UserOf for a caller that has the TLS state of a connection, nil for a plain one.
func (t *TLS) UserIn(state *tls.ConnectionState) string {
	if t == nil || state == nil || len(state.VerifiedChains) == 0 {
		return ""
	}
	return t.o.User.Name(state.VerifiedChains[0][0])
}

// StateOf returns the TLS state of a connection; ok is false for a plain one.
func StateOf(nc net.Conn) (state tls.ConnectionState, ok bool) {
	if nc, ok := nc.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state = nc.ConnectionState()
	}
	return state, state.HandshakeComplete
}
