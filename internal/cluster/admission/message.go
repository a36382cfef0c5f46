package admission

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

const (
	version     = 1 // version of the messages, their first byte
	frameHeader = 4
	maxFrame    = 64 << 10
)

// ErrMalformed means that a message of the peer cannot be decoded.
var ErrMalformed = errors.New("admission: malformed message")

// request is the message of a newcomer.
type request struct {
	token   string
	address string      // for other nodes to dial
	csr     []byte      // certificate request for its public key, in DER form
	levels  level.Range // that it supports
	clock   int64       // its wall clock, ns since 1970
}

// outcome is the kind of an answer.
type outcome byte

const (
	admitted     outcome = iota // the identity follows
	elsewhere                   // text is the address to ask
	refused                     // text is the reason
	wrongToken                  // nothing follows, as for the next one
	expiredToken                //
)

// answer is the reply to a newcomer.
type answer struct {
	outcome outcome
	text    string

	// if admitted
	cluster, node uint64
	cert          []byte         // its certificate, in PEM form
	authority     authority.Pair // the cluster's
	addresses     map[uint64]string
}

// readFrame reads the payload of a message. It rejects payloads of more than maxFrame bytes.
func readFrame(r io.Reader) ([]byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("%w: %d bytes, of at most %d", ErrMalformed, n, maxFrame)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, err
	}
	return payload, nil
}

// writeFrame writes a message with a single Write.
func writeFrame(w io.Writer, payload []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, frameHeader+len(payload)), uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
}

// begin checks the version of a message, and returns a reader of the rest.
func begin(payload []byte) (r codec.Reader, err error) {
	r = codec.NewReader(payload)
	if v := r.Uint8(); r.Err() == nil && v != version {
		return r, fmt.Errorf("%w: version %d of the protocol of joining, this node has %d", ErrMalformed, v, version)
	}
	return r, nil
}

func (q *request) append(dst []byte) []byte {
	dst = codec.AppendPrefixed(append(dst, version), q.token)
	dst = codec.AppendPrefixed(dst, q.address)
	return binary.AppendUvarint(q.levels.Append(codec.AppendPrefixed(dst, q.csr)), uint64(q.clock))
}

func decodeRequest(payload []byte) (q request, err error) {
	r, err := begin(payload)
	if err != nil {
		return q, err
	}
	q.token, q.address, q.csr, q.levels, q.clock = r.String(), r.String(), r.Prefixed(), level.Read(&r), int64(r.Uvarint())
	if err := r.End(); err != nil {
		return q, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return q, nil
}

func (a *answer) append(dst []byte) []byte {
	dst = append(dst, version, byte(a.outcome))
	switch a.outcome {
	case elsewhere, refused:
		return codec.AppendPrefixed(dst, a.text)
	case admitted:
		dst = codec.AppendUvarints(dst, a.cluster, a.node)
		dst = codec.AppendPrefixed(dst, a.cert)
		dst = codec.AppendPrefixed(dst, a.authority.Cert)
		dst = codec.AppendPrefixed(dst, a.authority.Key)
		dst = binary.AppendUvarint(dst, uint64(len(a.addresses)))
		for _, node := range slices.Sorted(maps.Keys(a.addresses)) {
			dst = codec.AppendPrefixed(binary.AppendUvarint(dst, node), a.addresses[node])
		}
	}
	return dst
}

func decodeAnswer(payload []byte) (a answer, err error) {
	r, err := begin(payload)
	if err != nil {
		return a, err
	}
	a.outcome = outcome(r.Uint8())
	switch a.outcome {
	case elsewhere, refused:
		a.text = r.String()
	case admitted:
		a.cluster, a.node = r.Uvarint(), r.Uvarint()
		a.cert, a.authority.Cert, a.authority.Key = r.Prefixed(), r.Prefixed(), r.Prefixed()
		a.addresses = readAddresses(&r)
	case wrongToken, expiredToken:
	default:
		r.Fail(fmt.Errorf("outcome %d", a.outcome))
	}
	if err := r.End(); err != nil {
		return a, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return a, nil
}

func readAddresses(r *codec.Reader) map[uint64]string {
	const shortest = 2 // bytes: a number and the length of an address
	n := r.Count(shortest)
	addresses := make(map[uint64]string, n)
	for range n {
		node := r.Uvarint()
		addresses[node] = r.String()
	}
	return addresses
}

// checkAddress checks that other nodes can dial an address: it must be a host, or an IP address of
// a machine, and a port.
func checkAddress(address string) error {
	const maxHost = 255
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the address %q is not a host and a port", address)
	}
	if port, err := strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
		return fmt.Errorf("the address %q has no port from 1 to 65535", address)
	}
	if ip, err := netip.ParseAddr(host); host == "" || len(host) > maxHost || err == nil && ip.IsUnspecified() {
		return fmt.Errorf("the address %q does not say which machine", address)
	}
	return nil
}
