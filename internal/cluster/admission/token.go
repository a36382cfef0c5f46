package admission

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/codec"
)

const (
	tokenPrefix = "fwjoin1." // the digit is the version of the encoding
	nonceSize   = 16
)

// Errors of tokens. The newcomer is sent only their texts.
var (
	ErrToken   = errors.New("admission: the token is not valid")
	ErrExpired = errors.New("admission: the token has expired")
)

// Token holds the contents of a token.
type Token struct {
	Cluster   uint64
	ID        [nonceSize]byte   // unique
	Until     time.Time         // to the second
	Authority [sha256.Size]byte // SHA-256 of the certificate of the cluster's authority
	Address   string            // host and port of a node to ask
}

// Token creates a token that expires at until, rounded down to the second. Newcomers with the token
// ask the node at address, a host and port. The token admits one node to the cluster.
func (id *Identity) Token(address string, until time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, id.cluster)
	b = binary.BigEndian.AppendUint64(b, uint64(until.Unix()))
	var nonce [nonceSize]byte
	rand.Read(nonce[:]) //nolint:errcheck // it never fails
	b = append(b, nonce[:]...)
	root := hash(id.root)
	b = append(b, root[:]...)
	b = codec.AppendPrefixed(b, address)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(b, id.mac(b)...))
}

// mac returns the MAC that authenticates the contents of a token.
func (id *Identity) mac(said []byte) []byte {
	h := hmac.New(sha256.New, id.secret)
	h.Write(said)
	return h.Sum(nil)
}

// split splits a token into its contents and its MAC. Errors: ErrToken.
func split(token string) (said, mac []byte, err error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(token), tokenPrefix)
	if !ok {
		return nil, nil, fmt.Errorf("%w: it does not begin with %q", ErrToken, tokenPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < sha256.Size {
		return nil, nil, fmt.Errorf("%w: it is cut off, or altered", ErrToken)
	}
	end := len(b) - sha256.Size
	return b[:end], b[end:], nil
}

// ParseToken parses a token without authenticating it, which only the cluster can do. Errors:
// ErrToken with the reason, ErrExpired.
func ParseToken(token string, now time.Time) (t Token, err error) {
	said, _, err := split(token)
	if err != nil {
		return t, err
	}
	if t, err = readToken(said); err != nil {
		return t, err
	}
	if err := checkAddress(t.Address); err != nil {
		return t, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !now.Before(t.Until) {
		return t, fmt.Errorf("%w: it was valid until %s", ErrExpired, t.Until.UTC().Format(time.DateTime+" MST"))
	}
	return t, nil
}

func readToken(said []byte) (t Token, err error) {
	r := codec.NewReader(said)
	t.Cluster, t.Until = r.Uint64(), time.Unix(int64(r.Uint64()), 0)
	copy(t.ID[:], r.Bytes(nonceSize))
	copy(t.Authority[:], r.Bytes(sha256.Size))
	t.Address = r.String()
	if err := r.End(); err != nil {
		return t, fmt.Errorf("%w: it is cut off, or altered", ErrToken)
	}
	return t, nil
}

// check parses and authenticates a token. Errors: ErrToken, ErrExpired. It returns ErrExpired only
// for a token that this cluster made.
func (id *Identity) check(token string, now time.Time) (t Token, err error) {
	said, mac, err := split(token)
	if err != nil {
		return t, err
	}
	if !hmac.Equal(mac, id.mac(said)) {
		return t, fmt.Errorf("%w: this cluster did not make it", ErrToken)
	}
	if t, err = readToken(said); err != nil {
		return t, err
	}
	if !now.Before(t.Until) {
		return t, ErrExpired
	}
	return t, nil
}
