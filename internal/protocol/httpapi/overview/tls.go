package overview

import (
	"crypto/tls"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// tlsNames are RabbitMQ's names of the TLS versions.
var tlsNames = map[uint16]string{tls.VersionTLS12: "tlsv1.2", tls.VersionTLS13: "tlsv1.3"}

// showTLS adds the negotiated parameters of TLS and the client's certificate.
func (out *connection) showTLS(c *protocol.Client) {
	if c.TLS == nil {
		return
	}
	out.TLS = true
	version := tlsNames[c.TLS.Version]
	exchange, cipher, hash := suite(tls.CipherSuiteName(c.TLS.CipherSuite))
	out.TLSProtocol, out.TLSExchange, out.TLSCipher, out.TLSHash = &version, &exchange, &cipher, &hash
	if len(c.TLS.PeerCertificates) == 0 {
		return
	}
	cert := c.TLS.PeerCertificates[0]
	subject, issuer := cert.Subject.String(), cert.Issuer.String()
	validity := cert.NotBefore.UTC().Format(time.RFC3339) + " - " + cert.NotAfter.UTC().Format(time.RFC3339)
	out.Subject, out.Issuer, out.Validity = &subject, &issuer, &validity
}

// suite splits the name of a cipher suite, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. In TLS
// 1.3 the key exchange is not part of the suite.
func suite(name string) (exchange, cipher, hash string) {
	name = strings.ToLower(strings.TrimPrefix(name, "TLS_"))
	exchange, cipher, ok := strings.Cut(name, "_with_")
	if !ok {
		exchange, cipher = "any", name
	}
	if i := strings.LastIndexByte(cipher, '_'); i >= 0 {
		cipher, hash = cipher[:i], cipher[i+1:]
	}
	return exchange, cipher, hash
}
