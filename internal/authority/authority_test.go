package authority

import (
	"crypto/tls"
	"crypto/x509"
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
