package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pair Pair // both in PEM form
}

// Pair is a certificate and its key, in PEM form.
type Pair struct{ Cert, Key []byte }

// clockSkew is how long before now a certificate is valid, for machines whose clocks are behind.
const clockSkew = time.Hour

// New creates an authority of this name whose certificates are valid from about now to until.
func New(name string, now, until time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-clockSkew), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	key, block, err := NewKey()
	if err != nil {
		return nil, err
	}
	cert, err := sign(template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return Load(Pair{cert, block})
}

// Load returns the authority whose certificate and key come first in p.
func Load(p Pair) (*Authority, error) {
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("authority: the certificate is not that of an authority")
	}
	block, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: pair.Leaf, key: key, pair: Pair{encode("CERTIFICATE", pair.Leaf.Raw), block}}, nil
}

// Cert returns the authority's own certificate in PEM form, for clients that trust it.
func (a *Authority) Cert() []byte { return a.pair.Cert }

// Pair returns the authority's own certificate and key, for Load.
func (a *Authority) Pair() Pair { return a.pair }

// Secret derives a secret of 32 bytes from the authority's key. Different purposes give different
// secrets.
func (a *Authority) Secret(purpose string) ([]byte, error) {
	key, err := a.key.Bytes()
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	secret, err := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return secret, nil
}

// Server creates the certificate of a server with these host names and addresses.
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

// Node creates the certificate of a node of a cluster, which serves as both server and client
// certificate.
func (a *Authority) Node(name string) (Pair, error) { return a.issue(ofNode(name)) }

// SignNode creates the certificate, in PEM form, of a node that already has a key. It is valid from
// about now to until.
func (a *Authority) SignNode(name string, key crypto.PublicKey, now, until time.Time) ([]byte, error) {
	template := ofNode(name)
	template.NotBefore, template.NotAfter = now.Add(-clockSkew), until
	return sign(template, a.cert, key, a.key)
}

func ofNode(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// Client creates the certificate of a client. Its common name and its alternative name are both the
// user.
func (a *Authority) Client(user string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, DNSNames: []string{user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// issue creates a key and a certificate for it that is valid as long as the authority's.
func (a *Authority) issue(template *x509.Certificate) (p Pair, err error) {
	key, block, err := NewKey()
	if err != nil {
		return p, err
	}
	template.NotBefore, template.NotAfter, template.KeyUsage = a.cert.NotBefore, a.cert.NotAfter, x509.KeyUsageDigitalSignature
	cert, err := sign(template, a.cert, &key.PublicKey, a.key)
	return Pair{cert, block}, err
}

// NewKey generates a private key. block is its PEM form.
func NewKey() (key *ecdsa.PrivateKey, block []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, fmt.Errorf("authority: %w", err)
	}
	block, err = encodeKey(key)
	return key, block, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return encode("PRIVATE KEY", der), nil
}

// sign creates a certificate in PEM form with a unique serial number.
func sign(template, parent *x509.Certificate, key crypto.PublicKey, by *ecdsa.PrivateKey) ([]byte, error) {
	const serialBits = 120
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, by)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return encode("CERTIFICATE", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
