package transport

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
)

// JoinProtocol is the ALPN protocol of connections that ask to join the cluster. They need no
// certificate, and are no peers (Options.Join).
const JoinProtocol = "fiveways-join"

// NodeName is the name of a node in its certificate.
func NodeName(cluster, node uint64) string {
	return fmt.Sprintf("node-%d.cluster-%016x.fiveways.internal", node, cluster)
}

// IsNode reports whether a certificate belongs to any node of the cluster.
func IsNode(cert *x509.Certificate, cluster uint64) bool {
	return slices.ContainsFunc(cert.DNSNames, func(name string) bool {
		var node uint64
		_, err := fmt.Sscanf(name, "node-%d.", &node)
		return err == nil && name == NodeName(cluster, node)
	})
}

// dialing returns the configuration for a connection to a node, which must prove its identity.
func dialing(base *tls.Config, cluster, node uint64) *tls.Config {
	c := base.Clone()
	c.ServerName = NodeName(cluster, node)
	c.MinVersion = tls.VersionTLS13
	return c
}

// accepting returns the configuration for connections from nodes, which must present a certificate.
// With join, connections of JoinProtocol need none.
func accepting(base *tls.Config, join bool) *tls.Config {
	c := base.Clone()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = nil // only joining uses ALPN
	if join {
		open := joining(c)
		c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if slices.Contains(hello.SupportedProtos, JoinProtocol) {
				return open, nil
			}
			return nil, nil
		}
	}
	return c
}

// joining returns the configuration for connections of JoinProtocol. It issues no session tickets,
// so that such a connection cannot be resumed as a peer's.
func joining(base *tls.Config) *tls.Config {
	c := base.Clone()
	c.ClientAuth = tls.NoClientCert
	c.NextProtos = []string{JoinProtocol}
	c.SessionTicketsDisabled = true
	return c
}

// is reports whether the other end of a connection is a node of the cluster, by its certificate.
func is(nc *tls.Conn, cluster, node uint64) bool {
	certs := nc.ConnectionState().PeerCertificates
	return len(certs) > 0 && certs[0].VerifyHostname(NodeName(cluster, node)) == nil
}
