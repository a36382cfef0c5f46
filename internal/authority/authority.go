package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// Pair is a certificate and its key, in PEM form.
type Pair struct{ Cert, Key []byte }

// clockSkew is how long before now a certificate is valid, for machines whose clocks are behind.
const clockSkew = time.Hour

// New makes an authority of this name whose certificates are valid from about now to until.
func New(name string, now, until time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-clockSkew), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &Authority{}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	der, err := sign(template, template, a.key, a.key)
	if err != nil {
		return nil, err
	}
	a.pem = encode("CERTIFICATE", der)
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// Cert is the authority's own certificate in PEM form, for clients that trust it.
func (a *Authority) Cert() []byte { return a.pem }

// Server makes the certificate of a server that is reached by these names and addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	if len(hosts) > 0 {
		template.Subject.CommonName = hosts[0]
	}
	return a.issue(template)
}

// Node makes the certificate of a node of a cluster, which other nodes dial and which dials them.
func (a *Authority) Node(name string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

// Client makes the certificate of a client that is this user; its common name and its alternative
// name both say so.
func (a *Authority) Client(user string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, DNSNames: []string{user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *Authority) issue(template *x509.Certificate) (p Pair, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return p, fmt.Errorf("authority: %w", err)
	}
	template.NotBefore, template.NotAfter, template.KeyUsage = a.cert.NotBefore, a.cert.NotAfter, x509.KeyUsageDigitalSignature
	der, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return p, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return p, fmt.Errorf("authority: %w", err)
	}
	return Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", secret)}, nil
}

// sign makes a certificate of what key stands for, with a serial number of its own.
func sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) ([]byte, error) {
	const serialBits = 120
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return der, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
