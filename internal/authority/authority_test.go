package authority

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"
)

func TestCertificates(t *testing.T) {
	now := time.Now()
	a, err := New("test authority", now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(a.Cert()) {
		t.Fatal("the authority's certificate is none")
	}
	server, err := a.Server("broker.example", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	client, err := a.Client("alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		pair Pair
		host string
		use  x509.ExtKeyUsage
		ok   bool
	}{
		{"server by name", server, "broker.example", x509.ExtKeyUsageServerAuth, true},
		{"server by address", server, "127.0.0.1", x509.ExtKeyUsageServerAuth, true},
		{"server by another name", server, "other.example", x509.ExtKeyUsageServerAuth, false},
		{"server as a client", server, "", x509.ExtKeyUsageClientAuth, false},
		{"client", client, "", x509.ExtKeyUsageClientAuth, true},
		{"client as a server", client, "", x509.ExtKeyUsageServerAuth, false},
	} {
		pair, err := tls.X509KeyPair(tc.pair.Cert, tc.pair.Key)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.use}})
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestLoad: a loaded authority is the same: its certificates are trusted like the original's, and
// it has the same secrets.
func TestLoad(t *testing.T) {
	now := time.Now()
	a, err := New("test authority", now, now.Add(10*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load(a.Pair())
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	until := now.Add(time.Hour).Truncate(time.Second)
	block, err := again.SignNode("node.example", &key.PublicKey, now, until)
	if err != nil {
		t.Fatal(err)
	}
	der, _ := pem.Decode(block)
	cert, err := x509.ParseCertificate(der.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.Cert())
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := cert.Verify(x509.VerifyOptions{Roots: pool, DNSName: "node.example", KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
			t.Error(err)
		}
	}
	if !cert.NotAfter.Equal(until) || !key.PublicKey.Equal(cert.PublicKey) {
		t.Errorf("it is valid until %s, for %v", cert.NotAfter, cert.PublicKey)
	}
	other, err := New("test authority", now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]bool{}
	for _, s := range []struct {
		of      *Authority
		purpose string
	}{{a, "x"}, {again, "x"}, {a, "y"}, {other, "x"}} {
		secret, err := s.of.Secret(s.purpose)
		if err != nil || len(secret) != 32 {
			t.Fatalf("%x, %v", secret, err)
		}
		secrets[string(secret)] = true
	}
	if len(secrets) != 3 {
		t.Errorf("%d secrets, not 3", len(secrets))
	}
	server, err := a.Server("broker.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]Pair{
		"nothing": {}, "no key": {Cert: a.Cert()}, "another's key": {a.Cert(), other.Pair().Key}, "a server": server,
	} {
		if _, err := Load(p); err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
}
