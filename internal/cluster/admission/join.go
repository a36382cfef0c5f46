package admission

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"fiveways/internal/authority"
	"fiveways/internal/replica/transport"
	"fiveways/internal/storage/vfs"
)

const mostRedirects = 5

// Errors of Join.
var (
	// ErrImpostor means that what listens at an address is not a node of the token's cluster that
	// admits others.
	ErrImpostor = errors.New("admission: not a node of the cluster that the token is for")
	// ErrRefused means that the cluster did not admit the newcomer; the text is its reason.
	ErrRefused = errors.New("admission: refused")
	// ErrNoLeader means that the nodes went on naming others as the leader.
	ErrNoLeader = errors.New("admission: the nodes do not agree on a leader: try again")
)

// Welcome is what a node that has joined must know.
type Welcome struct {
	Cluster, Node uint64
	Addresses     map[uint64]string // of the members
}

// Join asks the cluster of a token to admit this node, which other nodes are to dial at advertise,
// a host and port. It keeps the identity that it gets in dir, for Load. A node may have become a
// member without an identity when Join fails late; the next attempt makes another one. Errors:
// ErrToken, ErrExpired, ErrImpostor, ErrRefused, ErrNoLeader, ErrMalformed, ErrIdentity,
// fs.ErrExist when dir holds an identity, those of ctx, the network and the file system.
func Join(ctx context.Context, token, advertise, dir string) (w Welcome, err error) {
	t, err := ParseToken(token, time.Now())
	if err != nil {
		return w, err
	}
	if err := checkAddress(advertise); err != nil {
		return w, fmt.Errorf("admission: %w", err)
	}
	if err := vacant(vfs.OS{}, dir); err != nil {
		return w, err
	}
	key, block, err := authority.NewKey()
	if err != nil {
		return w, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return w, fmt.Errorf("admission: %w", err)
	}
	a, err := t.askLeader(ctx, &request{token: token, address: advertise, csr: csr})
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
	if err := create(vfs.OS{}, dir, file); err != nil {
		return w, fmt.Errorf("admission: this is node %d now, but its identity could not be kept: %w", a.node, err)
	}
	return Welcome{Cluster: a.cluster, Node: a.node, Addresses: a.addresses}, nil
}

// askLeader asks the node of the token, and those that are named to it, until one admits.
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
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Now()) })() //nolint:errcheck // reading tells
	payload, err := exchange(nc, q.append(nil))
	if cause := ctx.Err(); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return a, err
	}
	return decodeAnswer(payload)
}

// newcomer is the configuration for connections to the nodes of the cluster.
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

// verify is whether the other end is a node of the cluster: its chain ends with the authority of
// the token, which signed its certificate, and that is valid now and names the cluster.
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
