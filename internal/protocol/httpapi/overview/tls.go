package overview

import (
	"crypto/tls"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// tlsNames are the versions of TLS as RabbitMQ has them.
var tlsNames = map[uint16]string{tls.VersionTLS12: "tlsv1.2", tls.VersionTLS13: "tlsv1.3"}

// showTLS tells what was agreed, and of the client's certificate.
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

// suite takes the name of a cipher suite apart: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. Those of TLS
// 1.3 agree on keys in one way for all.
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
