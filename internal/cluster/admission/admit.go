package admission

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/transport"
)

const (
	admitPatience = 20 * time.Second // for making a newcomer with a valid token a member
	askPatience   = 30 * time.Second // for all of that, with the request and the answer
)

var errNoLeader = errors.New("the cluster has no leader at the moment: try again")

// Newcomer is a node with a valid token.
type Newcomer struct {
	Address string // host and port
	Token   Token
	Key     [sha256.Size]byte // hash of its public key, which it has shown to have
	Levels  level.Range       // that it supports
}

// Host is a node that is asked to admit others.
type Host interface {
	// Leader returns the address of the node that leads, "" when none is known, and whether it is
	// this one.
	Leader() (address string, here bool)
	// Add makes a newcomer a member of the cluster and returns its number, and where the members
	// are. One with the same key that asks again gets the same number; one with another key is
	// refused when the token was used, and one that does not support the level of the log. It gives
	// up when ctx ends.
	Add(ctx context.Context, n Newcomer) (node uint64, addresses map[uint64]string, err error)
}

// Admit serves one request on a connection of transport.JoinProtocol (transport.Options.Join). The
// deadline of the connection holds until the newcomer has shown a valid token. Before that nothing
// is done for it. The error, for the log, says why the newcomer was not admitted, nil also when it
// was sent to another node: ErrToken, ErrExpired, ErrMalformed, those of h and of the connection.
func Admit(nc *tls.Conn, id *Identity, h Host) error {
	payload, err := readFrame(nc)
	if err != nil {
		return err
	}
	var a answer
	q, err := decodeRequest(payload)
	var t Token
	if err == nil {
		t, err = id.check(q.token, time.Now())
	}
	if err == nil {
		nc.SetDeadline(time.Now().Add(askPatience)) //nolint:errcheck // reading tells
		a, err = id.serve(nc, &q, t, h)
	}
	if err != nil {
		a = refusal(err)
	}
	if werr := writeFrame(nc, a.append(nil)); werr != nil && a.outcome == admitted {
		err = fmt.Errorf("node %d was added, but could not be told: %w", a.node, werr)
	}
	return err
}

// refusal is what a newcomer is told of a failure. About tokens it learns no details.
func refusal(err error) answer {
	switch {
	case errors.Is(err, ErrExpired):
		return answer{outcome: expiredToken}
	case errors.Is(err, ErrToken):
		return answer{outcome: wrongToken}
	}
	return answer{outcome: refused, text: err.Error()}
}

// serve answers a newcomer with a valid token.
func (id *Identity) serve(nc *tls.Conn, q *request, t Token, h Host) (a answer, err error) {
	if err := transport.CheckClock(time.Unix(0, q.clock), time.Now()); err != nil {
		return a, fmt.Errorf("the node that asks to join: %w", err)
	}
	key, hash, err := publicKey(q.csr)
	if err != nil {
		return a, err
	}
	if err := checkAddress(q.address); err != nil {
		return a, err
	}
	switch leader, here := h.Leader(); {
	case here:
	case leader == "":
		return a, errNoLeader
	default:
		return answer{outcome: elsewhere, text: leader}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), admitPatience)
	defer cancel()
	go func() {
		nc.Read(make([]byte, 1)) //nolint:errcheck // a newcomer sends no more: it ends with the connection
		cancel()
	}()
	a = answer{outcome: admitted, cluster: id.cluster, authority: id.authority.Pair()}
	if a.node, a.addresses, err = h.Add(ctx, Newcomer{q.address, t, hash, q.levels}); err != nil {
		return a, err
	}
	now := time.Now()
	a.cert, err = id.authority.SignNode(transport.NodeName(id.cluster, a.node), key, now, now.Add(nodeLife))
	return a, err
}

// publicKey returns the key that a request for a certificate shows its sender to have, and its
// hash.
func publicKey(csr []byte) (key crypto.PublicKey, hash [sha256.Size]byte, err error) {
	r, err := x509.ParseCertificateRequest(csr)
	if err == nil {
		err = r.CheckSignature()
	}
	if err != nil {
		return nil, hash, fmt.Errorf("%w: request for a certificate: %w", ErrMalformed, err)
	}
	return r.PublicKey, sha256.Sum256(r.RawSubjectPublicKeyInfo), nil
}
