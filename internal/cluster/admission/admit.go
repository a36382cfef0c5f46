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
	admitPatience = 20 * time.Second // to find a leader, and to make a newcomer with a valid token a member
	askPatience   = 30 * time.Second // for the whole exchange, including request and answer
)

var errNoLeader = errors.New("the cluster has no leader at the moment: try again")

// Newcomer is a node with a valid token.
type Newcomer struct {
	Address string // host and port
	Token   Token
	Key     [sha256.Size]byte // hash of its public key, whose possession it has proved
	Levels  level.Range       // that it supports
}

// Host is a node that can be asked to admit others.
type Host interface {
	// Leader returns the address of the leader and whether this node leads. If no leader is known,
	// it waits for one, and returns "" when ctx ends.
	Leader(ctx context.Context) (address string, here bool)
	// Add makes a newcomer a member of the cluster, and returns its number and the addresses of the
	// members. A repeated request with the same key gets the same number. Add refuses a newcomer
	// with another key if the token was used, and one that does not support the level of the log.
	// It gives up when ctx ends.
	Add(ctx context.Context, n Newcomer) (node uint64, addresses map[uint64]string, err error)
}

// Admit serves one request on a connection of transport.JoinProtocol (transport.Options.Join). The
// deadline of the connection holds until the newcomer has presented a valid token. Before that no
// work is done for it. The error is for the log and says why the newcomer was not admitted. It is
// nil also if the newcomer was redirected. Errors: ErrToken, ErrExpired, ErrMalformed, those of h
// and of the connection.
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
		nc.SetDeadline(time.Now().Add(askPatience)) //nolint:errcheck // a read reports the error
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

// refusal returns the answer to a newcomer for an error. It contains no details about tokens.
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
	ctx, cancel := context.WithTimeout(context.Background(), admitPatience)
	defer cancel()
	go func() {
		nc.Read(make([]byte, 1)) //nolint:errcheck // returns when the newcomer closes the connection
		cancel()
	}()
	switch leader, here := h.Leader(ctx); {
	case here:
	case leader == "":
		return a, errNoLeader
	default:
		return answer{outcome: elsewhere, text: leader}, nil
	}
	a = answer{outcome: admitted, cluster: id.cluster, authority: id.authority.Pair()}
	if a.node, a.addresses, err = h.Add(ctx, Newcomer{q.address, t, hash, q.levels}); err != nil {
		return a, err
	}
	now := time.Now()
	a.cert, err = id.authority.SignNode(transport.NodeName(id.cluster, a.node), key, now, now.Add(nodeLife))
	return a, err
}

// publicKey returns the public key of a certificate request, after it has verified that the sender
// holds the private key, and the hash of the public key.
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
