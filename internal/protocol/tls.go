package protocol

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// TLSOptions configure how connections are encrypted. A zero value means the default in brackets.
type TLSOptions struct {
	Cert, Key  string                       // PEM files: the certificate with its intermediate ones, and its key
	ClientCA   string                       // PEM file: the CAs of clients' certificates; "": none are requested
	ClientMust bool                         // refuse clients without a certificate
	MinVersion uint16                       // tls.VersionTLS12 or later [tls.VersionTLS12]
	Plain      func(net.Addr) bool          // clients that may connect without TLS [none]
	User       CertUser                     // what names the user in a client's certificate [CommonName]
	Handshake  time.Duration                // how long a handshake may take [10 s]
	Handshakes int                          // how many may run at a time (NewClientsFor)
	Log        *slog.Logger                 // [slog.Default()]
	Clock      func() time.Time             // [time.Now]
	Every      time.Duration                // how often Watch checks the files [10 s]
	read       func(string) ([]byte, error) // [os.ReadFile]
}

// ErrTLS is wrapped by errors about unusable certificates and keys.
var ErrTLS = errors.New("protocol: cannot serve TLS")

// TLS is the certificate that all protocols present, and the CAs by which clients' certificates are
// verified. The files may change; Reload uses their new contents for new connections. With a nil
// TLS all connections are plain.
type TLS struct {
	o           TLSOptions
	quiet       *slog.Logger  // rate-limited, for lines that any client can cause
	handshaking *pendingConns // connections of all listeners during their handshake
	current     atomic.Pointer[generation]
}

// generation is one state of the files. Session tickets belong to one generation, so a client that
// is no longer trusted cannot resume a session.
type generation struct {
	config *tls.Config
	leaf   *x509.Certificate
	digest [sha256.Size]byte // of the files
}

// OpenTLS reads the files. Its errors wrap ErrTLS.
func OpenTLS(o TLSOptions) (*TLS, error) {
	o.MinVersion = cmp.Or(o.MinVersion, tls.VersionTLS12)
	if o.Plain == nil {
		o.Plain = func(net.Addr) bool { return false }
	}
	o.Handshake = cmp.Or(o.Handshake, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Every = cmp.Or(o.Every, 10*time.Second)
	if o.read == nil {
		o.read = os.ReadFile
	}
	t := &TLS{o: o, quiet: Sparse(o.Log), handshaking: newPendingConns(o.Handshakes)}
	g, err := t.load(t.files())
	if err != nil {
		return nil, err
	}
	t.use(g)
	return t, nil
}

// files holds the contents of the files.
type files struct {
	cert, key, clientCA []byte
	err                 error // of a file that could not be read
}

func (t *TLS) files() (f files) {
	read := func(name string) []byte {
		b, err := t.o.read(name)
		f.err = errors.Join(f.err, err)
		return b
	}
	f.cert, f.key = read(t.o.Cert), read(t.o.Key)
	if t.o.ClientCA != "" {
		f.clientCA = read(t.o.ClientCA)
	}
	return f
}

// digest identifies the contents.
func (f *files) digest() (d [sha256.Size]byte) {
	h := sha256.New()
	for _, b := range [][]byte{f.cert, f.key, f.clientCA} {
		fmt.Fprintf(h, "%d ", len(b))
		h.Write(b)
	}
	fmt.Fprint(h, f.err)
	h.Sum(d[:0])
	return d
}

// load makes a generation of the files. Errors name the faulty file, but nothing of its contents.
func (t *TLS) load(f files) (*generation, error) {
	if f.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLS, f.err)
	}
	pair, err := tls.X509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("%w: certificate %s with key %s: %w", ErrTLS, t.o.Cert, t.o.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: t.o.MinVersion, Time: t.o.Clock}
	if t.o.ClientCA != "" {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(f.clientCA) {
			return nil, fmt.Errorf("%w: clients' authorities %s: the file has no certificate in PEM form", ErrTLS, t.o.ClientCA)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
		if t.o.ClientMust {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return &generation{config, pair.Leaf, f.digest()}, nil
}

func (t *TLS) use(g *generation) {
	t.current.Store(g)
	attrs := []any{"cert", t.o.Cert, "serial", g.leaf.SerialNumber.Text(16), "until", g.leaf.NotAfter.UTC().Format(time.RFC3339)}
	if now := t.o.Clock(); now.After(g.leaf.NotAfter) || now.Before(g.leaf.NotBefore) {
		t.o.Log.Error("tls: the certificate is not valid now; clients will reject it", attrs...)
		return
	}
	t.o.Log.Info("tls: certificate in use", attrs...)
}

// Reload reads the files again and uses them for new connections; open connections continue. After
// an error the current certificate stays in use.
func (t *TLS) Reload() error {
	if t == nil {
		return nil
	}
	return t.reload(t.files())
}

func (t *TLS) reload(f files) error {
	g, err := t.load(f)
	if err != nil {
		t.o.Log.Error("tls: the new certificate cannot be used, the previous one stays in use", "err", err)
		return err
	}
	t.use(g)
	return nil
}

// Watch reloads when the files change, until ctx ends.
func (t *TLS) Watch(ctx context.Context) {
	seen := t.current.Load().digest
	tick := time.NewTicker(t.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f := t.files()
		if d := f.digest(); d != seen {
			seen = d
			if d != t.current.Load().digest { // unchanged if a signal has reloaded them first
				t.reload(f) //nolint:errcheck // reload has logged it
			}
		}
	}
}

// Expiry returns when the current certificate expires, or the zero time without TLS.
func (t *TLS) Expiry() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.current.Load().leaf.NotAfter
}

// Certificate returns the current certificate, or nil without TLS.
func (t *TLS) Certificate() *x509.Certificate {
	if t == nil {
		return nil
	}
	return t.current.Load().leaf
}
