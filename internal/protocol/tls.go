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

// TLSOptions say how connections are encrypted. A zero value means the default in brackets.
type TLSOptions struct {
	Cert, Key  string                       // PEM files: the certificate with those between it and its authority, and its key
	ClientCA   string                       // PEM file: the authorities of clients' certificates; "": none is asked for
	ClientMust bool                         // a client that shows no certificate does not get in
	MinVersion uint16                       // tls.VersionTLS12 or later [tls.VersionTLS12]
	Plain      func(net.Addr) bool          // clients that may connect without TLS [none]
	User       CertUser                     // what names the user in a client's certificate [CommonName]
	Handshake  time.Duration                // how long a client may take to log in [10 s]
	Handshakes int                          // how many clients may be at that, as NewClientsFor has it
	Log        *slog.Logger                 // [slog.Default()]
	Clock      func() time.Time             // [time.Now]
	Every      time.Duration                // how often Watch looks at the files [10 s]
	read       func(string) ([]byte, error) // [os.ReadFile]
}

// ErrTLS is wrapped by errors about certificates and keys that cannot be used.
var ErrTLS = errors.New("protocol: cannot serve TLS")

// TLS is the certificate that all protocols show, and what clients' certificates
// are checked by. The files may change: Reload takes over what is in them, for
// connections to come. A nil one is none: everything is plain.
type TLS struct {
	o           TLSOptions
	quiet       *slog.Logger  // for lines that any client can cause
	handshaking *pendingConns // connections that have not said what they want, of all listeners
	current     atomic.Pointer[generation]
}

// generation is the result of one reading of the files. Session tickets belong to one generation: a
// client that is not trusted any more cannot resume with one.
type generation struct {
	config *tls.Config
	leaf   *x509.Certificate
	digest [sha256.Size]byte // of the files
}

// OpenTLS reads the files. Errors: ErrTLS.
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

// files is what the files hold now.
type files struct {
	cert, key, clientCA []byte
	err                 error // not all of them could be read
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

// digest tells one state of the files from another.
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

// load makes a generation of the files. Errors tell which file is at fault and
// nothing of what is in it.
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

// Reload takes over what is in the files now, for connections to come; those that
// are open go on. With an error the certificate stays that was in use.
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
			if d != t.current.Load().digest { // else a signal was faster
				t.reload(f) //nolint:errcheck // it is in the log
			}
		}
	}
}

// Expiry is until when the certificate in use is valid; the zero time without TLS.
func (t *TLS) Expiry() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.current.Load().leaf.NotAfter
}

// Certificate is the one in use, nil without TLS.
func (t *TLS) Certificate() *x509.Certificate {
	if t == nil {
		return nil
	}
	return t.current.Load().leaf
}
