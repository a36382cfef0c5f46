package admission

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/transport"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const (
	mostRedirects = 5
	// joiningFile holds the key of a node that has not finished joining.
	joiningFile = "joining.pem"
)

// Errors of Join.
var (
	// ErrImpostor means that the server at an address is not an admitting node of the token's
	// cluster.
	ErrImpostor = errors.New("admission: not a node of the cluster that the token is for")
	// ErrRefused means that the cluster did not admit the newcomer. The text is the cluster's
	// reason.
	ErrRefused = errors.New("admission: refused")
	// ErrNoLeader means that the nodes kept naming others as the leader.
	ErrNoLeader = errors.New("admission: the nodes do not agree on a leader: try again")
)

// Welcome is what a node learns when it joins.
type Welcome struct {
	Cluster, Node uint64
	Addresses     map[uint64]string // of the members
}

// Join asks the cluster of a token to admit this node, which other nodes are to dial at advertise,
// a host and port. It stores the new identity in dir for Load, and replaces any other. It stores
// its key before it asks: if the answer is lost, the next attempt asks as the same node, until
// Joined is called. Errors: ErrToken, ErrExpired, ErrImpostor, ErrRefused, ErrNoLeader,
// ErrMalformed, ErrIdentity, those of ctx, the network and the file system.
func Join(ctx context.Context, token, advertise, dir string) (w Welcome, err error) {
	t, err := ParseToken(token, time.Now())
	if err != nil {
		return w, err
	}
	if err := checkAddress(advertise); err != nil {
		return w, fmt.Errorf("admission: %w", err)
	}
	block, err := joiningKey(vfs.OS{}, dir)
	if err != nil {
		return w, err
	}
	csr, err := requestBy(block)
	if err != nil {
		return w, err
	}
	a, err := t.askLeader(ctx, &request{token: token, address: advertise, csr: csr, levels: level.Supported, clock: time.Now().UnixNano()})
	if err != nil {
		return w, err
	}
	file := encode(a.cert, block, a.authority)
	id, err := decode(file, t.Cluster, a.node)
	if err != nil {
		return w, err
	}
	if a.cluster != t.Cluster || hash(id.root) != t.Authority {
		return w, fmt.Errorf("%w: it is of another cluster", ErrIdentity)
	}
	if err := replace(vfs.OS{}, dir, identityFile, file); err != nil {
		return w, fmt.Errorf("admission: this is node %d now, but its identity could not be kept: %w", a.node, err)
	}
	return Welcome{Cluster: a.cluster, Node: a.node, Addresses: a.addresses}, nil
}

// Joined records that the results of Join are stored. A later attempt in dir joins as another node.
func Joined(dir string) error {
	if err := os.Remove(filepath.Join(dir, joiningFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("admission: %w", err)
	}
	return nil
}

// joiningKey returns the key with which this node asks, in PEM form. It is the key of an earlier
// attempt, or else a new key, which is stored.
func joiningKey(fsys vfs.FS, dir string) ([]byte, error) {
	block, err := vfs.ReadSmall(fsys, filepath.Join(dir, joiningFile), maxIdentity)
	if err == nil {
		return block, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("admission: %w", err)
	}
	if _, block, err = authority.NewKey(); err != nil {
		return nil, err
	}
	return block, create(fsys, dir, joiningFile, block)
}

// requestBy returns a certificate request that proves possession of a key given in PEM form.
func requestBy(block []byte) ([]byte, error) {
	var key any
	p, _ := pem.Decode(block)
	err := errors.New("it is not PEM")
	if p != nil {
		key, err = x509.ParsePKCS8PrivateKey(p.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrIdentity, joiningFile, err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	return csr, nil
}

// askLeader asks the node of the token, and then the nodes to which it is redirected, until one
// admits.
func (t *Token) askLeader(ctx context.Context, q *request) (a answer, err error) {
	address := t.Address
	for range 1 + mostRedirects {
		if a, err = t.ask(ctx, address, q); err != nil {
			return a, fmt.Errorf("admission: asking %s: %w", address, err)
		}
		switch a.outcome {
		case admitted:
			return a, nil
		case elsewhere:
			if err := checkAddress(a.text); err != nil {
				return a, fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			address = a.text
		case refused:
			return a, fmt.Errorf("%w: %s", ErrRefused, a.text)
		case wrongToken:
			return a, ErrToken
		case expiredToken:
			return a, ErrExpired
		}
	}
	return a, ErrNoLeader
}

// ask asks one node.
func (t *Token) ask(ctx context.Context, address string, q *request) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	d := tls.Dialer{Config: t.newcomer()}
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return a, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Now()) })() //nolint:errcheck // a read reports the error
	payload, err := exchange(nc, q.append(nil))
	if cause := ctx.Err(); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return a, err
	}
	return decodeAnswer(payload)
}

// newcomer returns the TLS configuration for connections to the nodes of the cluster.
func (t *Token) newcomer() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{transport.JoinProtocol},
		InsecureSkipVerify: true, // #nosec G402 -- VerifyConnection takes its place: no name is known before
		VerifyConnection:   func(cs tls.ConnectionState) error { return t.verify(&cs) },
	}
}

func exchange(nc net.Conn, payload []byte) ([]byte, error) {
	if err := writeFrame(nc, payload); err != nil {
		return nil, err
	}
	return readFrame(nc)
}

// verify checks that the peer is a node of the cluster: its chain ends with the authority of the
// token, which signed its certificate, and the certificate is valid now and names the cluster.
func (t *Token) verify(cs *tls.ConnectionState) error {
	leaf, root := cs.PeerCertificates[0], cs.PeerCertificates[len(cs.PeerCertificates)-1]
	if hash(root) != t.Authority {
		return fmt.Errorf("%w: it has another authority", ErrImpostor)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: poolOf(root)}); err != nil {
		return fmt.Errorf("%w: %w", ErrImpostor, err)
	}
	if !transport.IsNode(leaf, t.Cluster) {
		return fmt.Errorf("%w: it is of another cluster", ErrImpostor)
	}
	if cs.NegotiatedProtocol != transport.JoinProtocol {
		return fmt.Errorf("%w: it admits none", ErrImpostor)
	}
	return nil
}
