package transport

import (
	"crypto/tls"
	"fmt"
)

// NodeName is the name of a node in its certificate.
func NodeName(cluster, node uint64) string {
	return fmt.Sprintf("node-%d.cluster-%016x.fiveways.internal", node, cluster)
}

// dialing is the configuration for a connection to a node: it must be that node.
func dialing(base *tls.Config, cluster, node uint64) *tls.Config {
	c := base.Clone()
	c.ServerName = NodeName(cluster, node)
	c.MinVersion = tls.VersionTLS13
	return c
}

// accepting is the configuration for connections from nodes: a node must present its certificate.
func accepting(base *tls.Config) *tls.Config {
	c := base.Clone()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.MinVersion = tls.VersionTLS13
	return c
}

// is reports whether the other end of a connection is a node of the cluster, by its certificate.
func is(nc *tls.Conn, cluster, node uint64) bool {
	certs := nc.ConnectionState().PeerCertificates
	return len(certs) > 0 && certs[0].VerifyHostname(NodeName(cluster, node)) == nil
}
